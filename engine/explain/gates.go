package explain

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"axflow/engine/breaker"
	"axflow/engine/dispatch/board"
	"axflow/stage"
)

// order ranks gates: what must open first, or tells most, comes first. A Board's gate that is not listed comes before
// capability.
var order = []string{GateStuck, GateEnd, GateLeader, GateCancel, board.GatePaused, GateBudget, GateUpstream, GatePlan, GateDecision,
	GateAligned, GateChild, GateRetry, board.GateNotBefore, board.GateBreaker, board.GatePressure, "", board.GateCapability, board.GateLimit,
	board.GateRate, board.GateRetryWindow, board.GateCapacity, board.GateTurn}

func rank(name string) int {
	if i := slices.Index(order, name); i >= 0 {
		return i
	}
	return slices.Index(order, "")
}

// closed returns the closed gates, the most telling first.
func closed(gates []Gate) []Gate {
	var out []Gate
	for _, g := range gates {
		if !g.Open {
			out = append(out, g)
		}
	}
	slices.SortStableFunc(out, func(a, b Gate) int { return rank(a.Name) - rank(b.Name) })
	return out
}

// because says in one clause why something waits; "" when every gate is open.
func because(gates []Gate) string {
	shut := closed(gates)
	if len(shut) == 0 {
		return ""
	}
	// Whose turn it is, and whether there is room, matters only when nothing else keeps it back.
	text := shut[0].Reason
	for _, g := range shut[1:] {
		if g.Name != board.GateTurn && g.Name != board.GateCapacity && g.Name != shut[0].Name {
			return text + "; also: " + g.Reason
		}
	}
	return text
}

func gate(name string, open bool, format string, args ...any) Gate {
	return Gate{Name: name, Open: open, Reason: fmt.Sprintf(format, args...)}
}

// wide are the closed gates that keep back whatever of the run is not with a worker.
func (x *scene) wide() []Gate {
	if x.state.Ended() {
		return nil
	}
	gates := x.stuck()
	switch {
	case x.lease == nil:
		gates = append(gates, gate(GateLeader, false, "no engine has ever led this database"))
	case !x.lease.ExpiresAt.After(x.now):
		g := gate(GateLeader, false, "no engine leads: the lease of %s (epoch %d) ran out %s ago", x.lease.Holder, x.lease.Epoch,
			lasting(x.now.Sub(x.lease.ExpiresAt)))
		g.Since = &x.lease.ExpiresAt
		gates = append(gates, g)
	}
	if h, ok := x.holds[[2]string{"run", x.run.RunID.String()}]; ok {
		gates = append(gates, x.paused("run", h.Name))
	}
	return gates
}

// ofTasks are the gates of wide that keep ready tasks back too: a run that nobody can decide still has its ready
// work handed out.
func (x *scene) ofTasks() []Gate {
	gates := x.wide()
	if x.version == nil {
		return gates
	}
	return slices.DeleteFunc(gates, func(g Gate) bool { return g.Name == GateStuck })
}

// stuck is the closed gate of a run that the engine cannot decide.
func (x *scene) stuck() []Gate {
	switch {
	case x.run.Stuck != nil:
		return []Gate{gate(GateStuck, false, "the run is stuck: the engine cannot decide it (%s)", *x.run.Stuck)}
	case x.version == nil:
		return []Gate{gate(GateStuck, false, "the run's flow version %d cannot be read by this binary", x.run.VersionID)}
	default:
		return nil
	}
}

// paused is the gate of something that an operator has paused.
func (x *scene) paused(kind, name string) Gate {
	h := x.holds[[2]string{kind, name}]
	what := "the run"
	if kind != "run" {
		what = kind + " " + name
	}
	g := gate(board.GatePaused, false, "%s is paused by %s for %s", what, h.Actor, lasting(x.now.Sub(h.HeldAt)))
	if h.Reason != "" {
		g.Reason += ": " + oneLine(h.Reason)
	}
	g.Scope, g.By, g.Since = what, h.Actor, &h.HeldAt
	return g
}

// ofBoard makes a gate of the Board's, and says more of it where the tables know more.
func (x *scene) ofBoard(b board.Gate, perTask time.Duration, slots int) Gate {
	g := Gate{Name: b.Name, Open: b.Open, Reason: b.Reason}
	if b.Scope != (board.Scope{}) {
		g.Scope = b.Scope.String()
	}
	if b.Limit >= 0 {
		g.Used, g.Limit = &b.Used, &b.Limit
	}
	if !b.Next.IsZero() && !b.Open {
		next := b.Next
		g.Until = &next
		g.Reason += ", the next " + soon(next.Sub(x.now))
	}
	if b.Holder != uuid.Nil {
		holder, since := b.Holder, b.Since
		g.Holder, g.Since = &holder, &since
		if !b.Open {
			g.Reason += ", for " + lasting(x.now.Sub(since))
		}
	}
	switch b.Name {
	case board.GateCapability, board.GateCapacity:
		g.AgeS = x.books.beatS
	case board.GateTurn:
		g.Used = &b.Used
		if about := time.Duration(b.Used) * perTask / time.Duration(max(1, slots)); !b.Open && b.Used > 0 && about >= time.Second {
			g.Reason += ", about " + lasting(about)
		}
	case board.GatePaused:
		if b.Open {
			break
		}
		kind, _, _ := strings.Cut(g.Scope, " ")
		if _, ok := x.holds[[2]string{kind, b.Scope.Name}]; ok && b.Scope.Namespace == x.run.Namespace {
			held := x.paused(kind, b.Scope.Name)
			held.Scope = g.Scope
			return held
		}
	case board.GateBreaker:
		if !b.Open {
			x.circuit(&g, b.Scope)
		}
	case board.GatePressure:
		if q, ok := x.queues[b.Scope.Name]; ok && !b.Open {
			x.pressure(&g, q.Name)
		}
	}
	return g
}

