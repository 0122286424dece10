package worker

import (
	"testing"

	"axflow/shard"
	"axflow/stage"
)

// An operator's size holds at once in both directions, stops nothing that runs, and ends with its row.
func TestPoolSizeOfAnOperator(t *testing.T) {
	x := newWaiting()
	l := newLab(t, shards(x.run), func(c *Config) { c.Slots = 1 })
	begun := func(n int) {
		t.Helper()
		for range n {
			<-x.started
		}
	}
	end := func(n int) {
		t.Helper()
		for range n {
			x.proceed <- struct{}{}
		}
	}
	size := func(n int) {
		t.Helper()
		l.eventually("the size is not told", `SELECT (SELECT sum(v::int) FROM jsonb_each_text(handlers) AS h(k, v)) = $1 FROM ax.worker`, n)
	}
	l.release("a", 4, counted)
	l.hand("a", shard.Span(0, 4))
	begun(1)
	l.exec(`INSERT INTO ax.pool (namespace, handler, slots, actor) VALUES ('default', 'f/a', 3, 'me'), ('other', 'f/a', 50, 'me'), ('default', 'g/a', 7, 'me')`)
	begun(2)
	size(3)
	want(t, "started", l.w.Stats().Started, 3)
	l.exec(`UPDATE ax.pool SET slots = 2 WHERE namespace = 'default' AND handler = 'f/a'`)
	size(2)
	want(t, "interrupted", l.w.Stats().Interrupted, 0)
	end(1) // two still run: the fourth has to wait
	l.eventually("no result", `SELECT count(*) = 1 FROM ax.result`)
	want(t, "started", l.w.Stats().Started, 3)
	end(1)
	begun(1)
	l.exec(`DELETE FROM ax.pool`)
	size(1)
	end(2)
	l.state("a", stage.StageSucceeded)
	if err := l.w.Resize("f/a", 4); err != nil {
		t.Error(err)
	}
	size(4)
	l.check()
}
