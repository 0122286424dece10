package control_test

import (
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
