package metamorph

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"axflow/engine/control"
	"axflow/flow"
	"axflow/internal/pgtest"
	axsql "axflow/sql"
	"axflow/sql/hint"
)

// patience is how long a phase may take. Nothing but a fault of AX's reaches it.
const patience = 60 * time.Second

// cluster is one scenario at work: a database, engines, workers, a client.
type cluster struct {
	s           *scenario
	url         string
	ctx         context.Context
	pool        *pgxpool.Pool
	client      *control.Client
	logger      *slog.Logger
	definitions []flow.Definition
	flows       map[string]*flow.Flow[params]
	book        *book
	serial      atomic.Int64
	members     sync.WaitGroup
	began       time.Time

	mu      sync.Mutex
	engines []*member
	workers []*member
	runs    map[int]uuid.UUID
	numbers map[uuid.UUID]int
	applied map[int][]applied // verbs of this phase that were accepted, by run
	known   map[int]*runFacts // what was found at the end of the last phase
	holds   []hold
	lines   []string
	faults  []string
	mended  []func() // what ends the faults that still last
	counts  tally
}

// applied is a verb that was accepted.
type applied struct {
	op    op
	quiet bool
}

// tally counts what scenarios did, to show that they do something.
type tally struct{ runs, results, retries, seized, terms, verbs, refused, unreached int }

// note writes a line of the log.
func (c *cluster) note(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lines = append(c.lines, fmt.Sprintf("%8.3fs ", time.Since(c.began).Seconds())+fmt.Sprintf(format, args...))
}

// fault notes what contradicts AX's promises.
func (c *cluster) fault(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	c.mu.Lock()
	known := slices.Contains(c.faults, text)
	if !known {
		c.faults = append(c.faults, text)
	}
	c.mu.Unlock()
	if !known {
		c.note("FAULT %s", text)
	}
}

// Write takes what the parts log.
func (c *cluster) Write(p []byte) (int, error) {
	text := strings.TrimSpace(string(p))
	if _, after, ok := strings.Cut(text, " level="); ok {
		text = after
	}
	c.note("  | %s", text)
	return len(p), nil
}

// outcome is what a run of a scenario came to.
type outcome struct {
	faults []string
	log    []string
	counts tally
}

