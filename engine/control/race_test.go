package control_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"axflow/engine/control"
	"axflow/sql/history"
)

// Two operators act at the same moment, or one does while a worker reports. What then stands in the database, and what both were told,
// must be what stands there and what they are told when one of the two acts first and the other right after: either way round,
// but nothing else. So nobody is told that they did what the other did, and nothing is done twice or by halves.

// subject is what two moves are about.
type subject struct {
	run    uuid.UUID
	name   string // of a queue, a pool, a circuit
	id     uuid.UUID
	flight []held
}

// move is what somebody does. It tells what they were told.
type move struct {
	name string
	do   func(*house, subject, control.Who) ([]control.Touch, error)
}

// scene makes subjects that are alike.
type scene struct {
	name   string
	make   func(*house) subject
	digest func(*house, subject) string
	locks  []string // one of these is held by a third party until both moves wait, so that they meet; "": nothing is
}

// outcome is what came of two moves.
type outcome struct{ first, second, state string }

func (o outcome) String() string {
	return fmt.Sprintf("the first was told %s\nthe second was told %s\nand then\n%s", o.first, o.second, o.state)
}

// serial lets one move follow the other.
func (s scene) serial(h *house, a, b move, swap bool) outcome {
	x := s.make(h)
	var o outcome
	if swap {
		o.second = told(h, x, b, "two")
		o.first = told(h, x, a, "one")
	} else {
		o.first = told(h, x, a, "one")
		o.second = told(h, x, b, "two")
	}
	o.state = s.digest(h, x)
	return o
}

var (
	runLocks = []string{"", `SELECT 1 FROM ax.run WHERE run_id = $1 FOR UPDATE`, `SELECT 1 FROM ax.flight WHERE run_id = $1 ORDER BY id FOR UPDATE`,
		`SELECT 1 FROM ax.stage WHERE run_id = $1 ORDER BY ord FOR UPDATE`}
	fleetLocks = []string{"", `LOCK TABLE ax.queue, ax.hold, ax.pool, ax.circuit, ax.setting, ax.worker, ax.replay IN EXCLUSIVE MODE`}
)

// race lets both go at once.
func (s scene) race(h *house, a, b move, lock string) outcome {
	x := s.make(h)
	release := func() {}
	if lock != "" {
		release = h.hold(lock, x.run)
	}
	var o outcome
	var ready, both sync.WaitGroup
	ready.Add(2)
	for _, m := range []struct {
		move
		actor string
		told  *string
	}{{a, "one", &o.first}, {b, "two", &o.second}} {
		both.Go(func() {
			ready.Done()
			ready.Wait()
			*m.told = told(h, x, m.move, m.actor)
		})
	}
	release()
	both.Wait()
	o.state = s.digest(h, x)
	return o
}

// hold holds a lock until two sessions wait for locks, or soon enough: a move may need none of these.
func (h *house) hold(sql string, run uuid.UUID) (release func()) {
	h.t.Helper()
	tx, err := h.pool.Begin(h.ctx)
	if err != nil {
		h.t.Fatal(err)
	}
	args := []any{run}
	if run == uuid.Nil {
		args = nil
	}
	if _, err := tx.Exec(h.ctx, sql, args...); err != nil {
		h.t.Fatal(err)
	}
	return func() {
		for end := time.Now().Add(30 * time.Millisecond); time.Now().Before(end); {
			var n int
			if err := tx.QueryRow(h.ctx, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&n); err != nil {
				h.t.Error(err)
			}
			if n >= 2 {
				break
			}
		}
		if err := tx.Rollback(context.WithoutCancel(h.ctx)); err != nil {
			h.t.Error(err)
		}
	}
}

// told is what somebody learns from a move.
func told(h *house, x subject, m move, actor string) string {
	touched, err := m.do(h, x, control.Who{Actor: actor})
	var refused *control.Error
	switch {
	case errors.As(err, &refused):
		return refused.Code
	case err != nil:
		h.t.Errorf("%s: %v", m.name, err)
		return "a fault"
	case len(touched) == 0:
		return "it is so already"
	}
	lines := make([]string, len(touched))
	for i, t := range touched {
		lines[i] = fmt.Sprintf("%s %s %s", t.Stage, t.Indices, t.What)
	}
	slices.Sort(lines)
	text := strings.Join(lines, "; ")
	for _, own := range []string{x.name, x.id.String(), x.run.String()} {
		if own != "" {
			text = strings.ReplaceAll(text, own, "X")
		}
	}
	return text
}

// meet lets two moves race several times and compares with what they do one after the other.
func (s scene) meet(h *house, rng *rand.Rand, a, b move, times int) {
	h.t.Helper()
	right := []outcome{s.serial(h, a, b, false), s.serial(h, a, b, true)}
	for range times {
		lock := s.locks[rng.IntN(len(s.locks))]
		got := s.race(h, a, b, lock)
		if !slices.Contains(right, got) {
			h.t.Errorf("%s and %s at once, %s, %q held:\n%v\n\nOne after the other:\n%v\n\nThe other way round:\n%v", a.name, b.name, s.name, lock, got, right[0], right[1])
		}
	}
}

// by finds moves and scenes by their names.
func by[T any](all []T, name func(T) string, names ...string) []T {
	var out []T
	for _, n := range names {
		i := slices.IndexFunc(all, func(x T) bool { return name(x) == n })
		if i < 0 {
			panic("there is no " + n)
		}
		out = append(out, all[i])
	}
	return out
}

