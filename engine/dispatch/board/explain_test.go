package board

import (
	"strings"
	"testing"
	"time"
)

// closed returns the closed gates of a span, by name.
func closed(gates []Gate) map[string]Gate {
	m := map[string]Gate{}
	for _, g := range gates {
		if !g.Open {
			m[g.Name] = g
		}
	}
	return m
}

func TestExplain(t *testing.T) {
	b := newBoard(t, Config{})
	expect := func(s Span, want map[string]string) {
		t.Helper()
		if b.AddSpan(epoch, s) != Pending {
			t.Fatal("not pending")
		}
		got := closed(b.Explain(s.ID, epoch))
		for name, text := range want {
			if !strings.Contains(got[name].Reason, text) {
				t.Errorf("gate %s says %q, want %q", name, got[name].Reason, text)
			}
		}
		if len(got) != len(want) {
			t.Errorf("closed gates %+v, want %v", got, want)
		}
	}
	full := map[string]string{GateCapacity: "worker pools full: 0/0 slots"}
	for _, n := range []int{1, 2, 3} {
		b.SetWorker(Worker{ID: id('w', n), Handlers: map[string]int{"other": 1}})
	}
	expect(one(1, nil), map[string]string{GateCapability: "no live worker can run h: 0 of 3", GateCapacity: full[GateCapacity]})
	b.SetWorker(aWorker(1, 2))
	expect(one(1, nil), nil)
	expect(one(2, func(s *Span) { s.Requires = []string{"gpu"} }), map[string]string{
		GateCapability: "needs label gpu: 0 of 1 live workers that can run h", GateCapacity: full[GateCapacity],
		GateTurn: "1 ahead at P2"})
	b.SetWorker(Worker{ID: id('w', 1), Handlers: map[string]int{"h": 2}, Draining: true})
	expect(one(1, nil), map[string]string{
		GateCapability: "every live worker that can run h is draining or overloaded: 1 of 1", GateCapacity: full[GateCapacity]})
	b.SetWorker(aWorker(1, 2))
	expect(one(3, nil), map[string]string{GateTurn: "1 ahead at P2"})
	expect(one(4, func(s *Span) { s.Level = 3 }), map[string]string{GateTurn: "first at P3; it is the turn of P2 by weight"})
	b.Hold(OfQueue("ns", "mail"), "pressure", 3, "queue at 95 % of 1000")
	expect(one(5, func(s *Span) { s.Level, s.Queue = 4, "mail" }), map[string]string{
		"pressure": "queue ns/mail holds P3 and below (pressure): queue at 95 % of 1000"})
	b.RemoveSpan(id('s', 5))
	b.SetLimit(OfQueue("ns", "q"), 1)
	b.Round(epoch, 1)
	expect(one(3, nil), map[string]string{GateLimit: "queue ns/q 1/1, oldest holder run " + id('r', 1).String()})
	b.SetLimit(OfQueue("ns", "q"), -1)
	b.Round(epoch, 1)
	expect(one(6, nil), map[string]string{GateCapacity: "worker pools full: 2/2 slots"})
	if b.Explain(id('s', 77), epoch) != nil {
		t.Error("explained a span that is not pending")
	}

	later := one(8, func(s *Span) { s.NotBefore = epoch.Add(3 * time.Second) })
	got := closed(b.ExplainSpan(later, epoch))
	if got[GateNotBefore].Reason != "due in 3s" || !strings.Contains(got[GateCapacity].Reason, "2/2") || b.HasSpan(later.ID) {
		t.Errorf("a later span: %+v", got)
	}
	if got := b.ExplainSpan(one(6, nil), epoch); !got[0].Open || got[0].Name != GateNotBefore || !b.HasSpan(id('s', 6)) {
		t.Errorf("a pending span: %+v", got)
	}
}
