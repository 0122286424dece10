package alive

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"axflow/engine/breaker"
	"axflow/engine/dispatch"
	axsql "axflow/sql"
	"axflow/sql/db"
	"axflow/sql/hint"
	"axflow/sql/pipe"
	"axflow/stage"
)

// circuits keeps the circuit breakers: fed with what the workers' heartbeats count, written when one moves, and read
// again before each step, so that an operator's hand is seen. The dispatcher reads the same rows.
type circuits struct {
	rows     []db.AxCircuit   // as read last
	settings []db.SettingsRow // as read last
	known    map[circuitKey]*circuit
	specs    map[flowKey]flowBreakers
	workers  map[uuid.UUID]bool // that have reported
}

type circuitKey struct{ namespace, kind, name string }

type circuit struct {
	*breaker.Circuit
	version int32            // of its row; 0: it has none
	written breaker.Snapshot // what the row says
}

type flowKey struct{ namespace, flow string }

// flowBreakers are the breakers that a flow's newest version declares, by stage.
type flowBreakers struct {
	at     time.Time
	stages map[string]stage.Breaker
}

const (
	handlerCircuit    = "handler"
	downstreamCircuit = "downstream"
	// specsFor is how long a flow's newest version is remembered.
	specsFor = 10 * time.Second
)

func newCircuits() *circuits {
	return &circuits{known: make(map[circuitKey]*circuit), specs: make(map[flowKey]flowBreakers), workers: make(map[uuid.UUID]bool)}
}

// next is when the next cool-down ends.
func (c *circuits) next() (at time.Time, ok bool) {
	for _, x := range c.known {
		if t, has := x.Next(); has && (!ok || t.Before(at)) {
			at, ok = t, true
		}
	}
	return at, ok
}

// moveCircuits steps every circuit, writes down those that moved, and tells the dispatcher and the workers.
func (w *Watch) moveCircuits(ctx context.Context, rows []db.WorkersRow) error {
	c := w.circuits
	if !dispatch.ReadSwitches(c.settings).On(dispatch.SwitchBreaker) {
		clear(c.known) // counts of this time are nobody's
		clear(c.workers)
		return nil
	}
	now := w.cfg.Clock()
	if err := w.adopt(ctx, now); err != nil {
		return err
	}
	if err := w.report(ctx, now, rows); err != nil {
		return err
	}
	for _, x := range c.known {
		at := now
		if until, cooling := x.Next(); cooling && x.Snapshot().OpenedAt.Sub(now) > time.Second {
			at = until // the clock has gone back since: a probe too early does less harm than one an hour late
		}
		x.Tick(at)
	}
	moved, err := w.saveCircuits(ctx)
	if err != nil || !moved {
		return err
	}
	w.cfg.Box.Put(hint.Engine{Policies: true})
	for i := range rows {
		w.cfg.Bus.ToWorker(rows[i].ID, hint.Worker{Asks: true})
	}
	return nil
}

// adopt takes over what the rows say and this watch did not write: what an earlier leader left, and an operator's acts.
func (w *Watch) adopt(ctx context.Context, now time.Time) error {
	c := w.circuits
	there := make(map[circuitKey]bool, len(c.rows))
	defer func() {
		for k, x := range c.known {
			if x.version > 0 && !there[k] {
				delete(c.known, k) // somebody has deleted its row
			}
		}
	}()
	for i := range c.rows {
		row := &c.rows[i]
		k := circuitKey{row.Namespace, row.Kind, row.Name}
		there[k] = true
		x := c.known[k]
		if x != nil && x.version == row.Version {
			continue
		}
		switch open := row.State != int16(breaker.Closed); {
		case x != nil && open && row.Manual:
			x.Open(now, row.Reason)
		case x != nil && !open:
			x.Close(now, row.Reason)
		default: // an earlier leader's; or this watch's own, and the answer was lost
			cfg, ok, err := w.settingsOf(ctx, k)
			if err != nil {
				return err
			}
			if !ok {
				cfg = stage.DefaultBreaker() // nobody declares it any more: what is open cools down
			}
			x = &circuit{Circuit: breaker.New(cfg, dispatch.CircuitSnapshot(row))}
			c.known[k] = x
		}
		x.version, x.written = row.Version, x.Snapshot()
	}
	return nil
}

// counts is what a heartbeat says of one circuit.
type counts struct {
	OK      int64  `json:"ok"`
	Fail    int64  `json:"fail"`
	Streak  int    `json:"streak"`
	Tripped bool   `json:"tripped"`
	Error   string `json:"error"`
}

// report feeds the circuits.
func (w *Watch) report(ctx context.Context, now time.Time, rows []db.WorkersRow) error {
	c := w.circuits
	there := make(map[uuid.UUID]bool, len(rows))
	for i := range rows {
		row := &rows[i]
		there[row.ID] = true
		if len(row.Circuits) <= len("{}") {
			continue
		}
		c.workers[row.ID] = true
		var all map[string]counts
		if err := json.Unmarshal(row.Circuits, &all); err != nil {
			w.cfg.Logger.Error("a worker's report of its circuits cannot be read", "worker", row.ID, "err", err)
			continue
		}
		for name, n := range all {
			kind, rest, ok := strings.Cut(name, ":")
			if !ok {
				continue
			}
			k := circuitKey{row.Namespace, kind, rest}
			x, err := w.circuit(ctx, k)
			if err != nil {
				return err
			}
			if x != nil {
				x.Report(now, row.ID, breaker.Counts{OK: n.OK, Fail: n.Fail, Streak: n.Streak, Tripped: n.Tripped, Error: n.Error})
			}
		}
	}
	for id := range c.workers {
		if !there[id] {
			delete(c.workers, id)
			for _, x := range c.known {
				x.Forget(id)
			}
		}
	}
	return nil
}

