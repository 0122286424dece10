package live

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"axflow/api/access"
	"axflow/api/gen"
	"axflow/api/problem"
)

// The limits of one stream.
const (
	MaxRuns  = 20
	MaxFlows = 20
)

// lookFor is how long one look at the database may take.
const lookTime = 5 * time.Second

// The reasons why the server ends a stream.
const (
	byeDrain      = "drain"
	byeCredential = "credential"
	byeSlow       = "slow"
)

// source is where a Hub looks.
type source interface {
	// now is the database's time.
	now(ctx context.Context) (time.Time, error)
	// look reads runs and, if q has namespaces, what has changed in them, in one round trip.
	look(ctx context.Context, runs []uuid.UUID, q feedRequest) (sight, error)
	// rows reads runs of a namespace as they are told.
	rows(ctx context.Context, namespace string, ids []uuid.UUID) ([]gen.Run, error)
}

// sight is what a look has seen. now is the database's time, and zero if there were no namespaces.
type sight struct {
	runs map[uuid.UUID]*run
	feed feedAnswer
	now  time.Time
}

// Hub serves event streams. It is safe for concurrent use.
type Hub struct {
	cfg    Config
	source source
	stats  Stats
	poke   chan struct{} // somebody has come, or the last has gone

	mu            sync.Mutex
	board         *switchboard
	pace          pace
	streams       map[*client]access.Principal
	perCredential map[uuid.UUID]int
	draining      bool

	// What only Run uses.
	behind  time.Duration // the database's time less this process's
	timed   bool          // behind is known
	failing bool
}

// Stats counts what a Hub does; all but Streams only grow.
type Stats struct {
	Streams atomic.Int64  // that are open
	Opened  atomic.Uint64 // streams so far
	Refused atomic.Uint64 // for the limits
	Slow    atomic.Uint64 // ended because the client read too slowly
	Looks   atomic.Uint64 // round trips to the database
	Failed  atomic.Uint64 // looks that failed
	Frames  atomic.Uint64 // sent to clients
	Bytes   atomic.Uint64 // sent to clients
}

// New makes a Hub; it serves while Run runs.
func New(cfg Config) (*Hub, error) {
	if err := cfg.complete(); err != nil {
		return nil, err
	}
	return newHub(cfg, &database{cfg: cfg}), nil
}

// ReadBy says how the runs of a namespace are read that the stream tells of: as lists show them, without those that are no more. It is
// called before Run; without it, streams of flows are told nothing.
func (h *Hub) ReadBy(read func(ctx context.Context, namespace string, ids []uuid.UUID) ([]gen.Run, error)) {
	if d, ok := h.source.(*database); ok {
		d.read = read
	}
}

func newHub(cfg Config, from source) *Hub {
	var boot [6]byte
	_, _ = rand.Read(boot[:]) // it never fails
	h := &Hub{cfg: cfg, source: from, poke: make(chan struct{}, 1), streams: make(map[*client]access.Principal),
		perCredential: make(map[uuid.UUID]int), pace: pace{least: cfg.Tick, most: cfg.MaxTick}}
	h.board = newSwitchboard(hex.EncodeToString(boot[:]), max(0, cfg.Linger), cfg.Reopen, func(err error) { cfg.Logger.Error("telling of a run", "error", err) })
	return h
}

// Stats are the Hub's counters.
func (h *Hub) Stats() *Stats { return &h.stats }

// Run looks, and tells, until ctx ends; then it drains and returns nil. Call it once, and end it before the server waits for its
// requests to end, which streams do not by themselves.
func (h *Hub) Run(ctx context.Context) error {
	defer h.Drain()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { h.watch(ctx); return nil })
	if h.cfg.Valid != nil && h.cfg.Recheck > 0 {
		g.Go(func() error { h.recheck(ctx); return nil })
	}
	return g.Wait()
}

// Drain ends all streams with a bye and refuses new ones. It does not wait for them. It may be called twice.
func (h *Hub) Drain() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.draining = true
	for c := range h.streams {
		c.end(byeDrain)
	}
}

// Watch is what a client wants to know of: runs, and the runs of flows; of neither, all runs of its namespace.
type Watch struct {
	Runs  []uuid.UUID
	Flows []string
	// LastEventID is the id of the last event that the client has; "": it begins.
	LastEventID string
}