func movesBy(names ...string) []move {
	return by(runMoves, func(m move) string { return m.name }, names...)
}
func scenesBy(names ...string) []scene {
	return by(runScenes, func(s scene) string { return s.name }, names...)
}

// The races that operators run into most.
func TestTwoOperatorsRaceForARun(t *testing.T) {
	h := newHouse(t, fan())
	rng := rand.New(rand.NewPCG(4, 36))
	for _, x := range []struct {
		scenes, moves []string
	}{
		{[]string{"the last shard runs", "it runs"}, []string{"cancel", "finish"}},
		{[]string{"the last shard runs", "it runs"}, []string{"cancel by force", "finish"}},
		{[]string{"the last shard runs", "it runs"}, []string{"cancel", "finish badly"}},
		{[]string{"a shard is dead", "it has failed"}, []string{"retry", "cancel"}},
		{[]string{"it has failed", "it has succeeded"}, []string{"rerun", "cancel"}},
		{[]string{"the last shard runs", "it runs"}, []string{"rerun", "finish"}},
		{[]string{"the last shard runs", "it runs"}, []string{"rerun shards", "finish"}},
		{[]string{"the last shard runs", "it runs"}, []string{"skip", "finish"}},
		{[]string{"the last shard runs", "it runs"}, []string{"skip shards", "finish"}},
		{[]string{"the last shard runs", "it runs"}, []string{"mark", "finish badly"}},
		{[]string{"it runs", "it is paused"}, []string{"pause", "resume"}},
		{[]string{"it has failed"}, []string{"retry", "discard"}},
		{[]string{"it has failed"}, []string{"replay", "retry"}},
		{[]string{"it runs"}, []string{"level", "demote"}},
	} {
		m := movesBy(x.moves...)
		for _, s := range scenesBy(x.scenes...) {
			s.meet(h, rng, m[0], m[1], 2)
		}
	}
	h.check(history.Options{Grace: time.Hour})
}

// Every verb, twice at once.
func TestTheSameVerbTwice(t *testing.T) {
	h := newHouse(t, fan())
	rng := rand.New(rand.NewPCG(5, 1))
	for _, m := range runMoves {
		for _, s := range scenesBy("it runs", "it has failed") {
			s.meet(h, rng, m, m, 1)
		}
	}
	h.check(history.Options{Grace: time.Hour})
}

// Any two moves in any scene, by lot.
func TestAnyTwoMovesRace(t *testing.T) {
	seed, rounds := number(t, envRaceSeed, 4), number(t, envRaceRounds, 12)
	t.Logf("%s=%d draws these again", envRaceSeed, seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for played := uint64(0); played < rounds && !t.Failed(); {
		h := newHouse(t, fan())
		for range min(25, rounds-played) {
			s := runScenes[rng.IntN(len(runScenes))]
			s.meet(h, rng, runMoves[rng.IntN(len(runMoves))], runMoves[rng.IntN(len(runMoves))], 2)
			played++
		}
		h.check(history.Options{Grace: time.Hour})
	}
}

// Queues, pools, circuits, holds, replays, workers: each verb twice at once, and against its opposite.
func TestTwoOperatorsRaceForTheFleet(t *testing.T) {
	h := newHouse(t, fan())
	rng := rand.New(rand.NewPCG(7, 7))
	for _, a := range fleetMoves {
		for _, b := range fleetMoves {
			if a.what == b.what && a.name <= b.name {
				fleetScene(a.what).meet(h, rng, a.move, b.move, 2)
			}
		}
	}
	h.check(history.Options{Grace: time.Hour})
}

// A replay that an operator ends while the leader carries it out: what went is what the replay and the audit say.
func TestCancelReplayAgainstTheLeader(t *testing.T) {
	h := newHouse(t, fan())
	h.live(failing(0, 2))
	for range 3 {
		job, err := h.client.ReplayWhere(h.ctx, control.DeadFilter{Flow: "fan"}, control.ReplayOptions{}, me)
		if err != nil {
			t.Fatal(err)
		}
		leader := h.leader()
		var both sync.WaitGroup
		var told string
		both.Go(func() { told = toldOf(h.client.CancelReplay(h.ctx, job.ID, me)) })
		both.Go(func() {
			if err := leader.Round(h.ctx); err != nil {
				t.Errorf("the leader: %v", err)
			}
		})
		both.Wait()
		if err := leader.Round(h.ctx); err != nil { // what is not cancelled comes to its end
			t.Fatal(err)
		}
		got, err := h.client.ReplayJob(h.ctx, job.ID)
		if err != nil {
			t.Fatal(err)
		}
		want(t, "moved", got.Moved, h.count(`SELECT count(*) FROM ax.ready WHERE ord = 0`))
		switch got.State {
		case control.ReplayCancelled:
			want(t, "told of "+got.State, told, "done")
		case control.ReplayDone:
			want(t, "told of "+got.State, told, control.CodeConflict)
		default:
			t.Errorf("the replay is %s", got.State)
		}
		h.live(failing(0, 2)) // dies again
		h.exec(`UPDATE ax.stage SET max_attempts = 1`)
	}
	h.check(history.Options{Grace: time.Hour})
}

func toldOf(touched []control.Touch, err error) string {
	var refused *control.Error
	switch {
	case errors.As(err, &refused):
		return refused.Code
	case err != nil:
		return err.Error()
	case len(touched) == 0:
		return "already"
	}
	return "done"
}
