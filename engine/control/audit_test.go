package control_test

import (
	"errors"
	"testing"

	"axflow/engine/control"
	"axflow/flow"
	"axflow/stage"
)

// Every act leaves a line in the audit and, if it concerns a run, one in its journal: who, what, why. What changes nothing
// leaves none.
func TestActsAreAudited(t *testing.T) {
	h := newHouse(t, flow.New("one", stage.New("a", nop)))
	for range 2 { // the second changes nothing
		if _, err := h.client.Skip(h.ctx, h.run, "a", me); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := h.client.Pause(h.ctx, control.HoldQueue, "etl", me); err != nil {
		t.Fatal(err)
	}
	lines, err := h.client.Audit(h.ctx, control.AuditFilter{})
	if err != nil {
		t.Fatal(err)
	}
	want(t, "lines", len(lines), 2)
	for i, w := range []struct{ verb, target string }{{"pause", "queue/etl"}, {"skip", "run/" + h.run.String() + "/a"}} { // newest first
		if l := lines[i]; l.Verb != w.verb || l.Target != w.target || l.Actor != me.Actor || l.Reason != me.Reason {
			t.Errorf("line %d is %+v, want %s of %s by %s because of %s", i, l, w.verb, w.target, me.Actor, me.Reason)
		}
	}
	journal, err := h.client.Journal(h.ctx, h.run)
	if err != nil {
		t.Fatal(err)
	}
	if len(journal) != 1 || journal[0].Kind != "skip" || journal[0].Actor != me.Actor {
		t.Errorf("the journal is %+v, want the skip", journal)
	}
}

// A client of another namespace cannot steer a run, nor learn that it is there.
func TestVerbsStayInTheirNamespace(t *testing.T) {
	h := newHouse(t, flow.New("one", stage.New("a", nop)))
	other, err := control.NewClient(h.ctx, control.Config{Pool: h.pool, Bus: h.bus, Namespace: "other"})
	if err != nil {
		t.Fatal(err)
	}
	for name, act := range map[string]func() error{
		"cancel": func() error { _, err := other.Cancel(h.ctx, h.run, true, me); return err },
		"skip":   func() error { _, err := other.Skip(h.ctx, h.run, "a", me); return err },
		"pause":  func() error { _, err := other.Pause(h.ctx, control.HoldRun, h.run.String(), me); return err },
	} {
		var refusal *control.Error
		if err := act(); !errors.As(err, &refusal) || refusal.Code != control.CodeNotFound {
			t.Errorf("%s: %v, want that there is no such run", name, err)
		}
	}
	want(t, "runs that were moved", h.count(`SELECT count(*) FROM ax.run WHERE state <> 1`), 0)
}

// A skip takes what is in flight away from its worker, whole flights and parts of them.
func TestSkipTakesFlights(t *testing.T) {
	h := newHouse(t, flow.New("one", stage.New("a", nop)))
	h.handOut()
	want(t, "flights", h.count(`SELECT count(*) FROM ax.flight`), 1)
	if _, err := h.client.Skip(h.ctx, h.run, "a", me); err != nil {
		t.Fatal(err)
	}
	want(t, "flights after the skip", h.count(`SELECT count(*) FROM ax.flight`), 0)
	want(t, "skipped", h.count(`SELECT count(*) FROM ax.parked WHERE reason = 3`), 1)
}
