package live

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"
)

// viewer is a client of a switchboard that goes, comes again with its last id, and reads seldom.
type viewer struct {
	*reading
	wants  Watch
	c      *client
	listed map[uuid.UUID]int32 // versions of runs: it lists after it has connected, and after it has lost something
}

// What clients make of snapshots and deltas is the runs' state, whatever they miss, cut off or read late; and they learn of every run
// that comes or changes, or that they have lost some.
func TestEveryClientEndsUpWithWhatIs(t *testing.T) {
	rapid.Check(t, everyClient)
}

func everyClient(t *rapid.T) {
	now := time.Unix(1_800_000_000, 0)
	w := newWorld()
	w.clock = func() time.Time { return now }
	b := newSwitchboard("boot", 10*time.Second, 3*time.Second, func(err error) { t.Error(err) })
	look := func() {
		b.tidy(now)
		ids := b.wanted(now)
		q, _ := b.lookFor(now, now)
		seen, _ := w.look(context.Background(), ids, q)
		b.told(ids, seen.runs, now)
		b.marked(q, seen.feed, now, seen.now)
		for namespace, ids := range b.dues() {
			rows, _ := w.rows(context.Background(), namespace, ids)
			b.tell(namespace, ids, rows)
		}
		b.settleAll()
	}
	var runs []uuid.UUID
	flows := []string{"a", "b"}
	for i := range 3 {
		runs = append(runs, w.start("default", flows[i%2]))
	}
	viewers := []*viewer{
		{wants: Watch{Runs: runs[:1]}}, {wants: Watch{Runs: runs[:3]}}, {wants: Watch{Flows: []string{"a"}}}, {wants: Watch{}},
		{wants: Watch{Runs: runs[1:2], Flows: flows}},
	}
	read := func(v *viewer, cut int) {
		frames, id := b.take(v.c)
		var text strings.Builder
		for i, f := range frames {
			text.Write(f)
			if i < len(frames)-1 {
				text.WriteByte('\n')
			}
		}
		fmt.Fprintf(&text, "id: %s\n\n", id)
		lost := v.lost
		v.take(t, text.String(), cut)
		if v.lost > lost {
			v.listed = maps.Clone(w.version)
		}
	}
	join := func(v *viewer) {
		fresh := v.reading == nil
		if fresh {
			v.reading = newReading()
		}
		v.c = newClient("default", uuid.Nil)
		b.join(v.c, v.wants.Runs, v.wants.Flows, v.last)
		look()
		if err := <-v.c.ready; err != nil {
			t.Fatal(err)
		}
		if fresh {
			read(v, math.MaxInt)
			v.listed = maps.Clone(w.version)
		}
	}
	reopened := make(map[uuid.UUID]bool)
	for range rapid.IntRange(1, 60).Draw(t, "steps") {
		v := viewers[rapid.IntRange(0, len(viewers)-1).Draw(t, "viewer")]
		id := runs[rapid.IntRange(0, len(runs)-1).Draw(t, "run")]
		switch rapid.IntRange(0, 10).Draw(t, "step") {
		case 0:
			if len(runs) < 12 {
				runs = append(runs, w.start("default", rapid.SampledFrom(flows).Draw(t, "flow")))
			}
		case 1, 2:
			// A hint that is lost is made up for, but for a run that was opened again and ended between two sweeps.
			if !w.runs[id].state.Ended() && w.work(id) && (reopened[id] || rapid.Bool().Draw(t, "the hint arrives")) {
				b.heard([]uuid.UUID{id})
			}
		case 3:
			w.change(id, false, func(r *run) { r.paused = !r.paused })
		case 4: // an operator's rerun
			reopened[id] = reopened[id] || w.runs[id].state.Ended()
			w.change(id, true, func(r *run) { *r = *anyRun(id).Draw(t, "anything"); r.state, r.finishedAt = 1, nil })
		case 5:
			if v.c == nil {
				join(v)
			}
		case 6:
			if v.c != nil { // the connection breaks, perhaps in the middle of what is sent
				read(v, rapid.IntRange(-1, 3).Draw(t, "cut"))
				b.leave(v.c, now)
				v.c = nil
			}
		case 7:
			if v.c != nil {
				read(v, math.MaxInt)
			}
		case 8:
			now = now.Add(time.Duration(rapid.IntRange(0, 12_000).Draw(t, "ms")) * time.Millisecond)
		default:
			look()
		}
		now = now.Add(time.Millisecond)
	}
	for _, v := range viewers {
		if v.c == nil {
			join(v)
		}
	}
	for range 4 { // a sweep and a look at ended runs
		look()
		now = now.Add(3 * time.Second)
	}
	look()
	for i, v := range viewers {
		read(v, math.MaxInt)
		for _, id := range v.wants.Runs {
			if got, want := asJSON(t, v.runs[id]), asJSON(t, w.runs[id].snapshot()); got != want {
				t.Fatalf("viewer %d has %s, want %s", i, got, want)
			}
		}
		if len(v.wants.Runs) > 0 && len(v.wants.Flows) == 0 {
			continue
		}
		for _, id := range runs {
			told, ok := v.told[id]
			version := v.listed[id]
			if ok {
				version = max(version, int32(*told.Etag))
			}
			wanted := len(v.wants.Flows) == 0 || slices.Contains(v.wants.Flows, w.flows[id])
			if wanted && version != w.version[id] {
				t.Fatalf("viewer %d knows version %d of run %s, want %d", i, version, id, w.version[id])
			}
			if !wanted && ok {
				t.Fatalf("viewer %d was told of run %s of flow %s", i, id, w.flows[id])
			}
		}
	}
	for _, v := range viewers {
		b.leave(v.c, now)
	}
	now = now.Add(11 * time.Second)
	b.tidy(now)
	if len(b.runs)+len(b.feeds)+len(b.clients)+len(b.waiting)+b.idle != 0 {
		t.Fatalf("left: %d runs, %d feeds, %d clients, %d waiting, %d idle", len(b.runs), len(b.feeds), len(b.clients), len(b.waiting), b.idle)
	}
}

