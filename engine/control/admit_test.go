package control_test

import (
	"errors"
	"strings"
	"testing"

	"axflow/engine/control"
	"axflow/flow"
	"axflow/stage"
)

// A queue takes by what the leader published of it: P0 and P1 (its core) until it is full, the others until it refuses.
func TestQueueRefusesStarts(t *testing.T) {
	h := newHouse(t, flow.New("one", stage.New("a", nop)))
	h.exec(`INSERT INTO ax.queue (namespace, name, capacity) VALUES ('default', 'etl', 10), ('elsewhere', 'free', 1)`)
	start := func(queue string, level stage.Level, n int, key string) error {
		starts := make([]control.Start, n)
		for i := range starts {
			starts[i] = control.Start{Version: h.version, Queue: queue, Level: &level, Key: key}
		}
		_, err := h.client.Start(h.ctx, control.Batch{Trigger: "test"}, starts)
		return err
	}
	runs := func() int { return h.count(`SELECT count(*) FROM ax.run`) }
	before := runs()
	for _, c := range []struct {
		name            string
		depth, pressure int
		queue           string
		level           stage.Level
		n               int
		refused         bool
		says            string
	}{
		{"with room", 0, 0, "etl", stage.P5, 1, false, ""},
		{"on alert", 7, 1, "etl", stage.P5, 1, false, ""},
		{"refusing what is not core", 8, 2, "etl", stage.P2, 1, true, `queue "etl" has 8 tasks waiting or running of a capacity of 10 and takes nothing below P1 now, the start has level P2`},
		{"refusing, but core", 8, 2, "etl", stage.P1, 1, false, ""},
		{"paused, core", 9, 3, "etl", stage.P0, 1, false, ""},
		{"full for all of the batch", 8, 1, "etl", stage.P0, 3, true, `no room for 3 more; its capacity is 10`},
		{"to the brim", 8, 1, "etl", stage.P0, 2, false, ""},
		{"full", 10, 3, "etl", stage.P0, 1, true, `queue "etl" has 10 tasks waiting or running and no room for 1 more`},
		{"another queue", 10, 3, "other", stage.P5, 1, false, ""},
		{"another namespace's queue", 10, 3, "free", stage.P5, 5, false, ""},
	} {
		h.exec(`UPDATE ax.queue SET depth = $1, pressure = $2`, c.depth, c.pressure)
		err := start(c.queue, c.level, c.n, "")
		var refusal *control.Error
		switch {
		case !c.refused && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.refused && (!errors.As(err, &refusal) || refusal.Code != control.CodeOverloaded || refusal.RetryAfter <= 0 || !strings.Contains(refusal.Text, c.says)):
			t.Errorf("%s: the error is %v, want a refusal that says %s", c.name, err, c.says)
		}
		if !c.refused {
			before += c.n
		}
		want(t, c.name+": runs", runs(), before)
	}

	// A refused start leaves nothing behind, its key neither; a key that is bound already is no new work.
	if err := start("etl", stage.P2, 1, "monday"); err == nil {
		t.Error("a full queue takes a start with a key")
	}
	want(t, "keys", h.count(`SELECT count(*) FROM ax.run_key`), 0)
	h.exec(`UPDATE ax.queue SET depth = 0, pressure = 0`)
	if err := start("etl", stage.P2, 1, "monday"); err != nil {
		t.Error(err)
	}
	h.exec(`UPDATE ax.queue SET depth = 10, pressure = 3`)
	if err := start("etl", stage.P2, 1, "monday"); err != nil {
		t.Errorf("the second start with a key: %v", err)
	}
	want(t, "runs", runs(), before+1)

	h.exec(`INSERT INTO ax.setting (name, value) VALUES ('pressure', 'false')`)
	if err := start("etl", stage.P5, 1, ""); err != nil {
		t.Errorf("with the switch off: %v", err)
	}
	want(t, "stages and ready rows without a run", h.count(`SELECT count(*) FROM (SELECT run_id FROM ax.stage UNION ALL SELECT run_id FROM ax.ready) x
		WHERE NOT EXISTS (SELECT 1 FROM ax.run r WHERE r.run_id = x.run_id)`), 0)
}
