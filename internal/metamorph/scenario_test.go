package metamorph

import (
	"fmt"
	"strings"
	"time"

	"axflow/stage"
)

// scenario is what one seed says: a pure value, so that it can be printed, repeated and made smaller.
type scenario struct {
	seed    uint64
	flows   []flowSpec
	runs    []runSpec
	engines int
	workers []workerSpec
	queues  []queueSpec
	off     []string // switches of the engine that are off
	phases  []phase
}

// flowSpec is one flow. Stages are named by their place in the first draft and keep their names when others are left out.
type flowSpec struct {
	Name   string
	Stages []stageSpec
}

type stageSpec struct {
	Name      string
	Kind      stage.Kind
	Upstreams []string // of an aligned stage the first is the one that it follows
	Rule      stage.Rule
	Teardown  string // the stage that it takes down; "": none
	Attempts  int
	Wait      time.Duration // between attempts
	Level     *stage.Level
	Queue     string
	Limit     int
	Delay     time.Duration

	Disabled, SkipEmpty, Uninterruptible, When bool

	FailFast      bool
	Tolerate      int
	TolerateShare float64
	Key           *stage.Key
	Rate          *stage.Rate
	RetryWindow   *stage.RetryWindow
	Breaker       *stage.Breaker

	// The script.

	MaxShards                int
	FailShare, PlanFailShare float64
	Hangs                    bool
	Work                     time.Duration
}

// execution is the stage's Execution time-out: short where handlers hang.
func (s *stageSpec) execution() time.Duration {
	if s.Hangs {
		return 400 * time.Millisecond
	}
	return time.Minute
}

// runSpec is one run. Its id goes into its params, where handlers find it.
type runSpec struct {
	ID       int
	Flow     string
	At       time.Duration // after the beginning
	Delay    time.Duration
	Level    *stage.Level
	Queue    string
	Customer string
}

type workerSpec struct {
	Slots  int
	Urgent int
	Grace  time.Duration
}

type queueSpec struct {
	Name        string
	Concurrency int
}

// phase is a part of a scenario that ends when every run has ended. Verbs act at its beginning, when nothing runs, so
// that the model knows what must come of them; operations strike while it goes on.
type phase struct {
	verbs []op
	ops   []op
}

// act is what an operation does.
type act int

const (
	cancelRun act = iota
	forceCancel
	retryRun
	rerunStage
	killLeader
	freezeLeader
	flapLeader
	resignLeader
	killWorker
	cutWorker
	flapWorker
	drainWorker
	muteWorker
	pauseRun
	pauseFlow
	pauseQueue
	setLevel
	skipStage
	markSuccess
	retryShards
	rerunShard
	discardDead
	acts
)

var actNames = [...]string{"cancel", "force cancel", "retry", "rerun", "kill the leader", "freeze the leader", "cut the leader's connections",
	"end the leader", "kill worker", "cut off worker", "cut the connections of worker", "drain worker", "drop the news of worker", "pause run", "pause flow",
	"pause queue", "set level", "skip stage", "mark success", "retry shards", "rerun shard", "discard the dead"}

func (a act) String() string { return actNames[a] }

// op is one operation: when, what, on whom.
type op struct {
	ID int
	// It strikes before the handler of the Count-th task of Stage of WaitRun begins; with Stage "", At after the
	// phase began.
	WaitRun int
	Stage   string
	Count   int
	At      time.Duration

	Act    act
	Run    int           // of verbs
	Target string        // stage of the verb, queue, flow
	Member int           // of faults at workers
	For    time.Duration // how long a pause or a fault lasts
	Level  stage.Level
	Index  int
}

func (o op) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "op %d: ", o.ID)
	switch {
	case o.Stage != "":
		fmt.Fprintf(&b, "at start %d of %s of run %d: ", o.Count, o.Stage, o.WaitRun)
	case o.At > 0:
		fmt.Fprintf(&b, "after %v: ", o.At)
	}
	b.WriteString(o.Act.String())
	switch o.Act {
	case killWorker, cutWorker, flapWorker, drainWorker, muteWorker:
		fmt.Fprintf(&b, " %d", o.Member)
	case pauseFlow, pauseQueue:
		fmt.Fprintf(&b, " %s", o.Target)
	case cancelRun, forceCancel, retryRun, rerunStage, pauseRun, setLevel, skipStage, markSuccess, retryShards, rerunShard, discardDead:
		fmt.Fprintf(&b, ", run %d", o.Run)
		if o.Target != "" {
			fmt.Fprintf(&b, ", stage %s", o.Target)
		}
		switch o.Act {
		case setLevel:
			fmt.Fprintf(&b, " to %v", o.Level)
		case rerunShard, retryShards:
			fmt.Fprintf(&b, ", shard %d", o.Index)
		default:
		}
	default:
	}
	if o.For > 0 {
		fmt.Fprintf(&b, " for %v", o.For)
	}
	return b.String()
}

