package engine

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"axflow/engine/dispatch"
	"axflow/engine/resolve"
	axsql "axflow/sql"
	"axflow/sql/hint"
)

const (
	scanPage = 500
	// partitionsEvery is how often partitions of the coming days are made.
	partitionsEvery = time.Hour
)

// scanner runs the full scan: the fallback that finds what every event may have missed.
type scanner struct {
	conn       dispatch.Conn
	fence      axsql.Fence
	resolver   *resolve.Resolver
	every      time.Duration
	look       <-chan struct{}
	box        *hint.Box[hint.Engine]
	bus        *hint.Bus
	stats      *dispatch.Stats
	logger     *slog.Logger
	partitions time.Time
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
		if err := axsql.EnsurePartitions(ctx, s.conn, time.Now(), axsql.DefaultAhead); err != nil {
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
	if len(found.Ready)+len(found.Aligned) > 0 {
		s.box.Put(hint.Engine{Ready: found.Ready, Stages: found.Aligned})
	}
	if len(found.Ended) > 0 {
		s.bus.RunsEnded(found.Ended)
	}
	return err
}
