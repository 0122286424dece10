package metamorph

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"axflow/engine"
	axsql "axflow/sql"
	"axflow/sql/hint"
	"axflow/worker"
)

// The times of every part: short, so that deaths are soon found.
const (
	leaseTTL  = 500 * time.Millisecond
	beat      = 100 * time.Millisecond
	workerTTL = 500 * time.Millisecond
	scan      = 300 * time.Millisecond
)

// member is one engine or worker, with a bus and connections of its own, as a process has.
type member struct {
	name   string
	plug   *plug
	bus    *hint.Bus
	worker *worker.Worker // nil: an engine
	stop   context.CancelFunc
	done   chan struct{}
}

// conn is the database's address through a plug.
func (c *cluster) conn(p *plug, name string) (*pgxpool.Config, error) {
	cfg, err := pgxpool.ParseConfig(c.url)
	if err != nil {
		return nil, err
	}
	axsql.ConfigurePool(cfg)
	cfg.ConnConfig.DialFunc = p.dial
	cfg.ConnConfig.RuntimeParams["application_name"] = name
	cfg.MaxConns = 4
	return cfg, nil
}

// launch runs a part and its bus until stop.
func (c *cluster) launch(m *member, cfg *pgx.ConnConfig, part func(context.Context) error) error {
	var err error
	if m.bus == nil {
		if m.bus, err = hint.New(hint.Config{ConnConfig: cfg, Logger: c.logger}); err != nil {
			return err
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	m.stop, m.done = stop, make(chan struct{})
	busCtx, stopBus := context.WithCancel(context.Background())
	var bus sync.WaitGroup
	bus.Go(func() {
		if err := m.bus.Run(busCtx); err != nil {
			c.fault("the bus of %s: %v", m.name, err)
		}
	})
	c.members.Go(func() {
		defer close(m.done)
		defer bus.Wait()
		defer stopBus()
		if err := part(ctx); err != nil {
			c.note("%s has ended: %v", m.name, err)
		}
	})
	return nil
}

func (c *cluster) newEngine() (*member, error) {
	m := &member{name: fmt.Sprintf("e%d", c.serial.Add(1)), plug: newPlug()}
	cfg, err := c.conn(m.plug, m.name)
	if err != nil {
		return nil, err
	}
	if m.bus, err = hint.New(hint.Config{ConnConfig: cfg.ConnConfig, Logger: c.logger}); err != nil {
		return nil, err
	}
	e, err := engine.New(engine.Config{ConnConfig: cfg.ConnConfig, Bus: m.bus, Holder: m.name, TTL: leaseTTL, Beat: beat, WorkerTTL: workerTTL,
		Scan: scan, Reload: scan, ClockInterval: time.Second, Retention: -1, Logger: c.logger.With("engine", m.name)})
	if err != nil {
		return nil, err
	}
	return m, c.launch(m, cfg.ConnConfig, func(ctx context.Context) error {
		for { // a process that cannot begin is started again
			err := e.Run(ctx)
			if ctx.Err() != nil {
				return err
			}
			c.note("engine %s: %v", m.name, err)
			rest(ctx, 50*time.Millisecond)
		}
	})
}

func (c *cluster) newWorker(spec workerSpec) (*member, error) {
	m := &member{name: fmt.Sprintf("w%d", c.serial.Add(1)), plug: newPlug()}
	cfg, err := c.conn(m.plug, m.name)
	if err != nil {
		return nil, err
	}
	if m.bus, err = hint.New(hint.Config{ConnConfig: cfg.ConnConfig, Logger: c.logger}); err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(context.Background(), cfg)
	if err != nil {
		return nil, err
	}
	wc := worker.Config{Pool: pool, ConnConfig: cfg.ConnConfig, Bus: m.bus, Flows: c.definitions, Slots: spec.Slots, Urgent: spec.Urgent, Grace: spec.Grace,
		Beat: beat, TTL: workerTTL, Abandon: 300 * time.Millisecond, FinishConns: 1, Logger: c.logger.With("member", m.name)}
	if m.worker, err = worker.New(wc); err != nil {
		pool.Close()
		return nil, err
	}
	return m, c.launch(m, cfg.ConnConfig, func(ctx context.Context) error {
		defer pool.Close()
		return m.worker.Run(ctx)
	})
}

// kill ends a member as kill -9 does: its connections are gone and nobody hears of it. What still runs of it inside this
// process is a zombie, which must not matter.
func (c *cluster) kill(m *member) {
	m.plug.cut(true)
	m.stop()
	if m.worker == nil {
		return
	}
	id := m.worker.ID()
	m.worker.Stop()
	c.members.Go(func() {
		// Once it is known to be dead, what the zombie still wants to say may arrive: it is refused.
		limit := time.Now().Add(20 * time.Second)
		for time.Now().Before(limit) {
			var there bool
			if err := c.pool.QueryRow(c.ctx, "SELECT EXISTS (SELECT 1 FROM ax.worker WHERE id = $1)", id).Scan(&there); err == nil && !there {
				break
			}
			if c.ctx.Err() != nil {
				break
			}
			rest(c.ctx, 50*time.Millisecond)
		}
		m.plug.mend()
	})
}

// rest waits; its callers go on as soon as ctx ends.
func rest(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}
