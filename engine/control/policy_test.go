package control_test

import (
	"sync"
	"testing"

	"axflow/engine/control"
	"axflow/stage"
)

func TestQueues(t *testing.T) {
	h := newHouse(t, two())
	half := 0.5
	q := control.QueueConfig{Name: "etl", Capacity: 100, Concurrency: 5, Weights: []int{9, 5, 4, 3, 2, 1}, Decay: &half}
	want(t, "touches", len(h.did(h.client.SetQueue(h.ctx, q, me))), 1)
	want(t, "touches of the second", len(h.did(h.client.SetQueue(h.ctx, q, me))), 0)
	got, err := h.client.Queue(h.ctx, "etl")
	if err != nil {
		t.Fatal(err)
	}
	want(t, "capacity", got.Capacity, 100)
	want(t, "alert", got.AlertAt, 0.6)
	want(t, "core level", *got.CoreLevel, stage.P1)
	want(t, "weights", got.Weights[1], 5)
	old := got.QueueConfig
	old.Capacity = 50
	h.did(h.client.SetQueue(h.ctx, old, me))
	old.Capacity = 60
	_, err = h.client.SetQueue(h.ctx, old, me)
	h.refused(control.CodeConflict, err)
	p3 := stage.P3
	for _, bad := range []control.QueueConfig{
		{Name: ""}, {Name: "q", Capacity: -1}, {Name: "q", Concurrency: -1}, {Name: "q", Weights: []int{1}}, {Name: "q", Weights: []int{1, 1, 1, 0, 1, 1}},
		{Name: "q", AlertAt: 0.9, RefuseAt: 0.8}, {Name: "q", PauseAt: 1.5}, {Name: "q", ResumeAt: 0.7}, {Name: "q", CoreLevel: &p3},
	} {
		_, err := h.client.SetQueue(h.ctx, bad, me)
		h.refused(control.CodeInvalid, err)
	}
	h.did(h.client.Pause(h.ctx, control.HoldQueue, "default", me))
	all, err := h.client.Queues(h.ctx)
	if err != nil {
		t.Fatal(err)
	}
	want(t, "queues", len(all), 2)
	want(t, "ready", all[0].Ready, 1)
	want(t, "held by", all[0].Held.Actor, "tester")
	want(t, "oldest is known", all[0].Oldest > 0, true)
	h.did(h.client.ClearQueue(h.ctx, "etl", me))
	want(t, "touches of the second", len(h.did(h.client.ClearQueue(h.ctx, "etl", me))), 0)
	// Several at once: each is audited, the last one holds.
	var wg sync.WaitGroup
	for n := range 4 {
		wg.Go(func() {
			if _, err := h.client.SetQueue(h.ctx, control.QueueConfig{Name: "many", Capacity: n + 1}, me); err != nil {
				t.Errorf("configuring at once: %v", err)
			}
		})
	}
	wg.Wait()
	want(t, "audit", h.count(`SELECT count(*) FROM ax.audit WHERE target = 'queue/many'`), 4)
	want(t, "version", h.count(`SELECT version FROM ax.queue WHERE name = 'many'`), 4)
}

func TestPools(t *testing.T) {
	h := newHouse(t, two())
	_, err := h.client.SetPool(h.ctx, "two", "a", 0, me)
	h.refused(control.CodeInvalid, err)
	h.did(h.client.SetPool(h.ctx, "two", "a", 7, me))
	want(t, "touches of the second", len(h.did(h.client.SetPool(h.ctx, "two", "a", 7, me))), 0)
	for range 3 {
		h.start()
	}
	h.handOut()
	pools, err := h.client.Pools(h.ctx)
	if err != nil || len(pools) != 1 {
		t.Fatalf("pools %v, %v", pools, err)
	}
	p := pools[0]
	want(t, "set", p.Set, 7)
	want(t, "slots", p.Slots, 4)
	want(t, "busy", p.Busy, 4)
	want(t, "flagged", p.Flagged, true)
	h.did(h.client.ClearPool(h.ctx, "two", "a", me))
	workers, err := h.client.Workers(h.ctx)
	if err != nil || len(workers) != 1 {
		t.Fatalf("workers %v, %v", workers, err)
	}
	want(t, "flights", workers[0].Flights, 4)
	want(t, "tasks", workers[0].Tasks, 4)
}

func TestCircuitsAndSettings(t *testing.T) {
	h := newHouse(t, two())
	h.did(h.client.OpenCircuit(h.ctx, control.CircuitDownstream, "warehouse", me))
	want(t, "touches of the second", len(h.did(h.client.OpenCircuit(h.ctx, control.CircuitDownstream, "warehouse", me))), 0)
	all, err := h.client.Circuits(h.ctx)
	if err != nil || len(all) != 1 {
		t.Fatalf("circuits %v, %v", all, err)
	}
	want(t, "state", all[0].State, "open")
	want(t, "manual", all[0].Manual, true)
	h.did(h.client.CloseCircuit(h.ctx, control.CircuitDownstream, "warehouse", me))
	want(t, "touches of the second", len(h.did(h.client.CloseCircuit(h.ctx, control.CircuitDownstream, "warehouse", me))), 0)
	_, err = h.client.OpenCircuit(h.ctx, "fuse", "x", me)
	h.refused(control.CodeInvalid, err)

	_, err = h.client.SetSetting(h.ctx, "gravity", false, me)
	h.refused(control.CodeNotFound, err)
	h.did(h.client.SetSetting(h.ctx, "aging", false, me))
	want(t, "touches of the second", len(h.did(h.client.SetSetting(h.ctx, "aging", false, me))), 0)
	settings, err := h.client.Settings(h.ctx)
	if err != nil {
		t.Fatal(err)
	}
	want(t, "settings", len(settings), 6)
	want(t, "aging", settings[0].On, false)
	want(t, "breaker", settings[1].On && settings[1].Default, true)

	lines, err := h.client.Audit(h.ctx, control.AuditFilter{Target: "circuit/"})
	if err != nil || len(lines) != 2 {
		t.Fatalf("audit %v, %v", lines, err)
	}
	want(t, "newest first", lines[0].Verb, "close_circuit")
	more, err := h.client.Audit(h.ctx, control.AuditFilter{Before: lines[0].ID, Actor: "tester"})
	if err != nil || len(more) != 1 {
		t.Errorf("the page before: %v, %v", more, err)
	}
	h.did(h.client.Cancel(h.ctx, h.run, false, me))
	journal, err := h.client.Journal(h.ctx, h.run)
	if err != nil || len(journal) != 1 || journal[0].Kind != "cancel" {
		t.Errorf("journal %v, %v", journal, err)
	}
}
