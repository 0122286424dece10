package worker

import (
	"context"
	"errors"
	"testing"
	"time"

	"axflow/shard"
	"axflow/stage"
)

// A shard that fails for good stops the others of a fail-fast stage, and the workers that run them are told at once.
func TestFailFast(t *testing.T) {
	x := newWaiting()
	fail := make(chan struct{})
	l := newLab(t, shards(func(ctx context.Context, p day, s shard.Shard) (string, error) {
		if s.Index == 0 {
			<-fail
			return "", stage.Permanent(errors.New("bad data"))
		}
		return x.run(ctx, p, s)
	}, stage.FailFast()), func(c *Config) { c.Beat, c.Slots = time.Minute, 3 })
	l.release("a", 10, counted)
	l.hand("a", shard.Span(0, 8))
	<-x.started
	<-x.started
	l.exec(`INSERT INTO ax.ready (id, run_id, not_before, ready_at, version_id, n, ord, generation, kind, attempt, delivery, losses, level, namespace, queue, todo)
	        VALUES (gen_random_uuid(), $1, now(), now(), $2, 2, 0, 1, 0, 1, 1, 0, 2, 'default', 'default', '{[8,10)}')`, l.run, l.ver)
	close(fail)
	for range 2 { // long before the next heartbeat is due
		want(t, "cause", errors.Is(<-x.causes, ErrCancelled), true)
	}
	l.state("a", stage.StageFailed)
	if n := l.w.Stats().Started; n > 4 { // the slot of the failed one was taken before anybody could know
		t.Errorf("%d shards started, want 4 at most", n)
	}
	want(t, "dead", l.count(`SELECT sum(n)::int FROM ax.parked WHERE reason = 1`), 1)
	want(t, "cancelled", l.count(`SELECT sum(n)::int FROM ax.parked WHERE reason = 2`), 9)
	l.check()
}

// What a stage tolerates ends neither it nor its other shards.
func TestToleratedFailures(t *testing.T) {
	l := newLab(t, shards(func(_ context.Context, _ day, s shard.Shard) (string, error) {
		if s.Index < 2 {
			return "", stage.Permanent(errors.New("bad data"))
		}
		return "", nil
	}, stage.FailFast(), stage.TolerateShare(0.5)), nil)
	l.planning("a")
	l.hand("a", planSet) // four shards: two may fail
	l.state("a", stage.StageRunning)
	want(t, "tolerated", l.count(`SELECT tolerate FROM ax.stage`), 2)
	l.exec(`DELETE FROM ax.ready`)
	l.hand("a", shard.Span(0, 4), serial)
	l.state("a", stage.StageSucceeded)
	want(t, "failed", l.count(`SELECT failed FROM ax.stage`), 2)
	want(t, "succeeded", l.count(`SELECT succeeded FROM ax.stage`), 2)
	want(t, "dead letters", l.count(`SELECT sum(n)::int FROM ax.parked WHERE reason = 1 AND length(fingerprint) = 16`), 2)
	l.check()
}
