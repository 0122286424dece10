package board

import (
	"fmt"
	"time"

	"github.com/google/uuid"
)

// The names of the Board's gates. A hold is a gate under its own name.
const (
	GateNotBefore   = "not_before"   // it is not due yet
	GateCapability  = "capability"   // a worker that takes work can run it
	GatePaused      = "paused"       // a hold by this name: no operator has paused it
	GateBreaker     = "breaker"      // a hold by this name, or the limit of a handler or downstream: its circuit lets it through
	GatePressure    = "pressure"     // a hold by this name: its queue is not too full
	GateLimit       = "limit"        // a concurrency limit leaves room
	GateRate        = "rate"         // a start rate leaves room
	GateRetryWindow = "retry_window" // the window of retries leaves room
	GateCapacity    = "capacity"     // such a worker has room
	GateTurn        = "turn"         // nothing else goes first
)

// Gate is one condition for handing a span out.
type Gate struct {
	Name string
	// Open tells whether the condition holds.
	Open bool
	// Reason says how it stands, with its numbers.
	Reason string
	// Scope is what a limit, a rate or a hold covers; zero for other gates.
	Scope Scope
	// Used of Limit is taken: indices running, starts in the window, workers able, slots busy, spans ahead. Limit is -1 where
	// there is none.
	Used, Limit int
	// Next is when a closed rate opens by the passing of time; zero otherwise.
	Next time.Time
	// Holder is the run that has held the limit longest, and Since when its flight left; zero for other gates.
	Holder uuid.UUID
	Since  time.Time
}

// Explain says for every gate of a pending span how it stands, by the functions that Round decides with. When all are
// open, the span is its handler's next grant; otherwise the closed ones say why it waits. It returns nil when the
// span is not pending.
func (b *Board) Explain(id uuid.UUID, now time.Time) []Gate {
	n := b.spans[id]
	if n == nil {
		return nil
	}
	return b.gates(n, now.UnixNano())
}

// ExplainSpan explains a span that is not pending as if it were, with the gate not_before in front.
func (b *Board) ExplainSpan(s Span, now time.Time) []Gate {
	due := Gate{Name: GateNotBefore, Open: true, Reason: "due", Limit: -1}
	if wait := s.NotBefore.Sub(now); wait > 0 {
		due.Open = false
		due.Reason = fmt.Sprintf("due in %s", wait.Round(time.Millisecond))
		s.NotBefore = now
	}
	if n := b.spans[s.ID]; n != nil {
		return append([]Gate{due}, b.gates(n, now.UnixNano())...)
	}
	if admit(now, &s) != Pending {
		return []Gate{due}
	}
	b.tell(now.UnixNano())
	n := b.node(now, s)
	b.enqueue(n)
	gates := append([]Gate{due}, b.gates(n, now.UnixNano())...)
	b.drop(n)
	return gates
}

func (b *Board) gates(n *node, now int64) []Gate {
	b.tell(now)
	st := n.strand
	l := st.lane
	gates := []Gate{b.capability(l)}
	for i, s := range st.scopes {
		for _, h := range s.holds {
			gates = append(gates, held(s, h, l.key.level))
		}
		if g, ok := b.limit(st, i); ok {
			gates = append(gates, g)
		}
	}
	for i := range l.passes {
		name := GateRate
		if p := &l.passes[i]; p.rate.name == retryRateName(l.key.stage) {
			name = GateRetryWindow
		}
		gates = append(gates, paced(name, OfStage(l.key.stage), &l.passes[i]))
	}
	if st.pass.rate != nil {
		gates = append(gates, paced(GateRate, st.key.id, &st.pass))
	}
	gates = append(gates, b.capacity(l))
	open := true
	for _, g := range gates {
		open = open && g.Open
	}
	return append(gates, b.turn(n, now, open))
}
