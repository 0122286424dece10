package metamorph

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// What the environment may set.
const (
	envSeed     = "AX_METAMORPH_SEED"     // the one seed to play
	envSeeds    = "AX_METAMORPH_SEEDS"    // how many seeds at least; default 40
	envBase     = "AX_METAMORPH_BASE"     // the first seed; default 1
	envTime     = "AX_METAMORPH_TIME"     // more seeds begin until then; default 200s, with -short none
	envShrink   = "AX_METAMORPH_SHRINK"   // 0: failures are not made smaller
	envParallel = "AX_METAMORPH_PARALLEL" // scenarios at once; default 3, or a processor each
)

func number(t *testing.T, name string, or uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return or
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s is %q: give a whole number", name, text)
	}
	return n
}

// Random flows, operators and faults on real engines and workers, against the model; see the package's comment.
func TestMetamorphic(t *testing.T) {
	if seed := number(t, envSeed, 0); seed != 0 {
		replay(t, seed)
		return
	}
	base, least := number(t, envBase, 1), number(t, envSeeds, 40)
	if testing.Short() {
		least = min(least, 8)
	}
	parallel := number(t, envParallel, uint64(max(3, runtime.GOMAXPROCS(0))))
	extra := 200 * time.Second
	if testing.Short() || os.Getenv(envSeeds) != "" {
		extra = 0
	}
	if text := os.Getenv(envTime); text != "" {
		var err error
		if extra, err = time.ParseDuration(text); err != nil {
			t.Fatalf("%s: %v", envTime, err)
		}
	}
	begin := time.Now()
	var mu sync.Mutex
	next, sum := base, tally{}
	take := func() (uint64, bool) {
		mu.Lock()
		defer mu.Unlock()
		if next-base >= least && time.Since(begin) > extra || t.Failed() {
			return 0, false
		}
		next++
		return next - 1, true
	}
	var players sync.WaitGroup
	for range parallel {
		players.Go(func() {
			for seed, ok := take(); ok; seed, ok = take() {
				t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
					n := try(t, seed)
					mu.Lock()
					defer mu.Unlock()
					sum.add(n)
				})
			}
		})
	}
	players.Wait()
	t.Logf("%d seeds in %v: %+v", next-base, time.Since(begin).Round(time.Second), sum)
}

func (n *tally) add(o tally) {
	n.runs += o.runs
	n.results += o.results
	n.retries += o.retries
	n.seized += o.seized
	n.terms += o.terms
	n.verbs += o.verbs
	n.refused += o.refused
	n.unreached += o.unreached
}

// replay plays one seed and tells everything.
func replay(t *testing.T, seed uint64) {
	s := generate(seed)
	o := play(t, s)
	tell(t, "The scenario", s, o)
	t.Logf("%+v", o.counts)
	for _, f := range o.faults {
		t.Errorf("%s", f)
	}
}

// try plays one seed; a failure is made smaller and told.
func try(t *testing.T, seed uint64) tally {
	s := generate(seed)
	o := play(t, s)
	if len(o.faults) == 0 {
		return o.counts
	}
	t.Errorf("seed %d fails; replay it with %s=%d go test ./internal/metamorph -run 'TestMetamorphic$' -v", seed, envSeed, seed)
	for _, f := range o.faults {
		t.Errorf("%s", f)
	}
	tell(t, "The scenario", s, o)
	if number(t, envShrink, 1) == 0 {
		return o.counts
	}
	if small, so := shrink(t, s, o); small != s {
		for _, f := range so.faults {
			t.Errorf("made smaller: %s", f)
		}
		tell(t, "The smallest that fails", small, so)
	}
	return o.counts
}

// tell logs a scenario and what it came to.
func tell(t *testing.T, title string, s *scenario, o outcome) {
	t.Helper()
	t.Logf("%s: %v\n%s", title, s, strings.Join(o.log, "\n"))
}
