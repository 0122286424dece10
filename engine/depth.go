package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"axflow/engine/dispatch"
	"axflow/engine/pressure"
	axsql "axflow/sql"
	"axflow/sql/db"
	"axflow/sql/hint"
	"axflow/sql/pipe"
)

const (
	// countEvery is how often the depth of queues with a capacity is counted, and so how long starters may go by an
	// older one.
	countEvery = time.Second
	// countShare bounds the share of the time that is spent counting: where a count takes long, the next one waits.
	countShare = 10
)

// gauge counts what queues with a capacity hold, decides how full they are considered to be, and publishes both: to
// those who start runs, and to the dispatcher. The state is in the table, so that it outlasts the leader.
type gauge struct {
	conn   leaderConn
	fence  axsql.Fence
	box    *hint.Box[hint.Engine]
	stats  *dispatch.Stats
	logger *slog.Logger
}

// Run counts at once and every second until ctx ends (nil), the term is over, or the connection is lost.
func (g *gauge) Run(ctx context.Context) error {
	wait := time.NewTimer(0)
	defer wait.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-wait.C:
		}
		began := time.Now()
		err := g.count(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, axsql.ErrFenced), err != nil && g.conn.IsClosed():
			return err
		case err != nil:
			g.logger.Error("counting the queues failed", "epoch", g.fence.Epoch, "err", err)
			g.stats.Faults.Add(1)
		}
		wait.Reset(max(countEvery, countShare*time.Since(began)))
	}
}

func (g *gauge) count(ctx context.Context) error {
	q := db.New(g.conn)
	queues, err := q.QueueDepths(ctx)
	if err != nil {
		return fmt.Errorf("counting what is ready: %w", err)
	}
	if len(queues) == 0 {
		return nil
	}
	settings, err := q.Settings(ctx)
	if err != nil {
		return fmt.Errorf("reading the settings: %w", err)
	}
	flights, err := q.QueueFlights(ctx)
	if err != nil {
		return fmt.Errorf("counting what is in flight: %w", err)
	}
	type key struct{ namespace, queue string }
	flying := make(map[key]int64, len(flights))
	for _, f := range flights {
		flying[key{f.Namespace, f.Queue}] = f.Tasks
	}
	on := dispatch.ReadSwitches(settings).On(dispatch.SwitchPressure)
	var p db.PublishQueuesParams
	moved := false
	for i := range queues {
		row := &queues[i]
		depth := row.Ready + flying[key{row.Namespace, row.Name}]
		cfg := pressure.Config{Alert: float64(row.AlertAt), Refuse: float64(row.RefuseAt), Pause: float64(row.PauseAt), Resume: float64(row.ResumeAt)}
		level := pressure.Normal
		if on {
			level = cfg.Step(pressure.Level(row.Pressure), depth, int64(*row.Capacity))
			if level == pressure.Pause && !row.Urgent {
				level = pressure.Refuse // low levels make way for others: alone, they would wait for themselves
			}
		}
		if level != pressure.Level(row.Pressure) {
			moved = true
			g.stats.PressureMoves.Add(1)
			g.logger.Warn("pressure of a queue changed", "epoch", g.fence.Epoch, "namespace", row.Namespace, "queue", row.Name,
				"pressure", level, "depth", depth, "capacity", *row.Capacity)
		}
		p.Namespaces = append(p.Namespaces, row.Namespace)
		p.Names = append(p.Names, row.Name)
		p.Depths = append(p.Depths, depth)
		p.Pressures = append(p.Pressures, int16(level))
	}
	to := pipe.New()
	_ = g.fence.Hold(ctx, to.Queries)
	_ = to.PublishQueues(ctx, p)
	if err := to.Send(ctx, g.conn); err != nil {
		return fmt.Errorf("publishing the depth of %d queues: %w", len(queues), axsql.Fenced(err))
	}
	if moved {
		g.box.Put(hint.Engine{Policies: true})
	}
	return nil
}
