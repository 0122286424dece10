package worker

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5"

	"axflow/flow"
	"axflow/sql/db"
	"axflow/stage"
)

// local is a handler that this worker has.
type local struct {
	def      *stage.Def
	contract string
	pool     *pool
}

// handling is a stage of a pinned version: its policies as the run was started with, and the handler here.
type handling struct {
	version *version
	ord     int
	spec    *flow.StageSpec
	def     *stage.Def // nil: this worker cannot run it
	pool    *pool
	// circuits are those that its tasks belong to; usually none.
	circuits []*circuit
	origin   int // the stage whose plan the shards are cut by; -1 for an unsharded stage
}

// version is a content of a flow that runs are pinned to.
type version struct {
	flow, hash string
	graph      *flow.Graph
	stages     []handling

	once      sync.Once
	ancestors []map[int]bool
}

// upstream tells whether stage up comes before stage ord, directly or through others.
func (v *version) upstream(ord, up int) bool {
	v.once.Do(func() { // upstreams have lower numbers
		v.ancestors = make([]map[int]bool, len(v.graph.Stages))
		for i := range v.graph.Stages {
			all := make(map[int]bool)
			for _, u := range v.graph.Stages[i].Upstreams {
				all[u] = true
				for a := range v.ancestors[u] {
					all[a] = true
				}
			}
			v.ancestors[i] = all
		}
	})
	return v.ancestors[ord][up]
}

// aligned tells whether shard i of stage ord follows shard i of stage up.
func (v *version) aligned(ord, up int) bool {
	for ord >= 0 && v.graph.Stages[ord].Kind == stage.Aligned {
		if ord = v.graph.Stages[ord].AlignedTo; ord == up {
			return true
		}
	}
	return false
}

// originOf is the stage whose plan cuts the shards of stage ord; -1 for an unsharded one.
func originOf(g *flow.Graph, ord int) int {
	for g.Stages[ord].Kind == stage.Aligned {
		ord = g.Stages[ord].AlignedTo
	}
	if g.Stages[ord].Kind == stage.Single {
		return -1
	}
	return ord
}

// versions keeps the versions that were read. A version never changes.
type versions struct {
	mu     sync.RWMutex
	byID   map[int32]*version
	locals map[string]local // by "flow/stage"
	// circuits of all handlers.
	circuits *circuits
}

func (s *versions) peek(id int32) *version {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.byID[id]
}

// errUnreadable says that a version cannot be read by this binary, however often it tries.
var errUnreadable = errors.New("unreadable flow version")

func (s *versions) get(ctx context.Context, q *db.Queries, id int32) (*version, error) {
	if v := s.peek(id); v != nil {
		return v, nil
	}
	row, err := q.Version(ctx, id)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, fmt.Errorf("%w: %d does not exist", errUnreadable, id)
	}
	if err != nil {
		return nil, fmt.Errorf("reading flow version %d: %w", id, err)
	}
	g, err := flow.ParseGraph(row.Graph)
	if err != nil {
		return nil, fmt.Errorf("%w: %d: %w", errUnreadable, id, err)
	}
	return s.put(id, row.Hash, g), nil
}

// put adds a version. A worker can run a stage if it has a handler of the same flow, stage and contract: a
// change of policies strands no run.
func (s *versions) put(id int32, hash string, g *flow.Graph) *version {
	v := &version{flow: g.Flow, hash: hash, graph: g, stages: make([]handling, len(g.Stages))}
	for ord := range g.Stages {
		h := handling{version: v, ord: ord, spec: &g.Stages[ord], origin: originOf(g, ord)}
		if l, ok := s.locals[g.Flow+"/"+h.spec.Name]; ok && l.contract == h.spec.Contract {
			h.def, h.pool = l.def, l.pool
			h.circuits = s.circuits.of(g.Flow, h.spec.Name, h.spec.Breaker, h.spec.Downstreams)
		}
		v.stages[ord] = h
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if old := s.byID[id]; old != nil {
		return old
	}
	s.byID[id] = v
	return v
}

// registerFlows stores the flows' contents and makes them the newest versions.
func (w *Worker) registerFlows(ctx context.Context) error {
	for _, f := range w.cfg.Flows {
		g := f.Graph()
		find := db.FindVersionParams{Namespace: w.cfg.Namespace, Flow: f.Name(), Hash: f.Version()}
		id, err := w.q.FindVersion(ctx, find)
		if errors.Is(err, pgx.ErrNoRows) {
			if err := w.q.AddVersion(ctx, db.AddVersionParams{Namespace: w.cfg.Namespace, Flow: f.Name(), Hash: f.Version(), Graph: g.Encode()}); err != nil {
				return fmt.Errorf("storing flow %s version %s: %w", f.Name(), f.Version(), err)
			}
			id, err = w.q.FindVersion(ctx, find)
		}
		if err != nil {
			return fmt.Errorf("looking for flow %s version %s: %w", f.Name(), f.Version(), err)
		}
		if err := w.q.RegisterFlow(ctx, db.RegisterFlowParams{Namespace: w.cfg.Namespace, Name: f.Name(), Owner: g.Owner, VersionID: id}); err != nil {
			return fmt.Errorf("registering flow %s: %w", f.Name(), err)
		}
		w.versions.put(id, f.Version(), g)
	}
	return nil
}