func play(t *testing.T, s *scenario) outcome {
	t.Helper()
	d := pgtest.New(t, pgtest.Pool(func(cfg *pgxpool.Config) { axsql.ConfigurePool(cfg); cfg.MaxConns = 8 }))
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	c := &cluster{s: s, url: d.URL, ctx: ctx, pool: d.Pool, book: newBook(), began: time.Now(), flows: make(map[string]*flow.Flow[params]),
		runs: make(map[int]uuid.UUID), numbers: make(map[uuid.UUID]int), known: make(map[int]*runFacts)}
	c.logger = slog.New(slog.NewTextHandler(c, &slog.HandlerOptions{Level: logLevel}))
	if err := c.play(); err != nil {
		c.fault("the scenario could not be played: %v", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return outcome{c.faults, c.lines, c.counts}
}

func (c *cluster) play() error {
	for i := range c.s.flows {
		f, err := c.build(&c.s.flows[i])
		if err != nil {
			return err
		}
		c.flows[f.Name()] = f
		c.definitions = append(c.definitions, f)
	}
	// The client has a bus of its own, as a process has.
	bus, err := hint.New(hint.Config{ConnConfig: c.pool.Config().ConnConfig, Logger: c.logger})
	if err != nil {
		return err
	}
	busCtx, stopBus := context.WithCancel(c.ctx)
	var service sync.WaitGroup
	service.Go(func() {
		if err := bus.Run(busCtx); err != nil {
			c.fault("the client's bus: %v", err)
		}
	})
	defer service.Wait()
	defer stopBus()
	if c.client, err = control.NewClient(c.ctx, control.Config{Pool: c.pool, Bus: bus, Poll: 100 * time.Millisecond}); err != nil {
		return err
	}
	if err := c.configure(); err != nil {
		return err
	}
	defer c.stopAll()
	for range c.s.engines {
		m, err := c.newEngine()
		if err != nil {
			return err
		}
		c.engines = append(c.engines, m)
	}
	for _, spec := range c.s.workers {
		m, err := c.newWorker(spec)
		if err != nil {
			return err
		}
		c.workers = append(c.workers, m)
	}
	watchCtx, stopWatch := context.WithCancel(c.ctx)
	service.Go(func() { c.watch(watchCtx) })
	defer stopWatch()
	for i := range c.s.phases {
		if err := c.phase(i); err != nil {
			return fmt.Errorf("phase %d: %w", i, err)
		}
		if len(c.failures()) > 0 {
			break
		}
	}
	return c.total()
}

func (c *cluster) failures() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.faults
}

// configure writes the policies of queues and the switches.
func (c *cluster) configure() error {
	who := control.Who{Actor: "test"}
	for _, q := range c.s.queues {
		if _, err := c.client.SetQueue(c.ctx, control.QueueConfig{Name: q.Name, Concurrency: q.Concurrency}, who); err != nil {
			return err
		}
	}
	for _, name := range c.s.off {
		if _, err := c.client.SetSetting(c.ctx, name, false, who); err != nil {
			return err
		}
	}
	return nil
}

// stopAll ends every part, and sees that it does end.
func (c *cluster) stopAll() {
	c.note("the end")
	defer c.note("all parts have ended")
	c.mend()
	c.mu.Lock()
	all := append(append([]*member{}, c.workers...), c.engines...)
	c.mu.Unlock()
	for _, m := range all {
		if m.worker != nil {
			m.worker.Stop()
		}
		m.stop()
	}
	done := make(chan struct{})
	go func() { c.members.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		c.fault("not every part has ended 30 s after it was told to")
		<-done
	}
}

// phase plays one phase to its end and judges it.
func (c *cluster) phase(i int) error {
	p := c.s.phases[i]
	c.note("phase %d", i)
	c.book.turn()
	c.mu.Lock()
	c.applied = make(map[int][]applied)
	c.mu.Unlock()
	for _, o := range p.verbs {
		c.verb(o, true)
	}
	ctx, stop := context.WithCancel(c.ctx)
	var ops sync.WaitGroup
	for _, o := range p.ops {
		var w *barrier
		if o.Stage != "" {
			w = c.book.expect(point{o.WaitRun, o.Stage}, o.Count)
		}
		ops.Go(func() { c.strike(ctx, o, w) })
	}
	if i == 0 {
		if err := c.startRuns(); err != nil {
			stop()
			ops.Wait()
			return err
		}
	}
	// Operations that have not struck by then come too late: they are left out.
	err := c.quiesce(ctx, &ops, stop)
	stop()
	ops.Wait()
	c.mend()
	if err == nil {
		err = c.settle()
	}
	if err != nil {
		c.fault("%v", err)
		return nil
	}
	return c.judge(i)
}

// startRuns starts the runs at their times.
func (c *cluster) startRuns() error {
	var wg sync.WaitGroup
	for _, r := range c.s.runs {
		wg.Go(func() {
			rest(c.ctx, r.At)
			v, err := c.client.Register(c.ctx, c.flows[r.Flow])
			if err != nil {
				c.fault("registering flow %s: %v", r.Flow, err)
				return
			}
			text, err := json.Marshal(params{r.ID, r.Customer})
			if err != nil {
				c.fault("encoding params: %v", err)
				return
			}
			started, err := c.client.Start(c.ctx, control.Batch{Trigger: "test", Delay: r.Delay},
				[]control.Start{{Version: v, Params: text, Level: r.Level, Queue: r.Queue}})
			if err != nil {
				c.fault("starting run %d: %v", r.ID, err)
				return
			}
			c.mu.Lock()
			c.runs[r.ID], c.numbers[started[0].Run] = started[0].Run, r.ID
			c.mu.Unlock()
			c.note("run %d is %s", r.ID, started[0].Run)
		})
	}
	wg.Wait()
	return nil
}

// quiesce waits until every run has ended and stays so: operations that are under way may open some again.
func (c *cluster) quiesce(ctx context.Context, ops *sync.WaitGroup, stop func()) error {
	if err := c.settle(); err != nil {
		return err
	}
	_ = ctx
	stop()
	ops.Wait()
	c.mend()
	return nil
}

// settle waits until every run has ended.
func (c *cluster) settle() error {
	c.mu.Lock()
	want := len(c.runs)
	c.mu.Unlock()
	limit := time.Now().Add(patience)
	for {
		var ended int
		err := c.pool.QueryRow(c.ctx, "SELECT count(*) FROM ax.run WHERE finished_at IS NOT NULL AND trigger = 'test'").Scan(&ended)
		if err == nil && ended >= want {
			return nil
		}
		if time.Now().After(limit) {
			return fmt.Errorf("%d of %d runs have ended within %v: %s", ended, want, patience, c.describe())
		}
		rest(c.ctx, 20*time.Millisecond)
	}
}

// describe says where open runs stand.
func (c *cluster) describe() string {
	var text string
	err := c.pool.QueryRow(c.ctx, `
		SELECT coalesce(string_agg(x.line, '; '), '') || format(' | lease %s, workers %s, now %s', (SELECT l.epoch || ' ' || l.holder || ' until ' || l.expires_at FROM ax.lease l LIMIT 1),
			(SELECT string_agg(w.id || ' beat ' || w.beat || ' state ' || w.state, ', ') FROM ax.worker w), clock_timestamp()) FROM (
			SELECT format('run %s (%s, state %s, stuck %s): %s; ready %s, flight %s, parked %s', convert_from(r.params, 'UTF8'), r.flow, r.state, r.stuck,
			              (SELECT string_agg(format('stage %s state %s generation %s', s.ord, s.state, s.generation), ', ' ORDER BY s.ord) FROM ax.stage s WHERE s.run_id = r.run_id),
			              (SELECT string_agg(y.todo::text || ' of ' || y.ord || ' from ' || y.not_before, ' ') FROM ax.ready y WHERE y.run_id = r.run_id),
			              (SELECT string_agg(f.todo::text || ' of ' || f.ord || ' at ' || f.worker_id, ' ') FROM ax.flight f WHERE f.run_id = r.run_id),
			              (SELECT string_agg(p.todo::text || ' of ' || p.ord || ' for ' || p.reason, ' ') FROM ax.parked p WHERE p.run_id = r.run_id)) AS line
			FROM ax.run r WHERE r.finished_at IS NULL ORDER BY r.run_id LIMIT 5) x`).Scan(&text)
	if err != nil {
		return err.Error()
	}
	return text
}

// mend ends the faults that still last.
func (c *cluster) mend() {
	c.mu.Lock()
	all := c.mended
	c.mended = nil
	c.mu.Unlock()
	for _, f := range all {
		f()
	}
}

// total counts what the scenario did.
func (c *cluster) total() error {
	c.mu.Lock()
	c.counts.runs = len(c.runs)
	c.mu.Unlock()
	return c.pool.QueryRow(c.ctx, `SELECT (SELECT count(*) FROM ax.result), (SELECT count(*) FROM ax.result WHERE attempt > 1),
		(SELECT count(*) FROM ax.journal WHERE kind = 'seized'), (SELECT count(*) FROM ax.lease_term)`).
		Scan(&c.counts.results, &c.counts.retries, &c.counts.seized, &c.counts.terms)
}

// logLevel is what of the parts' logs goes into a scenario's.
const logLevel = slog.LevelWarn
