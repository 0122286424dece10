package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	axsql "axflow/sql"
	"axflow/sql/db"
	"axflow/sql/hint"
)

// The states of a worker, as stored.
const (
	active   = 0
	draining = 1
)

// heart is the worker's heartbeat. It has a connection of its own, so that nothing that the worker does can keep
// it from beating.
type heart struct {
	w     *Worker
	cfg   *pgx.ConnConfig
	conn  *pgx.Conn
	kick  chan struct{}
	vital *vitals
	ok    time.Duration // the last beat that the database took
	given bool          // it was logged that the worker may have been given up
	said  string        // what the leader decides by, as of the last beat
}

func newHeart(w *Worker) *heart {
	cfg := w.cfg.ConnConfig.Copy()
	cfg.RuntimeParams["synchronous_commit"] = "off" // a lost beat is made up by the next
	return &heart{w: w, cfg: cfg, kick: make(chan struct{}, 1), vital: newVitals()}
}

// beatNow asks for a beat before the next is due.
func (h *heart) beatNow() {
	select {
	case h.kick <- struct{}{}:
	default:
	}
}

// run beats until ctx ends.
func (h *heart) run(ctx context.Context) {
	for {
		wait := h.w.cfg.Beat
		if err := h.beat(ctx); err != nil && ctx.Err() == nil {
			h.fault(ctx, err)
			wait = min(wait, 250*time.Millisecond)
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-h.kick:
		case <-timer.C:
		}
		timer.Stop()
	}
}

func (h *heart) fault(ctx context.Context, err error) {
	w := h.w
	w.count.beatFaults.Add(1)
	h.close(ctx)
	silent := w.clk.now() - h.ok
	w.log.Warn("the heartbeat failed", "worker", w.ID(), "silent", silent, "err", err)
	if silent > w.cfg.TTL && !h.given {
		h.given = true
		w.log.Error("no heartbeat for longer than the TTL: the worker may have been given up and its results refused", "worker", w.ID(), "silent", silent, "ttl", w.cfg.TTL)
	}
}

func (h *heart) close(ctx context.Context) {
	if h.conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = h.conn.Close(ctx) // it is broken, or nobody needs it any more
	h.conn = nil
}

func (h *heart) connect(ctx context.Context) (*db.Queries, error) {
	if h.conn == nil || h.conn.IsClosed() {
		conn, err := pgx.ConnectConfig(ctx, h.cfg)
		if err != nil {
			return nil, fmt.Errorf("connecting for the heartbeat: %w", err)
		}
		axsql.Register(conn.TypeMap())
		h.conn = conn
	}
	return db.New(h.conn), nil
}

// beat tells the database that the worker lives, and learns what it holds and what is asked of it.
func (h *heart) beat(ctx context.Context) error {
	w := h.w
	ctx, cancel := context.WithTimeout(ctx, w.cfg.TTL)
	defer cancel()
	q, err := h.connect(ctx)
	if err != nil {
		return err
	}
	w.mu.Lock()
	id, mark, state := w.id, w.seq, w.state
	w.mu.Unlock()
	p := db.BeatParams{ID: id, State: state, Handlers: w.handlers(), Running: w.longRunning()}
	p.Cpu, p.Memory = h.vital.read()
	said, urgent := w.circuits.say()
	p.Circuits = said
	sent := w.clk.now()
	row, err := q.Beat(ctx, p)
	if err != nil {
		return fmt.Errorf("beating: %w", err)
	}
	h.ok, h.given = w.clk.now(), false
	w.clk.sample(sent, h.ok, row.Now)
	w.count.beats.Add(1)
	if row.Alive == 0 {
		w.log.Warn("the worker was given up and drops its work", "worker", id)
		w.dropAll()
		if state == draining {
			return nil
		}
		return h.register(ctx)
	}
	look := string(p.Handlers) + strconv.Itoa(int(state))
	if urgent {
		look += string(said)
	}
	if look != h.said {
		h.said = look
		w.cfg.Bus.ToEngine(hint.Engine{Workers: true})
	}
	h.tell(ctx, q)
	if row.Drain && state != draining {
		w.log.Info("an operator wants the worker to drain", "worker", id)
		w.retire()
	}
	if err := h.policies(row); err != nil {
		return err
	}
	return w.reconcile(ctx, q, row, sent, mark)
}

// policies does what a heartbeat's answer says of circuits and pools.
func (h *heart) policies(row db.BeatRow) error {
	w := h.w
	resumed, shut, err := w.circuits.hear(row.Circuits, row.BreakerOff, w.clk.now(), w.cfg.Beat)
	if err != nil {
		return err
	}
	if resumed || shut {
		w.obey(resumed)
	}
	var sizes map[string]int
	if err := json.Unmarshal(row.Pools, &sizes); err != nil {
		return fmt.Errorf("reading the sizes of pools: %w", err)
	}
	for _, p := range w.pools {
		if p.force(sizes[p.name]) {
			w.log.Info("a pool was resized", "worker", w.ID(), "handler", p.name, "slots", p.slots())
			h.beatNow() // the leader hands out by it
		}
	}
	return nil
}

