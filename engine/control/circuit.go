package control

import (
	"context"
	"fmt"
	"strings"

	"axflow/sql/db"
	"axflow/stage"
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
	invalid := func(field, format string, args ...any) error {
		return &Error{Code: CodeInvalid, Field: field, Text: fmt.Sprintf(format, args...)}
	}
	switch {
	case name == "":
		return invalid("/name", "the circuit has no name: a handler's is flow/stage, a downstream's what the stages call it")
	case kind == CircuitDownstream:
		if err := stage.CheckName("downstream", name); err != nil {
			return invalid("/name", "%v", err)
		}
	case kind == CircuitHandler:
		flowName, stageName, ok := strings.Cut(name, "/")
		if !ok {
			return invalid("/name", "the circuit %q has no stage: a handler's name is flow/stage", name)
		}
		if _, err := handlerName(flowName, stageName); err != nil {
			return invalid("/name", "%v", err)
		}
	default:
		return invalid("/kind", "%q is no kind of circuit: use %q or %q", kind, CircuitHandler, CircuitDownstream)
	}
	return nil
}
