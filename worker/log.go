package worker

import (
	"context"
	"log/slog"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
)

// taskLog is what one execution of a task logs. It is made when the handler first asks for its logger.
type taskLog struct {
	w         *Worker
	run       uuid.UUID
	execution uuid.UUID
	worker    uuid.UUID
	ord       int16
	gen       int16
	attempt   int16
	delivery  int16
	shard     int32
	logger    *slog.Logger

	over   atomic.Bool // the handler has returned: nothing is stored any more
	mu     sync.Mutex
	allow  allowances
	seq    int32 // of the last line, dropped ones counted
	missed int32 // dropped, and not yet told by a line
}

// logLine is a line that waits to be stored.
type logLine struct {
	of            *taskLog
	id            uuid.UUID
	at            time.Time
	level         slog.Level
	seq, dropped  int32
	message, json string
}

func (l *logLine) bytes() int { return len(l.message) + len(l.json) + logLineBytes }

// logLineBytes is about what a line takes in memory beside its texts.
const logLineBytes = 160

// Logger is the handler's logger.
func (t *task) Logger() *slog.Logger {
	l := t.logs.Load()
	if l == nil {
		l = t.newLog()
		if !t.logs.CompareAndSwap(nil, l) {
			l = t.logs.Load()
		}
	}
	return l.logger
}

func (t *task) newLog() *taskLog {
	f := t.f
	w := f.pool.w
	c := &w.cfg.Logs
	l := &taskLog{w: w, run: f.Run, execution: f.ID, worker: f.worker, ord: f.Ord, gen: f.Generation, attempt: f.Attempt, delivery: f.Delivery,
		shard: t.index, allow: newAllowances(c.LinesPerSecond, c.Burst, w.clk.now())}
	h := &logHandler{l: l}
	if !c.Quiet {
		h.own = w.log.With(append(f.attrs(), "shard", t.index)...).Handler()
	}
	l.logger = slog.New(h)
	return l
}

// logHandler is the slog.Handler of a task's loggers: the first one and those that With and WithGroup make of it.
type logHandler struct {
	l   *taskLog
	own slog.Handler // the worker's logger with all that is known; nil: none
	// inside is the JSON of the attributes so far, as the inside of an object in which depth groups are open; groups are to be
	// opened once something is in them.
	inside []byte
	depth  int
	groups []string
}

// Enabled implements slog.Handler.
func (h *logHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.stores(level) || h.tells(ctx, level)
}

func (h *logHandler) stores(level slog.Level) bool {
	c := &h.l.w.cfg.Logs
	return !c.Off && level >= c.Level && !h.l.over.Load()
}

func (h *logHandler) tells(ctx context.Context, level slog.Level) bool {
	return h.own != nil && level >= h.l.w.cfg.Logs.OwnLevel && h.own.Enabled(ctx, level)
}

// Handle implements slog.Handler. The error is that of the worker's own logger.
func (h *logHandler) Handle(ctx context.Context, r slog.Record) error {
	if h.stores(r.Level) {
		if line, ok := h.l.admit(r.Level); ok {
			line.message, line.json = clean(r.Message, MaxLogMessage), h.encode(ctx, r)
			if !h.l.w.shipper.put(&line) {
				h.l.lost(line.dropped + 1)
			}
		}
	}
	if h.tells(ctx, r.Level) {
		return h.own.Handle(ctx, r)
	}
	return nil
}

// encode is the JSON of all attributes; "" for none.
func (h *logHandler) encode(ctx context.Context, r slog.Record) string {
	if r.NumAttrs() == 0 && len(h.inside) == 0 {
		return ""
	}
	buf := logBuffers.Get().(*[]byte) //nolint:errcheck // nothing else is put there
	b := append((*buf)[:0], h.inside...)
	plain := len(b)
	depth := h.depth
	if r.NumAttrs() > 0 {
		b = h.open(b)
		begin := len(b)
		if b = appendAttrs(ctx, b, r); len(b) == begin {
			b = b[:plain]
		} else {
			depth += len(h.groups)
		}
	}
	for range depth {
		b = append(b, '}')
	}
	text := tidyAttrs(b)
	if *buf = b; cap(b) <= 64<<10 {
		logBuffers.Put(buf)
	}
	return text
}

var logBuffers = sync.Pool{New: func() any { return new([]byte) }}

// open appends what comes before the next attributes.
func (h *logHandler) open(b []byte) []byte {
	b = joinAttrs(b)
	for _, g := range h.groups {
		b = append(appendName(b, g), ':', '{')
	}
	return b
}

// WithAttrs implements slog.Handler.
func (h *logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	if len(attrs) == 0 {
		return h
	}
	next := *h
	if h.own != nil {
		next.own = h.own.WithAttrs(attrs)
	}
	var r slog.Record
	r.AddAttrs(attrs...)
	b := h.open(append([]byte(nil), h.inside...))
	begin := len(b)
	if b = appendAttrs(context.Background(), b, r); len(b) > begin {
		next.inside, next.depth, next.groups = b, h.depth+len(h.groups), nil
	}
	return &next
}

// WithGroup implements slog.Handler.
func (h *logHandler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	next := *h
	if h.own != nil {
		next.own = h.own.WithGroup(name)
	}
	next.groups = append(h.groups[:len(h.groups):len(h.groups)], name)
	return &next
}

// admit numbers a line and tells whether the execution's allowance has room for it. What is dropped is counted.
func (l *taskLog) admit(level slog.Level) (line logLine, ok bool) {
	clk := l.w.clk
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over.Load() {
		return line, false
	}
	now := clk.now()
	l.seq++
	if !l.allow.take(level, now) {
		l.missed++
		l.w.count.logsDropped.Add(1)
		return line, false
	}
	line = logLine{of: l, at: clk.db(now), level: level, seq: l.seq, dropped: l.missed}
	line.id = l.w.shipper.mint.MintAt(line.at)
	l.missed = 0
	return line, true
}

// lost counts lines that were admitted and found no room after all; n includes what the line had to tell of others.
func (l *taskLog) lost(n int32) {
	l.w.count.logsDropped.Add(1)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over.Load() { // its last line is written
		l.w.shipper.unknown.Add(int64(n))
		return
	}
	l.missed += n
}

// end ends the log with the handler: what was dropped since the last line gets a line of its own.
func (l *taskLog) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over.Swap(true) || l.missed == 0 {
		return
	}
	line := logLine{of: l, at: l.w.clk.db(l.w.clk.now()), level: slog.LevelWarn, seq: l.seq, dropped: l.missed,
		message: "lines were dropped: this task logged faster than is kept"}
	line.id = l.w.shipper.mint.MintAt(line.at)
	if !l.w.shipper.putLast(&line) {
		l.w.shipper.unknown.Add(int64(l.missed))
	}
}

func clampLevel(l slog.Level) int16 { return int16(max(math.MinInt16, min(math.MaxInt16, l))) }
