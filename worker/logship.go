package worker

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"axflow/internal/uuid7"
	axsql "axflow/sql"
	"axflow/sql/db"
)

const (
	logAttemptLimit = 10 * time.Second // of one insert
	logIdle         = time.Minute      // after which the connection is closed
	logBatchBytes   = 1 << 20          // in one insert
	// lastLogs bounds the lines that tell at the end of a task what was dropped, beyond all other bounds.
	lastLogs = 1000
)

// shipper stores what handlers log. It has one connection of its own, open while there is something to store, so that it
// neither waits for the pool nor keeps others waiting; whatever has come while one insert was under way makes the next. While the
// database cannot be reached lines wait, up to the bounds of LogConfig; then they are dropped and counted.
type shipper struct {
	w       *Worker
	mint    *uuid7.Minter
	conn    *pgx.Conn
	wake    chan struct{}
	unknown atomic.Int64 // dropped, and no line can tell it any more

	mu     sync.Mutex
	lines  []logLine
	held   int // lines that wait or are being stored
	bytes  int // theirs
	allow  allowances
	closed bool // nothing is taken on
}

func newShipper(w *Worker) *shipper {
	s := &shipper{w: w, wake: make(chan struct{}, 1)}
	s.mint = uuid7.New(func() time.Time { return w.clk.db(w.clk.now()) }, nil)
	s.allow = newAllowances(w.cfg.Logs.WorkerLinesPerSecond, 2*w.cfg.Logs.WorkerLinesPerSecond, w.clk.now())
	return s
}

// put takes a line, unless the worker logs too much or too much waits.
func (s *shipper) put(line *logLine) bool {
	c := &s.w.cfg.Logs
	lines, bytes := c.Lines, c.Bytes
	if line.level < slog.LevelWarn {
		lines, bytes = lines-lines/4, bytes-bytes/4
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.held >= lines || s.bytes+line.bytes() > bytes || !s.allow.take(line.level, s.w.clk.now()) {
		return false
	}
	s.add(line)
	return true
}

// putLast takes the line that ends a task's log, which the bounds do not hold back until there are very many.
func (s *shipper) putLast(line *logLine) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.held >= s.w.cfg.Logs.Lines+lastLogs {
		return false
	}
	s.add(line)
	return true
}

func (s *shipper) add(line *logLine) {
	s.lines = append(s.lines, *line)
	s.held++
	s.bytes += line.bytes()
	if n := len(s.lines); n == 1 || n == s.w.cfg.Logs.Batch {
		s.signal()
	}
}

func (s *shipper) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// close takes nothing more on: run stores what waits and ends.
func (s *shipper) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.signal()
}

// run stores lines until the shipper is closed and empty, or ctx ends.
func (s *shipper) run(ctx context.Context) {
	defer s.disconnect()
	var spare []logLine
	for s.wait(ctx) {
		s.mu.Lock()
		lines := s.lines
		s.lines = spare[:0]
		s.mu.Unlock()
		for rest := lines; len(rest) > 0 && ctx.Err() == nil; {
			n := s.portion(rest)
			s.store(ctx, rest[:n])
			rest = rest[n:]
		}
		clear(lines) // texts must not be kept alive
		spare = lines
		s.confess()
	}
	s.mu.Lock()
	left := s.held
	s.closed = true
	s.mu.Unlock()
	s.unknown.Add(int64(left))
	s.w.count.logsDropped.Add(uint64(left))
	s.confess()
}

// wait waits until it is time to store; false when it is over.
func (s *shipper) wait(ctx context.Context) bool {
	timer := time.NewTimer(logIdle)
	defer timer.Stop()
	flush := false // a line is there and waits for others
	for {
		s.mu.Lock()
		n, closed := len(s.lines), s.closed
		s.mu.Unlock()
		switch {
		case ctx.Err() != nil, closed && n == 0:
			return false
		case closed, n >= s.w.cfg.Logs.Batch:
			return true
		case n > 0 && !flush:
			flush = true
			timer.Reset(s.w.cfg.Logs.Flush)
		}
		select {
		case <-ctx.Done():
		case <-s.wake:
		case <-timer.C:
			if flush {
				return true
			}
			s.disconnect()
		}
	}
}

// portion is how many lines the next insert takes.
func (s *shipper) portion(lines []logLine) int {
	size := 0
	for i := range lines {
		if size += lines[i].bytes(); i > 0 && (i == s.w.cfg.Logs.Batch || size > logBatchBytes) {
			return i
		}
	}
	return len(lines)
}

