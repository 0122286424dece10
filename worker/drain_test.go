package worker

import (
	"testing"
	"time"

	"axflow/shard"
	"axflow/sql/hint"
)

// An operator's word ends a worker as the end of its context does: nobody cancels anything here.
func TestDrainOnAnOperatorsWord(t *testing.T) {
	x := newWaiting()
	l := newLab(t, shards(x.run), func(c *Config) { c.Beat, c.TTL = time.Hour, 3*time.Hour })
	l.release("a", 8, counted)
	l.hand("a", shard.Span(0, 8), func(h *handOut) { h.par = 2 })
	<-x.started
	<-x.started
	for range 2 { // twice is once
		l.exec(`UPDATE ax.worker SET state = 1, drain_asked_at = now()`)
		l.bus.ToWorker(l.w.ID(), hint.Worker{Asks: true}) // long before the next beat
	}
	l.eventually("nothing goes back", `SELECT count(*) = 1 FROM ax.ready WHERE n = 6 AND attempt = 1 AND delivery = 1`)
	want(t, "workers that drain", l.count(`SELECT count(*) FROM ax.worker WHERE state = 1`), 1)
	close(x.proceed)
	select {
	case <-l.done:
	case <-time.After(soon):
		t.Fatal("the worker does not end")
	}
	l.check()
	want(t, "causes", len(x.causes), 0)
	want(t, "results", l.count(`SELECT count(*) FROM ax.result WHERE outcome = 10`), 2)
	want(t, "flights", l.count(`SELECT count(*) FROM ax.flight`), 0)
	want(t, "workers", l.count(`SELECT count(*) FROM ax.worker`), 0)
}
