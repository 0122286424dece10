package flow

import (
	"encoding/json"
	"slices"
	"sync"
	"time"

	"axflow/stage"
)

// Graph is a flow as data: what is stored, sent and decided by. Stages are known by their numbers (ord),
// their places in Stages; a stage's upstreams have lower numbers. A Graph must not be changed or copied once
// in use; then it is safe for concurrent use.
type Graph struct {
	Flow         string          `json:"flow"`
	Owner        string          `json:"owner,omitempty"`
	Description  string          `json:"description,omitempty"`
	ParamsSchema json.RawMessage `json:"params_schema,omitempty"` // JSON Schema, draft 2020-12; nil: anything
	Late         time.Duration   `json:"late_ns,omitempty"`       // a run that is open for longer is late; 0: none is
	Searchable   []string        `json:"searchable,omitempty"`    // params that runs are found by
	Stages       []StageSpec     `json:"stages"`

	once       sync.Once
	dependents [][]int
	ords       map[string]int
	schema     *rules
	schemaErr  error
}

// StageSpec is a stage as data. Policies are in normal form, that is, with their defaults.
type StageSpec struct {
	Name      string     `json:"name"`
	Kind      stage.Kind `json:"kind"`
	Upstreams []int      `json:"upstreams"`  // ascending
	AlignedTo int        `json:"aligned_to"` // ord of the stage that an aligned one follows; else -1

	Rule            stage.Rule         `json:"rule"`
	Retry           stage.Retry        `json:"retry"`
	Timeout         stage.Timeout      `json:"timeout"`
	Level           *stage.Level       `json:"level,omitempty"` // nil: the run's
	Queue           string             `json:"queue,omitempty"` // "": the run's
	Limit           int                `json:"limit,omitempty"` // 0: none
	Requires        []string           `json:"requires,omitempty"`
	Prefers         []string           `json:"prefers,omitempty"`
	Routing         stage.Routing      `json:"routing,omitempty"` // "": least cost
	Key             *stage.Key         `json:"key,omitempty"`
	Rate            *stage.Rate        `json:"rate,omitempty"`
	RetryWindow     *stage.RetryWindow `json:"retry_window,omitempty"`
	Breaker         *stage.Breaker     `json:"breaker,omitempty"`
	Downstreams     []string           `json:"downstreams,omitempty"`
	FailFast        bool               `json:"fail_fast,omitempty"`
	Tolerate        int                `json:"tolerate,omitempty"`
	TolerateShare   float64            `json:"tolerate_share,omitempty"`
	Conditional     bool               `json:"conditional,omitempty"`
	TeardownOf      *int               `json:"teardown_of,omitempty"` // ord of the stage that it takes down
	Child           string             `json:"child,omitempty"`       // flow that it runs as a sub-flow
	Cost            time.Duration      `json:"cost_ns,omitempty"`     // 0: unknown
	Delay           time.Duration      `json:"delay_ns,omitempty"`
	Disabled        bool               `json:"disabled,omitempty"`
	Uninterruptible bool               `json:"uninterruptible,omitempty"`
	SkipEmpty       bool               `json:"skip_empty,omitempty"`
	Tx              bool               `json:"tx,omitempty"`

	// Contract is a hash of what a worker's code must agree on to run the stage: the params' schema, the
	// stage's kind, and the output's type. Policies are no part of it.
	Contract string `json:"contract"`
}

