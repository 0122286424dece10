package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"axflow/engine/dispatch"
	"axflow/engine/resolve"
	axsql "axflow/sql"
	"axflow/sql/db"
	"axflow/sql/hint"
)

const (
	scanPage = 500
	// partitionsEvery is how often partitions of the coming days are made and those past their retention dropped.
	partitionsEvery = time.Hour
	// keysAtOnce bounds how many expired idempotency keys are deleted at a time.
	keysAtOnce = 10_000
)

// scanner runs the full scan: the fallback that finds what every event may have missed.
type scanner struct {
	conn         leaderConn
	fence        axsql.Fence
	resolver     *resolve.Resolver
	every        time.Duration
	retention    time.Duration
	logRetention time.Duration // 0: as long as the runs
	look         <-chan struct{}
	box          *hint.Box[hint.Engine]
	bus          *hint.Bus
	orphans      orphans
	stats        *dispatch.Stats
	logger       *slog.Logger
	partitions   time.Time
}

// Run scans at once, at every interval and when asked, until ctx ends (nil), the term is over, or the
// connection is lost.
func (s *scanner) Run(ctx context.Context) error {
	var tick <-chan time.Time
	if s.every > 0 {
		ticker := time.NewTicker(s.every)
		defer ticker.Stop()
		tick = ticker.C
	}
	for {
		err := s.scan(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, axsql.ErrFenced), err != nil && s.conn.IsClosed():
			return err
		case err != nil:
			s.logger.Error("the full scan failed", "epoch", s.fence.Epoch, "err", err)
			s.stats.Faults.Add(1)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick:
		case <-s.look:
		}
	}
}

func (s *scanner) scan(ctx context.Context) error {
	if time.Since(s.partitions) > partitionsEvery {
		if err := s.turnDays(ctx); err != nil {
			return err
		}
		s.partitions = time.Now()
	}
	found, err := s.resolver.Scan(ctx, s.conn, scanPage)
	s.stats.Scans.Add(1)
	if found.Repaired > 0 {
		s.stats.Repaired.Add(uint64(found.Repaired))
		s.logger.Warn("the full scan repaired what events missed", "epoch", s.fence.Epoch, "repaired", found.Repaired, "runs", found.Runs)
	}
	if stages := slices.Concat(found.Stages, found.Aligned); len(found.Ready)+len(stages) > 0 {
		s.box.Put(hint.Engine{Ready: found.Ready, Stages: stages})
	}
	for _, id := range found.Asked {
		s.bus.ToWorker(id, hint.Worker{Asks: true})
	}
	if len(found.Ended) > 0 {
		s.bus.RunsEnded(found.Ended)
	}
	if err != nil {
		return err
	}
	return s.orphans.cancel(ctx, found.Orphans)
}

// turnDays makes the partitions of the coming days and drops what is past its retention.
func (s *scanner) turnDays(ctx context.Context) error {
	now, err := db.New(s.conn).Now(ctx)
	if err != nil {
		return fmt.Errorf("reading the database's clock: %w", err)
	}
	if err := axsql.EnsurePartitions(ctx, s.conn, now, axsql.DefaultAhead); err != nil {
		return err
	}
	if _, err := db.New(s.conn).DropExpiredKeys(ctx, keysAtOnce); err != nil {
		return fmt.Errorf("deleting expired idempotency keys: %w", err)
	}
	if _, err := db.New(s.conn).DropRates(ctx); err != nil {
		return fmt.Errorf("deleting start rates whose windows are over: %w", err)
	}
	if s.logRetention > 0 {
		if _, err := axsql.RetainLogs(ctx, s.conn, now.Add(-s.logRetention)); err != nil {
			s.logger.Warn("dropping old logs failed; it is tried again", "epoch", s.fence.Epoch, "err", err)
		}
	}
	if s.retention < 0 {
		return nil
	}
	dropped, err := axsql.Retain(ctx, s.conn, now.Add(-s.retention))
	for _, day := range dropped {
		s.logger.Info("runs past their retention are dropped", "day", day.Format(time.DateOnly), "epoch", s.fence.Epoch)
	}
	if err != nil {
		// Old runs may stay for another hour; what is open may not wait for them.
		s.logger.Warn("dropping old runs failed; it is tried again", "epoch", s.fence.Epoch, "err", err)
	}
	return nil
}
