package worker

import (
	"context"
	"fmt"
	"hash/maphash"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"axflow/flow"
	"axflow/sql/db"
	"axflow/sql/hint"
	"axflow/sql/span"
)

const (
	keptParams = 1024 // runs
	keptHeads  = 4096 // stages
	keptEnded  = 16384
	maxLoaders = 4
)

// Worker runs handlers. Make it with New and run it once with Run.
type Worker struct {
	cfg        Config
	log        *slog.Logger
	clk        *clock
	q          *db.Queries // on the pool
	pools      []*pool
	nowhere    *pool // of work that cannot be run here; it is closed, so everything goes back
	versions   versions
	committers []*committer
	dog        *watchdog
	heart      *heart
	shipper    *shipper
	circuits   *circuits
	buffers    buffers
	heads      *cache[span.StageKey, head]
	params     *cache[uuid.UUID, []byte]
	ended      *cache[uuid.UUID, time.Duration]
	seed       maphash.Seed
	count      counters
	throughput throughput
	urgent     atomic.Int32 // urgent slots in use
	txs        chan struct{}
	wrapTx     func(pgx.Tx) pgx.Tx // tests lose the answers of commits; nil
	boxes      chan *hint.Box[hint.Worker]
	loading    sync.WaitGroup
	loaders    chan struct{}
	nudged     chan struct{}   // something has ended; drain looks
	hurried    context.Context // ended by Stop
	hurry      context.CancelFunc
	ran        atomic.Bool

	// Set by Run before anything else starts.

	hard    context.Context // ends last: nothing is committed any more
	loadCtx context.Context // ends when the worker drains
	retire  func()          // makes the worker drain; may be called more than once

	mu      sync.Mutex
	id      uuid.UUID
	state   int16
	loaded  bool // nothing is loaded any more
	seq     uint64
	flights map[uuid.UUID]*flight
	box     *hint.Box[hint.Worker] // written by the heartbeat's goroutine
}

// New makes a worker. The error lists everything that is wrong with cfg.
func New(cfg Config) (*Worker, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("worker: %w", err)
	}
	w := &Worker{
		cfg: cfg, log: cfg.Logger, clk: newClock(cfg.Clock), q: db.New(cfg.Pool), id: uuid.Must(uuid.NewV7()),
		versions: versions{byID: make(map[int32]*version), locals: make(map[string]local)},
		heads:    newCache[span.StageKey, head](keptHeads), params: newCache[uuid.UUID, []byte](keptParams),
		ended: newCache[uuid.UUID, time.Duration](keptEnded), seed: maphash.MakeSeed(),
		txs:   make(chan struct{}, max(1, int(cfg.Pool.Config().MaxConns)-2)),
		boxes: make(chan *hint.Box[hint.Worker], 1), loaders: make(chan struct{}, maxLoaders),
		nudged: make(chan struct{}, 1), flights: make(map[uuid.UUID]*flight),
	}
	w.circuits = &circuits{byName: make(map[string]*circuit)}
	w.versions.circuits = w.circuits
	w.hurried, w.hurry = context.WithCancel(context.Background())
	w.dog = newWatchdog(w)
	w.heart = newHeart(w)
	w.shipper = newShipper(w)
	for range cfg.FinishConns {
		w.committers = append(w.committers, newCommitter(w))
	}
	w.nowhere = newPool(w, "", 0)
	w.nowhere.closed = true
	for _, f := range cfg.Flows {
		w.addHandlers(f)
	}
	return w, nil
}

func (w *Worker) addHandlers(f flow.Definition) {
	g := f.Graph()
	for ord, d := range f.Defs() {
		name := f.Name() + "/" + d.Name
		size := w.cfg.Slots
		if n, ok := w.cfg.Pools[name]; ok {
			size = n
		}
		p := newPool(w, g.HandlerKey(ord), size)
		p.name = name
		w.pools = append(w.pools, p)
		w.versions.locals[name] = local{def: d, contract: g.Stages[ord].Contract, pool: p}
	}
}

// ID is the worker's id. It changes when the leader had given the worker up and it registers anew.
func (w *Worker) ID() uuid.UUID {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.id
}

// Resize changes the configured size of a handler's pool, "flow/stage", while it runs. Tasks that run go on; the leader
// learns of it with the next heartbeat. A size that an operator has set for all workers stays above it.
func (w *Worker) Resize(handler string, slots int) error {
	l, ok := w.versions.locals[handler]
	if !ok {
		return fmt.Errorf("worker: no handler %q: use \"flow/stage\" of a flow of this worker", handler)
	}
	if slots < 1 {
		return fmt.Errorf("worker: %d slots for %q: give 1 or more", slots, handler)
	}
	l.pool.configure(slots)
	w.heart.beatNow()
	return nil
}

// Stop ends the grace of a worker that drains, or makes one drain without grace: running handlers are told to stop
// at once. It may be called at any time and more than once, and does not wait; Run returns as usual.
func (w *Worker) Stop() { w.hurry() }

// Run registers the worker and works until ctx ends, Stop is called, or an operator wants it to drain (see
// control.Client.DrainWorker). Then it drains: nothing new is taken on, what has not started goes back, what runs gets Grace
// to end and is then interrupted (which costs no attempt), and the last results are written down. Run returns nil unless
// the worker could not be registered, or results could not be written down.
//
// No goroutine outlives Run but those of handlers that do not return after their context was cancelled.
func (w *Worker) Run(ctx context.Context) error {
	if !w.ran.CompareAndSwap(false, true) {
		return errRan
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	hard, endHard := context.WithCancel(context.WithoutCancel(ctx))
	defer endHard()
	loadCtx, endLoading := context.WithCancel(hard)
	defer endLoading()
	w.hard, w.loadCtx, w.retire = hard, loadCtx, cancel
	defer context.AfterFunc(w.hurried, cancel)()
	defer w.heart.close(hard)
	if err := w.enroll(ctx); err != nil {
		if ctx.Err() != nil {
			return nil // it was asked to end before it began
		}
		return err
	}
	var service, beating, shipping sync.WaitGroup
	for _, c := range w.committers {
		service.Go(func() { c.run(hard) })
	}
	service.Go(func() { w.dog.run(hard) })
	service.Go(func() { w.intake(hard) })
	beatCtx, endBeating := context.WithCancel(hard)
	defer endBeating()
	beating.Go(func() { w.heart.run(beatCtx) })
	shipCtx, endShipping := context.WithCancel(hard)
	defer endShipping()
	shipping.Go(func() { w.shipper.run(shipCtx) })

	<-ctx.Done()
	endLoading()
	err := w.drain()
	w.shipper.close()
	defer time.AfterFunc(lastLogsLimit, endShipping).Stop()
	endBeating()
	beating.Wait()
	if err == nil {
		w.leave()
	}
	shipping.Wait()
	endHard()
	for _, c := range w.committers {
		c.close()
	}
	service.Wait()
	w.mu.Lock()
	w.box.Close()
	w.mu.Unlock()
	w.reap()
	return err
}