// circuit finds or makes a circuit, with its present settings; nil: nobody declares it.
func (w *Watch) circuit(ctx context.Context, k circuitKey) (*circuit, error) {
	cfg, ok, err := w.settingsOf(ctx, k)
	if err != nil {
		return nil, err
	}
	x := w.circuits.known[k]
	switch {
	case !ok:
		return x, nil
	case x == nil:
		x = &circuit{Circuit: breaker.New(cfg, breaker.Snapshot{})}
		x.written = x.Snapshot()
		w.circuits.known[k] = x
	default:
		x.SetConfig(cfg)
	}
	return x, nil
}

// settingsOf finds what the flow's newest version says of a handler's breaker; a downstream's is the default.
func (w *Watch) settingsOf(ctx context.Context, k circuitKey) (stage.Breaker, bool, error) {
	if k.kind == downstreamCircuit {
		return stage.DefaultBreaker(), true, nil
	}
	flow, name, ok := strings.Cut(k.name, "/")
	if k.kind != handlerCircuit || !ok {
		return stage.Breaker{}, false, nil
	}
	f := flowKey{k.namespace, flow}
	spec, known := w.circuits.specs[f]
	if !known || w.cfg.Since(spec.at) > specsFor {
		var err error
		if spec, err = w.readSpecs(ctx, f); err != nil {
			return stage.Breaker{}, false, err
		}
		w.circuits.specs[f] = spec
	}
	b, declared := spec.stages[name]
	return b, declared, nil
}

func (w *Watch) readSpecs(ctx context.Context, f flowKey) (flowBreakers, error) {
	spec := flowBreakers{at: w.cfg.Now(), stages: make(map[string]stage.Breaker)}
	ids, err := w.q.FlowVersionIDs(ctx, db.FlowVersionIDsParams{Namespaces: []string{f.namespace}, Names: []string{f.flow}})
	if err != nil {
		return spec, fmt.Errorf("looking for flow %s: %w", f.flow, err)
	}
	for _, row := range ids {
		v, err := w.cfg.Versions.Get(ctx, w.q, row.VersionID)
		if w.cfg.Versions.Unreadable(err) {
			continue
		}
		if err != nil {
			return spec, err
		}
		for i := range v.Graph.Stages {
			if b := v.Graph.Stages[i].Breaker; b != nil {
				spec.stages[v.Graph.Stages[i].Name] = *b
			}
		}
	}
	return spec, nil
}

// saveCircuits writes the circuits that moved, fenced, each unless an operator has touched it since it was read; then it
// is adopted at the next look.
func (w *Watch) saveCircuits(ctx context.Context) (moved bool, err error) {
	p := db.SaveCircuitsParams{Actor: fmt.Sprintf("leader/%d", w.cfg.Fence.Epoch)}
	var keys []circuitKey
	for k, x := range w.circuits.known {
		s := x.Snapshot()
		if s == x.written || s.State == x.written.State && s.OpenedAt.Equal(x.written.OpenedAt) && s.Until.Equal(x.written.Until) {
			continue
		}
		keys = append(keys, k)
		p.Namespaces = append(p.Namespaces, k.namespace)
		p.Kinds = append(p.Kinds, k.kind)
		p.Names = append(p.Names, k.name)
		p.States = append(p.States, int16(s.State))
		p.Failures = append(p.Failures, int32(s.Failures))
		p.Opened = append(p.Opened, orEpoch(s.OpenedAt))
		p.Untils = append(p.Untils, orEpoch(s.Until))
		p.Errors = append(p.Errors, s.LastError)
		p.Reasons = append(p.Reasons, s.Reason)
		p.Versions = append(p.Versions, x.version)
		p.AuditIds = append(p.AuditIds, uuid.Must(uuid.NewV7()))
		p.Verbs = append(p.Verbs, verbs[s.State])
	}
	if len(keys) == 0 {
		return false, nil
	}
	var rows []db.SaveCircuitsRow
	to := pipe.New()
	_ = w.cfg.Fence.Hold(ctx, to.Queries)
	_, _ = to.SaveCircuits(ctx, p)
	pipe.Rows(to, &rows)
	if err := to.Send(ctx, w.cfg.Conn); err != nil {
		return false, fmt.Errorf("writing %d circuits: %w", len(keys), axsql.Fenced(err))
	}
	for _, row := range rows {
		k := circuitKey{row.Namespace, row.Kind, row.Name}
		x := w.circuits.known[k]
		x.version, x.written = row.Version, x.Snapshot()
		w.cfg.Stats.CircuitMoves.Add(1)
		w.cfg.Logger.Warn("circuit moved", "epoch", w.cfg.Fence.Epoch, "namespace", k.namespace, "circuit", k.kind+" "+k.name,
			"state", x.written.State, "failures", x.written.Failures, "err", x.written.LastError)
	}
	return len(rows) > 0, nil
}

// verbs name a circuit's moves in the audit, by the state that it moves to.
var verbs = [...]string{breaker.Closed: "close circuit", breaker.Open: "open circuit", breaker.HalfOpen: "probe circuit"}

// orEpoch stands for no time.
func orEpoch(t time.Time) time.Time {
	if t.IsZero() {
		return time.Unix(0, 0)
	}
	return t
}