// circuit says what is known of the circuit that keeps a stage's work back.
func (x *scene) circuit(g *Gate, scope board.Scope) {
	key := [2]string{"downstream", scope.Name}
	if scope.Kind == board.HandlerScope {
		key = [2]string{"handler", strings.TrimPrefix(scope.Name, x.run.Namespace+"/")}
	}
	c, ok := x.circuits[key]
	if !ok {
		return
	}
	switch {
	case c.State == int16(breaker.HalfOpen):
		g.Reason = fmt.Sprintf("circuit %s is half-open: one task at a time probes it", c.Name)
	case c.Manual:
		g.Reason = fmt.Sprintf("circuit %s was opened by %s", c.Name, c.Actor)
		if c.Reason != "" {
			g.Reason += " (" + oneLine(c.Reason) + ")"
		}
		g.Reason += " and stays open until somebody closes it"
		g.By = c.Actor
	case c.Until != nil:
		g.Reason = fmt.Sprintf("circuit %s is open until %s (%s)", c.Name, clock(*c.Until, x.now), soon(c.Until.Sub(x.now)))
		g.Until = c.Until
	default:
		g.Reason = fmt.Sprintf("circuit %s is open", c.Name)
	}
	if c.Failures > 0 && !c.Manual {
		g.Reason += ", " + counted(int(c.Failures), "failure")
	}
	if c.LastError != "" {
		g.Reason += ", last: " + oneLine(c.LastError)
	}
	g.Since = c.OpenedAt
}

func soon(d time.Duration) string {
	if d <= 0 {
		return "due now"
	}
	return "in " + lasting(d)
}

// pressure says how full the queue is that keeps low levels back.
func (x *scene) pressure(g *Gate, queue string) {
	q := x.queues[queue]
	depth := int(q.Depth)
	text := fmt.Sprintf("queue %s holds %s tasks", queue, number(depth))
	if q.Capacity != nil {
		limit := int(*q.Capacity)
		text = fmt.Sprintf("queue %s is under pressure: %s/%s tasks (%d %%)", queue, number(depth), number(limit), depth*100/max(1, limit))
		g.Used, g.Limit = &depth, &limit
	}
	g.Reason = text + ": " + g.Reason
	if q.PublishedAt != nil {
		g.AgeS = x.now.Sub(*q.PublishedAt).Seconds()
	}
}

// dueGate says when a task may first be handed out, and of a retry which one it is and what failed.
func (x *scene) dueGate(ord int, attempt int16, notBefore time.Time, key taskKey) Gate {
	open := !notBefore.After(x.now)
	var g Gate
	if attempt <= 1 {
		g = gate(board.GateNotBefore, open, "due since %s", lasting(x.now.Sub(notBefore)))
		if !open {
			g.Reason = fmt.Sprintf("not due yet: in %s", lasting(notBefore.Sub(x.now)))
		}
	} else {
		text := fmt.Sprintf("retry %d of %d", attempt-1, x.maxAttempts(ord)-1)
		if open {
			text += ", due since " + lasting(x.now.Sub(notBefore))
		} else {
			text += ", due in " + lasting(notBefore.Sub(x.now))
		}
		if e, ok := x.errors[key]; ok {
			text += ", last error: " + x.failure(e.Outcome, e.Error)
		}
		g = gate(GateRetry, open, "%s", text)
	}
	if !open {
		due := notBefore
		g.Until = &due
	}
	return g
}

// failure writes how an attempt failed.
func (x *scene) failure(outcome int16, raw []byte) string {
	text := errorText(raw)
	if text == "" {
		text = strings.ReplaceAll(stage.Outcome(outcome).String(), "_", " ")
	}
	return text
}

// maxAttempts is how often a task of the stage may be tried: the policy's, or what an operator raised it to.
func (x *scene) maxAttempts(ord int) int {
	n := x.version.Graph.Stages[ord].Retry.MaxAttempts
	if raised := x.stages[ord].row.MaxAttempts; raised != nil {
		n = int(*raised)
	}
	return n
}

// budget is the gate of a stage's overall time budget, if it has one.
func (x *scene) budget(ord int) (Gate, bool) {
	at := x.stages[ord].row.ExpiresAt
	if at == nil {
		return Gate{}, false
	}
	limit := x.version.Graph.Stages[ord].Timeout.Overall
	g := gate(GateBudget, at.After(x.now), "its overall budget of %s ends in %s", lasting(limit), lasting(at.Sub(x.now)))
	if !g.Open {
		g.Reason = fmt.Sprintf("its overall budget of %s ran out %s ago: it is about to expire", lasting(limit), lasting(x.now.Sub(*at)))
	}
	g.Until = at
	return g, true
}

func stageName(x *scene, ord int) string { return strconv.Quote(x.version.Graph.Stages[ord].Name) }
