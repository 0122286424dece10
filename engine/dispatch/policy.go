package dispatch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/google/uuid"

	"axflow/engine/breaker"
	"axflow/engine/dispatch/board"
	"axflow/engine/pressure"
	"axflow/sql/db"
	"axflow/sql/hint"
	"axflow/sql/pipe"
	"axflow/stage"
)

// The names of the kill switches in ax.setting. A switch that nobody has set is on.
const (
	SwitchEvents   = "events"   // off: news is ignored, everything is read again every second
	SwitchWheel    = "wheel"    // off: nothing waits in memory, the database is asked every second what is due
	SwitchAging    = "aging"    // off: first come, first served within each level
	SwitchWeights  = "weights"  // off: levels strictly in order
	SwitchBreaker  = "breaker"  // off: no circuit holds anything
	SwitchPressure = "pressure" // off: no queue demotes, pauses or refuses anything for being full
)

// Names of holds on the Board, which Explain reports.
const (
	holdPaused   = "paused"
	holdPressure = "pressure"
	holdBreaker  = "breaker"
)

// Switches says which kill switches are off, by name.
type Switches map[string]bool

// ReadSwitches reads what is set. Values that are not false count as on.
func ReadSwitches(rows []db.SettingsRow) Switches {
	off := make(Switches)
	for _, row := range rows {
		var on bool
		if json.Unmarshal(row.Value, &on) == nil && !on {
			off[row.Name] = true
		}
	}
	return off
}

// On tells whether a switch is on.
func (s Switches) On(name string) bool { return !s[name] }

// policies is what operators have set and the leader has published, as the database says.
type policies struct {
	off  Switches
	runs map[uuid.UUID]struct{} // held
	rules
}

// policyRows is what policies are made of.
type policyRows struct {
	settings []db.SettingsRow
	holds    []db.AxHold
	queues   []db.QueuesRow
	circuits []db.AxCircuit
}

// rules is what holds on the Board besides what its spans say themselves.
type rules struct {
	holds  map[holdKey]holdRule
	limits map[board.Scope]int
	queues map[queueKey]queueRule
	strict bool // levels in order
	still  bool // no aging
}

type holdKey struct {
	scope board.Scope
	name  string
}

type holdRule struct {
	from   stage.Level
	reason string
}

type queueKey struct{ namespace, queue string }

type queueRule struct {
	weights [stage.Levels]int // zero: the Board's
	decay   float64           // NaN-free; below 0: the Board's
	demote  stage.Level       // from this level on; noDemotion: none
}

// noDemotion is beyond P5.
const noDemotion = stage.Level(stage.Levels)

func (r *policyRows) read(ctx context.Context, q *db.Queries) (err error) {
	if r.settings, err = q.Settings(ctx); err != nil {
		return fmt.Errorf("reading the settings: %w", err)
	}
	if r.holds, err = q.Holds(ctx); err != nil {
		return fmt.Errorf("reading the holds: %w", err)
	}
	if r.queues, err = q.Queues(ctx); err != nil {
		return fmt.Errorf("reading the queues: %w", err)
	}
	if r.circuits, err = q.Circuits(ctx); err != nil {
		return fmt.Errorf("reading the circuits: %w", err)
	}
	return nil
}

// readAtOnce is read in one round trip.
func (r *policyRows) readAtOnce(ctx context.Context, to pipe.Sender) error {
	p := pipe.New()
	_, _ = p.Settings(ctx)
	pipe.Rows(p, &r.settings)
	_, _ = p.Holds(ctx)
	pipe.Rows(p, &r.holds)
	_, _ = p.Queues(ctx)
	pipe.Rows(p, &r.queues)
	_, _ = p.Circuits(ctx)
	pipe.Rows(p, &r.circuits)
	if err := p.Send(ctx, to); err != nil {
		return fmt.Errorf("reading the policies: %w", err)
	}
	return nil
}

