package dispatch

import (
	"testing"

	"github.com/google/uuid"

	"axflow/engine/dispatch/board"
)

func worker(i byte, cpu, memory float64, handlers ...string) Worker {
	w := Worker{CPU: cpu, Memory: memory, Worker: board.Worker{ID: uuid.UUID{i}, Handlers: make(map[string]int)}}
	for _, h := range handlers {
		w.Handlers[h] = 1
	}
	return w
}

// A worker is overloaded from 0.90 of anything on until all is below 0.75, but only while others can do its work.
func TestOverload(t *testing.T) {
	idle := func(*Worker) float64 { return 0 }
	o := newOverload(Overload{})
	for step, test := range []struct {
		cpu, memory float64
		other       []string
		want        bool
	}{
		{0.89, 0.10, []string{"h", "g"}, false},
		{0.90, 0.10, []string{"h", "g"}, true},
		{0.80, 0.10, []string{"h", "g"}, true},  // not below 0.75 yet
		{0.80, 0.10, []string{"h"}, false},      // nobody else can run g
		{0.76, 0.75, []string{"h", "g"}, true},  // it is back as soon as somebody can
		{0.74, 0.74, []string{"h", "g"}, false}, // recovered
		{0.80, 0.89, []string{"h", "g"}, false},
		{0.10, 0.95, []string{"h", "g"}, true},
	} {
		list := []Worker{worker(1, test.cpu, test.memory, "h", "g"), worker(2, 0.1, 0.1, test.other...)}
		o.mark(list, idle)
		if list[0].Overloaded != test.want || list[1].Overloaded {
			t.Errorf("step %d: %v and %v, want %v and false", step, list[0].Overloaded, list[1].Overloaded, test.want)
		}
	}
	// All are: none is.
	list := []Worker{worker(1, 1, 0, "h"), worker(2, 1, 0, "h")}
	o.mark(list, idle)
	if list[0].Overloaded || list[1].Overloaded {
		t.Error("every worker is overloaded: somebody has to do the work")
	}
	// A draining worker is no help.
	list = []Worker{worker(1, 1, 0, "h"), worker(2, 0, 0, "h")}
	list[1].Draining = true
	if o.mark(list, idle); list[0].Overloaded {
		t.Error("overloaded, and only a draining worker could do its work")
	}
	off := newOverload(Overload{Enter: -1})
	list = []Worker{worker(1, 1, 1, "h"), worker(2, 0, 0, "h")}
	if off.mark(list, idle); list[0].Overloaded {
		t.Error("overloaded although that is off")
	}
}

// Ten slots and a horizon of one second: 40 s of work ahead of the slots are all that may be.
func TestQueued(t *testing.T) {
	for _, test := range []struct {
		load board.WorkerLoad
		want float64
	}{
		{board.WorkerLoad{Outstanding: 10, Cost: 10 * 3600e9}, 0}, // long tasks in their slots are not queued
		{board.WorkerLoad{Outstanding: 50, Cost: 50e9}, 1},
		{board.WorkerLoad{Outstanding: 1010, Cost: 10.1e9}, 0.25}, // what the Board gives in advance
		{board.WorkerLoad{Outstanding: 11, Urgent: 1, Cost: 11e9}, 0},
		{board.WorkerLoad{}, 0},
	} {
		if got := queued(test.load, 10, 1); got < test.want-1e-9 || got > test.want+1e-9 {
			t.Errorf("%+v: %v, want %v", test.load, got, test.want)
		}
	}
	if got := queued(board.WorkerLoad{Outstanding: 5, Cost: 5e9}, 0, 1); got != 0 {
		t.Errorf("without slots: %v", got)
	}
}
