package control

import (
	"context"
	"fmt"

	"axflow/sql/db"
)

// Circuits lists the circuit breakers that are not closed or have been opened before.
func (c *Client) Circuits(ctx context.Context) ([]Circuit, error) {
	rows, err := c.q.CircuitsOf(ctx, c.cfg.Namespace)
	if err != nil {
		return nil, fmt.Errorf("reading circuits: %w", err)
	}
	all := make([]Circuit, len(rows))
	for i, r := range rows {
		all[i] = Circuit{Kind: CircuitKind(r.Kind), Name: r.Name, State: circuitState(r.State), Manual: r.Manual, Failures: int(r.Failures),
			OpenedAt: r.OpenedAt, Until: r.Until, LastError: r.LastError, Actor: r.Actor, Reason: r.Reason, Version: int(r.Version), UpdatedAt: r.UpdatedAt}
	}
	return all, nil
}

func circuitState(n int16) string {
	names := [...]string{"closed", "open", "half-open"}
	if n < 0 || int(n) >= len(names) {
		return fmt.Sprintf("unknown(%d)", n)
	}
	return names[n]
}

// OpenCircuit opens a circuit by hand: its work waits until CloseCircuit. One that is open by hand already is left alone.
func (c *Client) OpenCircuit(ctx context.Context, kind CircuitKind, name string, who Who) ([]Touch, error) {
	if err := checkCircuit(kind, name); err != nil {
		return nil, err
	}
	return c.admin(ctx, "open_circuit", "circuit/"+string(kind)+"/"+name, who, func(ctx context.Context, q *db.Queries) ([]Touch, map[string]any, error) {
		rows, err := q.OpenCircuit(ctx, db.OpenCircuitParams{Namespace: c.cfg.Namespace, Kind: string(kind), Name: name, Actor: who.Actor, Reason: who.Reason})
		if err != nil || len(rows) == 0 {
			return nil, nil, err
		}
		return says(fmt.Sprintf("circuit of %s %s is open until it is closed by hand", kind, name)), nil, nil
	})
}

// CloseCircuit closes a circuit, whoever opened it. One that is closed is left alone.
func (c *Client) CloseCircuit(ctx context.Context, kind CircuitKind, name string, who Who) ([]Touch, error) {
	if err := checkCircuit(kind, name); err != nil {
		return nil, err
	}
	return c.admin(ctx, "close_circuit", "circuit/"+string(kind)+"/"+name, who, func(ctx context.Context, q *db.Queries) ([]Touch, map[string]any, error) {
		rows, err := q.CloseCircuit(ctx, db.CloseCircuitParams{Namespace: c.cfg.Namespace, Kind: string(kind), Name: name, Actor: who.Actor, Reason: who.Reason})
		if err != nil || len(rows) == 0 {
			return nil, nil, err
		}
		return says(fmt.Sprintf("circuit of %s %s is closed", kind, name)), nil, nil
	})
}

func checkCircuit(kind CircuitKind, name string) error {
	switch {
	case kind != CircuitHandler && kind != CircuitDownstream:
		return &Error{Code: CodeInvalid, Text: fmt.Sprintf("%q is no kind of circuit: use %q or %q", kind, CircuitHandler, CircuitDownstream)}
	case name == "":
		return &Error{Code: CodeInvalid, Text: "the circuit has no name: a handler's is flow/stage, a downstream's what the stages call it"}
	}
	return nil
}