// String is the scenario in full, for the log of a failure.
func (s *scenario) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d: %d engines, workers %+v, queues %+v, off %v\n", s.seed, s.engines, s.workers, s.queues, s.off)
	for _, f := range s.flows {
		fmt.Fprintf(&b, "flow %s\n", f.Name)
		for i := range f.Stages {
			fmt.Fprintf(&b, "  %s\n", f.Stages[i].describe())
		}
	}
	for _, r := range s.runs {
		fmt.Fprintf(&b, "run %d of %s, started after %v, delayed %v, level %s, queue %q, customer %q\n", r.ID, r.Flow, r.At, r.Delay, levelName(r.Level), r.Queue, r.Customer)
	}
	for i, p := range s.phases {
		fmt.Fprintf(&b, "phase %d\n", i)
		for _, o := range p.verbs {
			fmt.Fprintf(&b, "  first: %v\n", o)
		}
		for _, o := range p.ops {
			fmt.Fprintf(&b, "  %v\n", o)
		}
	}
	return b.String()
}

func levelName(l *stage.Level) string {
	if l == nil {
		return "-"
	}
	return l.String()
}

func (s *stageSpec) describe() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %v after %v, %s, %d attempts every %v", s.Name, s.Kind, s.Upstreams, s.Rule, s.Attempts, s.Wait)
	add := func(when bool, format string, args ...any) {
		if when {
			fmt.Fprintf(&b, ", "+format, args...)
		}
	}
	add(s.Teardown != "", "takes down %s", s.Teardown)
	add(s.Level != nil, "level %s", levelName(s.Level))
	add(s.Queue != "", "queue %s", s.Queue)
	add(s.Limit > 0, "limit %d", s.Limit)
	add(s.Delay > 0, "delayed %v", s.Delay)
	add(s.Disabled, "disabled")
	add(s.SkipEmpty, "skipped when empty")
	add(s.Uninterruptible, "uninterruptible")
	add(s.When, "conditional")
	add(s.FailFast, "fails fast")
	add(s.Tolerate > 0, "tolerates %d", s.Tolerate)
	add(s.TolerateShare > 0, "tolerates %.2f", s.TolerateShare)
	if s.Key != nil {
		add(true, "key %+v", *s.Key)
	}
	if s.Rate != nil {
		add(true, "rate %+v", *s.Rate)
	}
	if s.RetryWindow != nil {
		add(true, "retry window %+v", *s.RetryWindow)
	}
	if s.Breaker != nil {
		add(true, "breaker %+v", *s.Breaker)
	}
	add(s.Kind == stage.Sharded, "up to %d shards", s.MaxShards)
	add(s.FailShare > 0, "fails %.2f", s.FailShare)
	add(s.PlanFailShare > 0, "its plan %.2f", s.PlanFailShare)
	add(s.Hangs, "hangs")
	add(s.Work > 0, "works up to %v", s.Work)
	return b.String()
}

func (s *scenario) flow(name string) *flowSpec {
	for i := range s.flows {
		if s.flows[i].Name == name {
			return &s.flows[i]
		}
	}
	return nil
}

func (s *scenario) run(id int) *runSpec {
	for i := range s.runs {
		if s.runs[i].ID == id {
			return &s.runs[i]
		}
	}
	return nil
}

func (f *flowSpec) stage(name string) *stageSpec {
	for i := range f.Stages {
		if f.Stages[i].Name == name {
			return &f.Stages[i]
		}
	}
	return nil
}

// descendants are the stages that come after one, in order.
func (f *flowSpec) descendants(name string) []string {
	reached := map[string]bool{name: true}
	var after []string
	for i := range f.Stages {
		s := &f.Stages[i]
		for _, u := range s.Upstreams {
			if reached[u] && !reached[s.Name] {
				reached[s.Name] = true
				after = append(after, s.Name)
			}
		}
	}
	return after
}