// register puts the worker on the list under a new id.
func (h *heart) register(ctx context.Context) error {
	w := h.w
	q, err := h.connect(ctx)
	if err != nil {
		return err
	}
	if w.clk.est == nil {
		for range 3 { // the first answer of a new connection is slow
			sent := w.clk.now()
			now, err := q.Now(ctx)
			if err != nil {
				return fmt.Errorf("reading the database's clock: %w", err)
			}
			w.clk.sample(sent, w.clk.now(), now)
		}
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	for _, c := range w.circuits.all() {
		c.reset()
	}
	id := w.renew()
	select { // before the leader can know of the worker
	case <-w.boxes:
	default:
	}
	w.boxes <- w.box
	err = q.RegisterWorker(ctx, db.RegisterWorkerParams{ID: id, Urgent: int32(w.cfg.Urgent), Namespace: w.cfg.Namespace, Host: host,
		Pid: int32(os.Getpid()), Labels: append([]string{}, w.cfg.Labels...), Handlers: w.handlers()})
	if err != nil {
		return fmt.Errorf("registering worker %s: %w", id, err)
	}
	h.ok = w.clk.now()
	w.count.registrations.Add(1)
	w.cfg.Bus.ToEngine(hint.Engine{Workers: true})
	return nil
}

// leave takes the worker off the list.
func (h *heart) leave(ctx context.Context) error {
	q, err := h.connect(ctx)
	if err != nil {
		return err
	}
	h.tell(ctx, q)
	if err := q.LeaveWorker(ctx, h.w.ID()); err != nil {
		return fmt.Errorf("leaving: %w", err)
	}
	h.w.cfg.Bus.ToEngine(hint.Engine{Workers: true})
	return nil
}

// reconcile compares what the database says that the worker holds with what it does hold, and answers the asks.
// The answer is of the time sent; flights that came after mark were not known then.
func (w *Worker) reconcile(ctx context.Context, q *db.Queries, row db.BeatRow, sent time.Duration, mark uint64) error {
	there := make(map[uuid.UUID]bool, len(row.Flights))
	for _, id := range row.Flights {
		there[id] = true
	}
	w.mu.Lock()
	var missing []*flight
	for id, f := range w.flights {
		if !there[id] && f.seq <= mark {
			missing = append(missing, f)
		}
	}
	pools := make(map[*flight]*pool, len(missing))
	for _, f := range missing {
		pools[f] = f.pool
	}
	w.mu.Unlock()
	for _, f := range missing {
		if p := pools[f]; p != nil {
			p.mu.Lock()
			holds := f.holds()
			p.mu.Unlock()
			if !holds { // it has ended, and this answer is older or the commit is under way
				continue
			}
		}
		w.log.Warn("work was taken away", append(f.attrs(), "shard", f.Set.String())...)
		w.lose(f)
	}
	w.answer(row.Cancels, (*pool).cancel)
	w.answer(row.Givebacks, (*pool).handBack)
	return w.fetch(ctx, q, row.Flights, sent)
}

func (w *Worker) answer(ids []uuid.UUID, how func(*pool, *flight)) {
	for _, id := range ids {
		w.mu.Lock()
		f := w.flights[id]
		var p *pool
		if f != nil {
			p = f.pool
		}
		w.mu.Unlock()
		if p != nil {
			how(p, f)
		}
	}
}

// dropAll drops everything that the worker holds: it is somebody else's now.
func (w *Worker) dropAll() {
	w.mu.Lock()
	all := make([]*flight, 0, len(w.flights))
	for _, f := range w.flights {
		all = append(all, f)
	}
	w.mu.Unlock()
	for _, f := range all {
		w.lose(f)
	}
}

// renew gives the worker a new id and a new mailbox.
func (w *Worker) renew() uuid.UUID {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.box != nil {
		w.box.Close()
		w.id = uuid.Must(uuid.NewV7())
	}
	w.box = w.cfg.Bus.SubscribeWorker(w.id)
	return w.id
}

// handlers is what the worker can run, as stored: handler key to free and busy slots.
func (w *Worker) handlers() []byte {
	sizes := make(map[string]int, len(w.pools))
	for _, p := range w.pools {
		sizes[p.key] = p.slots()
	}
	b, err := json.Marshal(sizes)
	if err != nil {
		panic(fmt.Sprintf("worker: encoding numbers: %v", err)) // it cannot be
	}
	return b
}

// enroll registers flows and worker, trying again while the database cannot be reached.
func (w *Worker) enroll(ctx context.Context) error {
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, 5*time.Second) {
		err := w.registerFlows(ctx)
		if err == nil {
			err = w.heart.register(ctx)
		}
		if err == nil {
			return nil
		}
		w.heart.close(ctx)
		if hopeless(err) || ctx.Err() != nil {
			return fmt.Errorf("starting the worker: %w", err)
		}
		w.log.Warn("registering failed; trying again", "worker", w.ID(), "err", err)
		w.pause(ctx, pause)
	}
}

// errRan says that a worker can run once.
var errRan = errors.New("worker: Run was called twice: make a new Worker")
