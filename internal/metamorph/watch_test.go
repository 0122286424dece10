package metamorph

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"axflow/shard"
	"axflow/sql/span"
)

// flightFact is one row of ax.flight.
type flightFact struct {
	id         uuid.UUID
	run        uuid.UUID
	flow       string
	ord        int
	par        int
	kind       int16
	queue, key string
	todo       shard.Set
}

// watch looks again and again whether more runs at once than limits allow.
func (c *cluster) watch(ctx context.Context) {
	for ctx.Err() == nil {
		early := c.book.runs()
		flights, err := c.flights(ctx)
		late := c.book.runs()
		if err == nil {
			c.limits(flights, early, late)
		}
		rest(ctx, 15*time.Millisecond)
	}
}

func (c *cluster) flights(ctx context.Context) ([]flightFact, error) {
	rows, err := c.pool.Query(ctx, `SELECT f.id, f.run_id, v.flow, f.ord, f.par, f.kind, f.queue, coalesce(f.key, ''), f.todo::text
		FROM ax.flight f JOIN ax.flow_version v ON v.id = f.version_id`)
	if err != nil {
		return nil, err
	}
	var all []flightFact
	var f flightFact
	var todo string
	_, err = pgx.ForEachRow(rows, []any{&f.id, &f.run, &f.flow, &f.ord, &f.par, &f.kind, &f.queue, &f.key, &todo}, func() (err error) {
		f.todo, err = shard.ParseSet(todo)
		all = append(all, f)
		return err
	})
	return all, err
}

// limits compares what is owned, and what runs of it, with the limits. Zombies own nothing: they do not count.
func (c *cluster) limits(flights []flightFact, early, late map[execution]bool) {
	type scope struct{ kind, name string }
	owned, running, limit := make(map[scope]int), make(map[scope]int), make(map[scope]int)
	for _, f := range flights {
		if f.kind == int16(span.Plan) {
			continue
		}
		spec := c.s.flow(f.flow)
		s := spec.stage(c.flows[f.flow].Graph().Stages[f.ord].Name)
		var scopes []scope
		if s.Limit > 0 {
			x := scope{"stage", f.flow + "/" + s.Name}
			scopes, limit[x] = append(scopes, x), s.Limit
		}
		if s.Key != nil && s.Key.Limit > 0 {
			x := scope{"key", f.key}
			if f.key == "" {
				c.fault("a flight of stage %s/%s has no key", f.flow, s.Name)
			}
			scopes = append(scopes, x)
			limit[x] = max(limit[x], s.Key.Limit) // stages of one group may differ
		}
		for _, q := range c.s.queues {
			if q.Name == f.queue && q.Concurrency > 0 {
				x := scope{"queue", q.Name}
				scopes, limit[x] = append(scopes, x), q.Concurrency
			}
		}
		for _, x := range scopes {
			owned[x] += min(f.par, f.todo.Len())
			for i := range f.todo.All() {
				if e := (execution{f.id, i}); early[e] && late[e] {
					running[x]++
				}
			}
		}
	}
	for x, n := range owned {
		if n > limit[x] {
			c.fault("%s %s: %d tasks are owned at once, the limit is %d", x.kind, x.name, n, limit[x])
		}
	}
	for x, n := range running {
		if n > limit[x] {
			c.fault("%s %s: %d handlers of owned tasks run at once, the limit is %d", x.kind, x.name, n, limit[x])
		}
	}
}