// store stores lines, trying again until the database takes them or ctx ends. Lines that it refuses are found by halving and dropped.
func (s *shipper) store(ctx context.Context, lines []logLine) {
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, 5*time.Second) {
		err := s.insert(ctx, lines)
		switch {
		case err == nil:
			s.w.count.logs.Add(uint64(len(lines)))
			s.release(lines)
			return
		case ctx.Err() != nil:
			return // run counts what is held
		case poisonous(err, s.conn) || gone(err):
			if half := len(lines) / 2; half > 0 {
				s.store(ctx, lines[:half])
				s.store(ctx, lines[half:])
				return
			}
			s.refused(&lines[0], err)
			return
		}
		s.disconnect()
		s.w.count.logFaults.Add(1)
		if pause == 50*time.Millisecond {
			s.w.log.Warn("storing what handlers log failed; it is repeated, and what does not fit meanwhile is dropped", "worker", s.w.ID(), "lines", len(lines), "err", err)
		}
		s.w.pause(ctx, pause)
		s.confess()
	}
}

// release makes room for as many others.
func (s *shipper) release(lines []logLine) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range lines {
		s.bytes -= lines[i].bytes()
	}
	s.held -= len(lines)
}

// refused drops a line that the database does not take.
func (s *shipper) refused(line *logLine, err error) {
	s.w.log.Error("a line that a handler logged is refused by the database and dropped", "worker", line.of.worker, "run", line.of.run, "stage", line.of.ord,
		"shard", line.of.shard, "err", err)
	s.release([]logLine{*line})
	line.of.lost(line.dropped + 1)
}

// confess tells the worker's log what no line can tell.
func (s *shipper) confess() {
	if n := s.unknown.Swap(0); n > 0 {
		s.w.log.Warn("lines that handlers logged were dropped, and their tasks have ended", "worker", s.w.ID(), "lines", n)
	}
}

func (s *shipper) connect(ctx context.Context) error {
	if s.conn != nil && !s.conn.IsClosed() {
		return nil
	}
	cfg := s.w.cfg.ConnConfig.Copy()
	cfg.RuntimeParams["synchronous_commit"] = "off"
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return fmt.Errorf("connecting: %w", err)
	}
	axsql.Register(conn.TypeMap())
	s.conn = conn
	return nil
}

func (s *shipper) disconnect() {
	if s.conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = s.conn.Close(ctx) // nothing is open on it, or it is broken
	s.conn = nil
}

// insert stores lines in one round trip. Doing it again, because the answer was lost, changes nothing.
func (s *shipper) insert(ctx context.Context, lines []logLine) error {
	ctx, cancel := context.WithTimeout(ctx, logAttemptLimit)
	defer cancel()
	if err := s.connect(ctx); err != nil {
		return err
	}
	n := len(lines)
	ids := make([]uuid.UUID, 4*n)
	ints := make([]int32, 3*n)
	shorts := make([]int16, 5*n)
	texts := make([]string, 2*n)
	p := db.InsertLogsParams{RunIds: ids[:n], Ids: ids[n : 2*n], ExecutionIds: ids[2*n : 3*n], WorkerIds: ids[3*n:], Ats: make([]time.Time, n),
		Shards: ints[:n], Seqs: ints[n : 2*n], Drops: ints[2*n:], Ords: shorts[:n], Generations: shorts[n : 2*n], Attempts: shorts[2*n : 3*n],
		Deliveries: shorts[3*n : 4*n], Levels: shorts[4*n:], Messages: texts[:n], Attributes: texts[n:]}
	for i := range lines {
		l := &lines[i]
		p.RunIds[i], p.Ids[i], p.ExecutionIds[i], p.WorkerIds[i], p.Ats[i] = l.of.run, l.id, l.of.execution, l.of.worker, l.at
		p.Shards[i], p.Seqs[i], p.Drops[i], p.Ords[i], p.Generations[i] = l.of.shard, l.seq, l.dropped, l.of.ord, l.of.gen
		p.Attempts[i], p.Deliveries[i], p.Levels[i], p.Messages[i], p.Attributes[i] = l.of.attempt, l.of.delivery, clampLevel(l.level), l.message, l.json
	}
	if err := db.New(s.conn).InsertLogs(ctx, p); err != nil {
		return fmt.Errorf("storing %d lines: %w", n, err)
	}
	return nil
}
