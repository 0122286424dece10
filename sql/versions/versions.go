// Package versions registers flow versions and keeps those that were read, which never change, in memory.
package versions

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5"

	"axflow/flow"
	"axflow/sql/db"
)

// Version is the content of a flow that runs are pinned to.
type Version struct {
	ID              int32
	Namespace, Flow string
	Hash            string
	Graph           *flow.Graph
	Handlers        []string // by ord: flow.HandlerKey, what a worker must report to run the stage
	LimitKeys       []string // by ord: what the stage's concurrency limit counts under
}

// Cache holds versions by id. It is safe for concurrent use. A version is some kilobytes, and a database has
// few of them, so nothing is ever dropped.
type Cache struct {
	mu   sync.RWMutex
	byID map[int32]*Version
	ids  map[key]int32
}

type key struct{ namespace, flow, hash string }

// New returns an empty Cache.
func New() *Cache {
	return &Cache{byID: make(map[int32]*Version), ids: make(map[key]int32)}
}

// Get returns the version, reading it if need be. The error is wrapped flow.ParseGraph's for content that this
// binary cannot read.
func (c *Cache) Get(ctx context.Context, q *db.Queries, id int32) (*Version, error) {
	if v := c.Peek(id); v != nil {
		return v, nil
	}
	row, err := q.Version(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("reading flow version %d: %w", id, err)
	}
	graph, err := flow.ParseGraph(row.Graph)
	if err != nil {
		return nil, fmt.Errorf("%w: flow version %d: %w", ErrUnreadable, id, err)
	}
	return c.put(id, row.Namespace, row.Flow, row.Hash, graph), nil
}

// ErrUnreadable says that a version's content means nothing to this binary: its runs cannot be decided here.
var ErrUnreadable = errors.New("unreadable flow version")

// Unreadable tells ErrUnreadable, and versions that do not exist, from a database that fails.
func (c *Cache) Unreadable(err error) bool {
	return errors.Is(err, ErrUnreadable) || errors.Is(err, pgx.ErrNoRows)
}

// Peek returns the version if it is in memory, else nil.
func (c *Cache) Peek(id int32) *Version {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.byID[id]
}

// Register stores a definition's content in a namespace, once, and makes it the flow's newest version.
func (c *Cache) Register(ctx context.Context, q *db.Queries, namespace string, def flow.Definition) (*Version, error) {
	k := key{namespace, def.Name(), def.Version()}
	c.mu.RLock()
	id, ok := c.ids[k]
	c.mu.RUnlock()
	if ok {
		return c.Peek(id), nil
	}
	graph := def.Graph()
	find := db.FindVersionParams{Namespace: namespace, Flow: k.flow, Hash: k.hash}
	id, err := q.FindVersion(ctx, find)
	if errors.Is(err, pgx.ErrNoRows) {
		if err := q.AddVersion(ctx, db.AddVersionParams{Namespace: namespace, Flow: k.flow, Hash: k.hash, Graph: graph.Encode()}); err != nil {
			return nil, fmt.Errorf("storing flow %s version %s: %w", k.flow, k.hash, err)
		}
		id, err = q.FindVersion(ctx, find)
	}
	if err != nil {
		return nil, fmt.Errorf("looking for flow %s version %s: %w", k.flow, k.hash, err)
	}
	if err := q.RegisterFlow(ctx, db.RegisterFlowParams{Namespace: namespace, Name: k.flow, Owner: graph.Owner, VersionID: id}); err != nil {
		return nil, fmt.Errorf("registering flow %s: %w", k.flow, err)
	}
	return c.put(id, namespace, k.flow, k.hash, graph), nil
}

func (c *Cache) put(id int32, namespace, name, hash string, graph *flow.Graph) *Version {
	v := &Version{ID: id, Namespace: namespace, Flow: name, Hash: hash, Graph: graph}
	for _, s := range graph.Stages {
		v.Handlers = append(v.Handlers, flow.HandlerKey(name, s.Name, s.Contract))
		v.LimitKeys = append(v.LimitKeys, namespace+"/"+name+"/"+s.Name)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if old := c.byID[id]; old != nil {
		return old
	}
	c.byID[id] = v
	c.ids[key{namespace, name, hash}] = id
	return v
}