func graphOf(name string, schema json.RawMessage, defs []*stage.Def) *Graph {
	g := &Graph{Flow: name, ParamsSchema: schema, Stages: make([]StageSpec, len(defs))}
	ord := make(map[*stage.Def]int, len(defs))
	for i, d := range defs {
		ord[d] = i
	}
	for i, d := range defs {
		s := StageSpec{
			Name: d.Name, Kind: d.Kind, Upstreams: make([]int, len(d.Upstreams)), AlignedTo: -1,
			Rule: d.Rule, Retry: d.Retry, Timeout: d.Timeout, Level: d.Level, Queue: d.Queue, Limit: d.Limit,
			Requires: d.Requires, Cost: d.Cost, Delay: d.Delay, Disabled: d.Disabled, Uninterruptible: d.Uninterruptible,
			SkipEmpty: d.SkipEmpty, Tx: d.Tx, Prefers: d.Prefers, Routing: d.Routing, Key: d.Key, Rate: d.Rate,
			RetryWindow: d.RetryWindow, Breaker: d.Breaker, Downstreams: d.Downstreams, FailFast: d.FailFast,
			Tolerate: d.Tolerate, TolerateShare: d.TolerateShare, Conditional: d.Conditional, Child: d.Child,
			Contract: contractOf(schema, d),
		}
		if d.TeardownOf != nil {
			setup := ord[d.TeardownOf]
			s.TeardownOf = &setup
		}
		for j, u := range d.Upstreams {
			s.Upstreams[j] = ord[u]
		}
		slices.Sort(s.Upstreams)
		if d.AlignedTo != nil {
			s.AlignedTo = ord[d.AlignedTo]
		}
		g.Stages[i] = s
	}
	return g
}

// clone returns a copy that shares the stages.
func (g *Graph) clone() *Graph {
	return &Graph{Flow: g.Flow, Owner: g.Owner, Description: g.Description, ParamsSchema: g.ParamsSchema, Late: g.Late, Searchable: g.Searchable,
		Stages: g.Stages}
}

// index fills in what is looked up by, once.
func (g *Graph) index() {
	g.once.Do(func() {
		g.dependents = make([][]int, len(g.Stages))
		g.ords = make(map[string]int, len(g.Stages))
		for i := range g.Stages {
			g.ords[g.Stages[i].Name] = i
			for _, u := range g.Stages[i].Upstreams {
				g.dependents[u] = append(g.dependents[u], i)
			}
		}
		g.schema, g.schemaErr = readRules(g.ParamsSchema)
	})
}

// Ord returns the number of the stage of that name.
func (g *Graph) Ord(name string) (ord int, ok bool) {
	g.index()
	ord, ok = g.ords[name]
	return ord, ok
}

// Dependents returns the stages that wait for stage ord, ascending. It must not be changed.
func (g *Graph) Dependents(ord int) []int {
	g.index()
	return g.dependents[ord]
}

// Roots returns the stages that wait for none, ascending.
func (g *Graph) Roots() []int {
	var roots []int
	for i := range g.Stages {
		if len(g.Stages[i].Upstreams) == 0 {
			roots = append(roots, i)
		}
	}
	return roots
}

// Descendants returns the given stages and all that wait for them, directly or through others, ascending: what
// a rerun of the given ones reruns.
func (g *Graph) Descendants(ords ...int) []int { return g.reach(ords, g.Dependents) }

// Ancestors returns the given stages and all that they wait for, directly or through others, ascending.
func (g *Graph) Ancestors(ords ...int) []int {
	return g.reach(ords, func(ord int) []int { return g.Stages[ord].Upstreams })
}

func (g *Graph) reach(ords []int, next func(int) []int) []int {
	seen := make([]bool, len(g.Stages))
	todo := slices.Clone(ords)
	for len(todo) > 0 {
		ord := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if !seen[ord] {
			seen[ord] = true
			todo = append(todo, next(ord)...)
		}
	}
	var all []int
	for i, in := range seen {
		if in {
			all = append(all, i)
		}
	}
	return all
}

// Depths returns, for each stage, the length of the longest way to it from a root: the column in which a
// drawing of the graph puts it.
func (g *Graph) Depths() []int {
	depths := make([]int, len(g.Stages))
	for i := range g.Stages {
		for _, u := range g.Stages[i].Upstreams {
			depths[i] = max(depths[i], depths[u]+1)
		}
	}
	return depths
}

// HandlerKey returns "flow/stage@contract": what workers report that they can run, and what pending work asks
// for. Names hold neither character.
func HandlerKey(flow, stageName, contract string) string {
	return flow + "/" + stageName + "@" + contract
}

// HandlerKey returns the key of the handler that stage ord needs.
func (g *Graph) HandlerKey(ord int) string {
	return HandlerKey(g.Flow, g.Stages[ord].Name, g.Stages[ord].Contract)
}