// A client that lags behind a ring gets a snapshot instead of the backlog.
func TestLaggardGetsASnapshot(t *testing.T) {
	w := newWorld()
	b := newSwitchboard("boot", time.Minute, -1, func(err error) { t.Error(err) })
	id := w.start("default", "a")
	c := newClient("default", uuid.Nil)
	b.join(c, []uuid.UUID{id}, nil, "")
	b.told([]uuid.UUID{id}, w.runs, time.Now())
	b.settleAll()
	if frames, _ := b.take(c); len(frames) != 1 || !strings.HasPrefix(string(frames[0]), "event: snapshot\n") {
		t.Fatalf("at first %q, want a snapshot", frames)
	}
	for i := range 3 * ringFrames {
		w.change(id, false, func(r *run) { r.stages[0].ready = i })
		b.told([]uuid.UUID{id}, w.runs, time.Now())
	}
	frames, at := b.take(c)
	if len(frames) != 1 || !strings.HasPrefix(string(frames[0]), "event: snapshot\n") || !strings.Contains(string(frames[0]), fmt.Sprintf(`"ready":%d`, 3*ringFrames-1)) {
		t.Errorf("after %d changes %d frames, the first %s, want one snapshot of the last state", 3*ringFrames, len(frames), frames[0])
	}
	// What it gets then follows on it, and all who ask for the same share the bytes.
	w.change(id, false, func(r *run) { r.stages[0].ready = 7 })
	b.told([]uuid.UUID{id}, w.runs, time.Now())
	other := newClient("default", uuid.Nil)
	b.join(other, []uuid.UUID{id}, nil, at)
	mine, _ := b.take(c)
	others, _ := b.take(other)
	if len(mine) != 1 || len(others) != 1 || string(mine[0]) != `event: delta`+"\n"+`data: {"id":"`+id.String()+`","stages":{"work":{"ready":7}}}`+"\n" {
		t.Fatalf("then %q and %q, want one delta", mine, others)
	}
	if &mine[0][0] != &others[0][0] {
		t.Error("a frame was encoded for each client")
	}
}