// Subscribe opens a stream for a client, once it is known that there are the runs that it wants. ctx is the request's: the stream
// ends with it. The error is a *problem.Error, or ctx's.
func (h *Hub) Subscribe(ctx context.Context, p access.Principal, w Watch) (*Stream, error) {
	if len(w.Runs) > MaxRuns {
		return nil, problem.Field("run", "%d runs, but a stream watches at most %d: open another, or watch their flow", len(w.Runs), MaxRuns)
	}
	if len(w.Flows) > MaxFlows {
		return nil, problem.Field("flow", "%d flows, but a stream watches at most %d: open another, or watch the namespace", len(w.Flows), MaxFlows)
	}
	c, err := h.admit(p, w)
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() { h.leave(c) })
	patience := time.NewTimer(h.cfg.Answer)
	defer patience.Stop()
	select {
	case err = <-c.ready:
	case <-ctx.Done():
		err = ctx.Err()
	case <-patience.C:
		err = &problem.Error{Code: gen.ProblemCodeUnavailable, Detail: "the database does not answer; try again", RetryAfterS: h.cfg.MaxTick.Seconds()}
	}
	if err != nil {
		h.leave(c)
		return nil, err
	}
	return &Stream{hub: h, client: c, ctx: ctx, expires: p.ExpiresAt}, nil
}

// admit counts a client in, if there is room.
func (h *Hub) admit(p access.Principal, w Watch) (*client, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.draining:
		return nil, &problem.Error{Code: gen.ProblemCodeUnavailable, Detail: "the server is going down; connect again", RetryAfterS: 1}
	case len(h.streams) >= h.cfg.Clients:
		h.stats.Refused.Add(1)
		return nil, &problem.Error{Code: gen.ProblemCodeUnavailable, RetryAfterS: 5,
			Detail: fmt.Sprintf("the server has %d event streams, which is its limit; try again, or ask another server", len(h.streams))}
	case p.Credential != uuid.Nil && h.perCredential[p.Credential] >= h.cfg.PerCredential:
		h.stats.Refused.Add(1)
		return nil, &problem.Error{Code: gen.ProblemCodeRateLimited, RetryAfterS: 5,
			Detail: fmt.Sprintf("the credential has %d event streams, which is the limit: close one, or watch more in one", h.cfg.PerCredential)}
	}
	c := newClient(p.Namespace, p.Credential)
	h.streams[c] = p
	h.perCredential[c.credential]++
	h.stats.Streams.Add(1)
	h.stats.Opened.Add(1)
	h.board.join(c, w.Runs, w.Flows, w.LastEventID)
	h.pace.hurry()
	h.wake()
	return c, nil
}

// leave counts a client out. It may be called twice.
func (h *Hub) leave(c *client) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, here := h.streams[c]; !here {
		return
	}
	delete(h.streams, c)
	if h.perCredential[c.credential]--; h.perCredential[c.credential] == 0 {
		delete(h.perCredential, c.credential)
	}
	h.stats.Streams.Add(-1)
	h.board.leave(c, time.Now())
	if len(h.streams) == 0 {
		h.wake()
	}
}

func (h *Hub) wake() {
	select {
	case h.poke <- struct{}{}:
	default:
	}
}

// take gives a client what it has not read.
func (h *Hub) take(c *client) ([]frame, string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.board.take(c)
}

// recheck ends the streams of credentials that are not valid any more.
func (h *Hub) recheck(ctx context.Context) {
	every := time.NewTicker(h.cfg.Recheck)
	defer every.Stop()
	for {
		select {
		case <-every.C:
		case <-ctx.Done():
			return
		}
		for credential, p := range h.credentials() {
			ok, err := h.cfg.Valid(ctx, p)
			if ctx.Err() != nil {
				return
			}
			if err != nil {
				h.cfg.Logger.Warn("asking whether the credential of an event stream is valid", "actor", p.Actor, "error", err)
				continue
			}
			if !ok {
				h.revoke(credential)
			}
		}
	}
}

func (h *Hub) credentials() map[uuid.UUID]access.Principal {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := make(map[uuid.UUID]access.Principal)
	for _, p := range h.streams {
		if p.Credential != uuid.Nil {
			all[p.Credential] = p
		}
	}
	return all
}

func (h *Hub) revoke(credential uuid.UUID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for c := range h.streams {
		if c.credential == credential {
			c.end(byeCredential)
		}
	}
}