// policies works out what the rows say.
func (r *policyRows) policies() policies {
	p := policies{off: ReadSwitches(r.settings), runs: make(map[uuid.UUID]struct{}), rules: rules{holds: make(map[holdKey]holdRule),
		limits: make(map[board.Scope]int), queues: make(map[queueKey]queueRule)}}
	p.strict, p.still = !p.off.On(SwitchWeights), !p.off.On(SwitchAging)
	for i := range r.holds {
		p.hold(&r.holds[i])
	}
	for i := range r.queues {
		p.queue(&r.queues[i])
	}
	if p.off.On(SwitchBreaker) {
		for i := range r.circuits {
			p.circuit(&r.circuits[i])
		}
	}
	return p
}

func (p *policies) hold(h *db.AxHold) {
	reason := "by " + h.Actor
	if h.Reason != "" {
		reason += ": " + h.Reason
	}
	rule := holdRule{stage.P0, reason}
	switch h.Kind {
	case "queue":
		p.holds[holdKey{board.OfQueue(h.Namespace, h.Name), holdPaused}] = rule
	case "flow":
		p.holds[holdKey{board.OfFlow(h.Namespace, h.Name), holdPaused}] = rule
	case "run":
		if id, err := uuid.Parse(h.Name); err == nil {
			p.runs[id] = struct{}{}
		}
	}
}

func (p *policies) queue(q *db.QueuesRow) {
	scope := board.OfQueue(q.Namespace, q.Name)
	if q.Concurrency != nil {
		p.limits[scope] = int(*q.Concurrency)
	}
	rule := queueRule{decay: -1, demote: noDemotion}
	if len(q.Weights) == stage.Levels {
		for i, w := range q.Weights {
			rule.weights[i] = int(w)
		}
	}
	if q.Decay != nil && *q.Decay >= 0 {
		rule.decay = *q.Decay
	}
	if q.Capacity != nil && p.off.On(SwitchPressure) {
		low := stage.Level(min(max(q.LowLevel, 0), int16(stage.P5)))
		if q.Pressure >= int16(pressure.Alert) {
			rule.demote = low
		}
		if q.Pressure >= int16(pressure.Pause) {
			p.holds[holdKey{scope, holdPressure}] = holdRule{low, fmt.Sprintf("%d tasks, capacity %d", q.Depth, *q.Capacity)}
		}
	}
	if rule != (queueRule{decay: -1, demote: noDemotion}) {
		p.queues[queueKey{q.Namespace, q.Name}] = rule
	}
}

func (p *policies) circuit(c *db.AxCircuit) {
	scope := circuitScope(c.Namespace, c.Kind, c.Name)
	switch c.State {
	case int16(breaker.Open):
		p.holds[holdKey{scope, holdBreaker}] = holdRule{stage.P0, circuitReason(c)}
	case int16(breaker.HalfOpen):
		p.limits[scope] = 1
	}
}

// circuitScope is what a circuit covers on the Board.
func circuitScope(namespace, kind, name string) board.Scope {
	if kind == "handler" {
		return board.OfHandler(namespace + "/" + name)
	}
	return board.OfDownstream(namespace, name)
}

// CircuitSnapshot reads a circuit's row.
func CircuitSnapshot(row *db.AxCircuit) breaker.Snapshot {
	s := breaker.Snapshot{State: breaker.State(row.State), Manual: row.Manual, Failures: int(row.Failures), LastError: row.LastError, Reason: row.Reason}
	if row.OpenedAt != nil {
		s.OpenedAt = *row.OpenedAt
	}
	if row.Until != nil {
		s.Until = *row.Until
	}
	return s
}

func circuitReason(c *db.AxCircuit) string {
	text := "circuit " + c.Name + " open " + breaker.New(stage.DefaultBreaker(), CircuitSnapshot(c)).Why()
	if c.Manual {
		text += ", by " + c.Actor
	}
	return text
}

