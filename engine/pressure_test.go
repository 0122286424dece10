package engine_test

import (
	"testing"

	"axflow/engine/control"
	"axflow/flow"
	"axflow/stage"
)

const queuePressure = `SELECT pressure::int FROM ax.queue WHERE name = 'etl'`

func inQueue(name string, level stage.Level) func(int, *control.Start) {
	return func(_ int, s *control.Start) { s.Queue, s.Level = name, &level }
}

// A full queue's low levels wait for the others, and go on when those are done; the state outlasts its leader.
func TestPressurePausesLowLevels(t *testing.T) {
	t.Parallel()
	c := newCluster(t, nil)
	f := flow.New("f", stage.New("a", nop))
	c.exec(`INSERT INTO ax.queue (namespace, name, capacity) VALUES ('default', 'etl', 20)`)
	c.settle()
	// 19 of 20: paused at 95 %. The core level is let in until the queue is full.
	low := c.startIn(f, 9, inQueue("etl", stage.P4))
	core := c.startIn(f, 10, inQueue("etl", stage.P1))
	c.until("depth", 19, `SELECT depth FROM ax.queue WHERE name = 'etl'`)
	c.until("pressure", 3, queuePressure)
	c.failOver()
	c.settle()
	p := c.puppet(20, f)
	held := p.await(10)
	for _, h := range held {
		if h.Level != int16(stage.P1) {
			t.Errorf("P%d was handed out by a full queue", h.Level)
		}
	}
	// Nothing urgent waits any more: the low levels do not wait for themselves.
	all := p.await(19)
	for _, h := range all {
		p.end(h, -1, ok)
	}
	c.end(stage.RunSucceeded, append(low, core...)...)
	c.until("pressure", 0, queuePressure)
}

// Switched off, pressure is nothing, and is published as such.
func TestPressureSwitchedOff(t *testing.T) {
	t.Parallel()
	c := newCluster(t, nil)
	f := flow.New("f", stage.New("a", nop))
	c.exec(`INSERT INTO ax.queue (namespace, name, capacity) VALUES ('default', 'etl', 10)`)
	c.startIn(f, 9, inQueue("etl", stage.P1))
	c.until("pressure", 2, queuePressure)
	c.exec(`INSERT INTO ax.setting (name, value) VALUES ('pressure', 'false')`)
	c.until("pressure", 0, queuePressure)
	c.until("depth", 9, `SELECT depth FROM ax.queue WHERE name = 'etl'`)
}
