package control

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"axflow/sql/db"
	"axflow/stage"
)

// MaxPool is the greatest number of slots of one handler in one worker.
const MaxPool = 10_000

func compare(a, b string) int { return strings.Compare(a, b) }

// SetPool sets how many slots each worker has for a handler, from 1 to MaxPool; workers follow with their next heartbeat.
// The stage need not be known yet.
func (c *Client) SetPool(ctx context.Context, flowName, stageName string, slots int, who Who) ([]Touch, error) {
	if slots < 1 || slots > MaxPool {
		return nil, &Error{Code: CodeInvalid, Field: "/slots", Text: fmt.Sprintf("a pool of %d slots: use 1 to %d; to stop a handler pause its flow", slots, MaxPool)}
	}
	handler, err := handlerName(flowName, stageName)
	if err != nil {
		return nil, err
	}
	return c.admin(ctx, "set_pool", "pool/"+handler, who, func(ctx context.Context, q *db.Queries) ([]Touch, map[string]any, error) {
		rows, err := q.SetPool(ctx, db.SetPoolParams{Namespace: c.cfg.Namespace, Handler: handler, Slots: int32(slots), Actor: who.Actor})
		if err != nil || len(rows) == 0 {
			return nil, nil, err
		}
		return says(fmt.Sprintf("pool %s: %d slots a worker", handler, slots)), map[string]any{"slots": slots}, nil
	})
}

// ClearPool leaves the number of slots to the workers again.
func (c *Client) ClearPool(ctx context.Context, flowName, stageName string, who Who) ([]Touch, error) {
	handler, err := handlerName(flowName, stageName)
	if err != nil {
		return nil, err
	}
	return c.admin(ctx, "clear_pool", "pool/"+handler, who, func(ctx context.Context, q *db.Queries) ([]Touch, map[string]any, error) {
		n, err := q.DeletePool(ctx, db.DeletePoolParams{Namespace: c.cfg.Namespace, Handler: handler})
		if err != nil || n == 0 {
			return nil, nil, err
		}
		return says(fmt.Sprintf("pool %s: as the workers say", handler)), nil, nil
	})
}

// handlerName is flow/stage, as pools and circuits call a handler.
func handlerName(flowName, stageName string) (string, error) {
	if err := stage.CheckName("flow", flowName); err != nil {
		return "", &Error{Code: CodeInvalid, Text: err.Error()}
	}
	if err := stage.CheckName("stage", stageName); err != nil {
		return "", &Error{Code: CodeInvalid, Text: err.Error()}
	}
	return flowName + "/" + stageName, nil
}

// Pools lists the pools of all live workers, by handler, and what operators have set.
func (c *Client) Pools(ctx context.Context) ([]Pool, error) {
	all := make(map[[2]string]*Pool)
	at := func(flowName, stageName string) *Pool {
		k := [2]string{flowName, stageName}
		if all[k] == nil {
			all[k] = &Pool{Flow: flowName, Stage: stageName}
		}
		return all[k]
	}
	set, err := c.q.SetPools(ctx, c.cfg.Namespace)
	if err != nil {
		return nil, fmt.Errorf("reading pools: %w", err)
	}
	for _, r := range set {
		flowName, stageName, _ := strings.Cut(r.Handler, "/")
		p := at(flowName, stageName)
		p.Set, p.SetBy = int(r.Slots), r.Actor
	}
	workers, err := c.Workers(ctx)
	if err != nil {
		return nil, err
	}
	for _, w := range workers {
		for key, slots := range w.Handlers {
			name, _, _ := strings.Cut(key, "@")
			flowName, stageName, _ := strings.Cut(name, "/")
			p := at(flowName, stageName)
			p.Workers++
			p.Slots += slots
		}
	}
	busy, err := c.q.StageBusy(ctx, c.cfg.Namespace)
	if err != nil {
		return nil, fmt.Errorf("counting what runs: %w", err)
	}
	for _, r := range busy {
		v, err := c.cfg.Versions.Get(ctx, c.q, r.VersionID)
		if err != nil {
			return nil, err
		}
		at(v.Flow, v.Graph.Stages[r.Ord].Name).Busy += int(r.Running)
	}
	pools := make([]Pool, 0, len(all))
	for _, p := range all {
		if p.Slots > 0 {
			p.Share = float64(p.Busy) / float64(p.Slots)
			p.Flagged = p.Share > BusyShare
		}
		pools = append(pools, *p)
	}
	slices.SortFunc(pools, func(a, b Pool) int { return cmp.Or(compare(a.Flow, b.Flow), compare(a.Stage, b.Stage)) })
	return pools, nil
}

// Workers lists the namespace's workers, oldest first.
func (c *Client) Workers(ctx context.Context) ([]Worker, error) {
	rows, err := c.q.NamespaceWorkers(ctx, c.cfg.Namespace)
	if err != nil {
		return nil, fmt.Errorf("reading workers: %w", err)
	}
	workers := make([]Worker, len(rows))
	for i, r := range rows {
		w := Worker{ID: r.ID, Host: r.Host, PID: int(r.Pid), State: "active", StartedAt: r.StartedAt, SeenAt: r.SeenAt, CPU: float64(r.Cpu),
			Memory: float64(r.Memory), Urgent: int(r.Urgent), Labels: r.Labels, Flights: int(r.Flights), Tasks: int(r.Tasks)}
		if r.State == 1 {
			w.State = "draining"
		}
		if err := json.Unmarshal(r.Handlers, &w.Handlers); err != nil {
			return nil, fmt.Errorf("reading the handlers of worker %s: %w", r.ID, err)
		}
		workers[i] = w
	}
	return workers, nil
}