// apply brings the Board from the old rules to these. An error says what of a queue could not be applied.
func (r *rules) apply(b *board.Board, old *rules) (err error) {
	for k := range old.holds {
		if _, on := r.holds[k]; !on {
			b.Release(k.scope, k.name)
		}
	}
	for k, h := range r.holds {
		if was, on := old.holds[k]; !on || was != h {
			b.Hold(k.scope, k.name, h.from, h.reason)
		}
	}
	for s := range old.limits {
		if _, on := r.limits[s]; !on {
			b.SetLimit(s, -1)
		}
	}
	for s, n := range r.limits {
		if was, on := old.limits[s]; !on || was != n {
			b.SetLimit(s, n)
		}
	}
	none := queueRule{decay: -1, demote: noDemotion}
	for k, was := range old.queues {
		if _, on := r.queues[k]; !on {
			err = errors.Join(err, none.apply(b, k, &was))
		}
	}
	for k, q := range r.queues {
		was, on := old.queues[k]
		if !on {
			was = none
		}
		err = errors.Join(err, q.apply(b, k, &was))
	}
	if r.strict != old.strict {
		b.SetStrict(r.strict)
	}
	return err
}

func (q *queueRule) apply(b *board.Board, k queueKey, old *queueRule) (err error) {
	if q.weights != old.weights || q.decay != old.decay {
		var weights *[stage.Levels]int
		var decay *float64
		if q.weights != [stage.Levels]int{} {
			weights = &q.weights
		}
		if q.decay >= 0 {
			decay = &q.decay
		}
		if err = b.SetQueuePolicy(k.namespace, k.queue, weights, decay); err != nil {
			err = fmt.Errorf("queue %s/%s: %w", k.namespace, k.queue, err)
		}
	}
	if q.demote != old.demote {
		b.Demote(k.namespace, k.queue, q.demote)
	}
	return err
}

// policiesEvery is how often policies are read when no news asks for it.
const policiesEvery = 2 * time.Second

// loadPolicies reads the policies and acts on what has changed.
func (l *Loop) loadPolicies(ctx context.Context) error {
	var rows policyRows
	if err := rows.readAtOnce(ctx, l.cfg.Conn); err != nil {
		return err
	}
	l.policiesDue, l.policiesAt, l.standDue = false, time.Now().Add(policiesEvery), true
	old := l.policies
	l.policies = rows.policies()
	if err := l.policies.apply(l.board, &old.rules); err != nil {
		l.cfg.Logger.Error("a queue's settings cannot be applied; the engine's hold", "epoch", l.cfg.Fence.Epoch, "err", err)
	}
	if l.policies.still != old.still {
		if l.policies.still {
			l.board.SetDecay(0)
		} else {
			l.board.SetDecay(l.decay)
		}
	}
	if !maps.Equal(l.policies.off, old.off) {
		l.switched(old.off)
	}
	return l.holdRuns(ctx, old.runs)
}

// holdRuns takes the spans of newly held runs out of memory and recalls what has not started; of released ones they
// are loaded again.
func (l *Loop) holdRuns(ctx context.Context, old map[uuid.UUID]struct{}) error {
	var held []uuid.UUID
	for id := range l.policies.runs {
		if _, was := old[id]; !was {
			held = append(held, id)
		}
	}
	for id := range old {
		if _, is := l.policies.runs[id]; !is {
			l.reload = true
			break
		}
	}
	if len(held) == 0 {
		return nil
	}
	for id, p := range l.known {
		if _, is := l.policies.runs[p.run]; is {
			l.drop(id)
		}
	}
	// What was handed out between the pause and this moment was asked for by nobody yet.
	if err := l.q.RecallRuns(ctx, held); err != nil {
		return fmt.Errorf("recalling what has not started of %d held runs: %w", len(held), err)
	}
	told := make(map[uuid.UUID]bool)
	for _, f := range l.flights {
		if _, is := l.policies.runs[f.run]; is && !told[f.worker] {
			told[f.worker] = true
			l.cfg.Bus.ToWorker(f.worker, hint.Worker{Asks: true})
		}
	}
	return nil
}

// heldRuns lists the held runs.
func (p *policies) heldRuns() []uuid.UUID {
	ids := make([]uuid.UUID, 0, len(p.runs))
	for id := range p.runs {
		ids = append(ids, id)
	}
	return ids
}
