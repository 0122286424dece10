package flow

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"axflow/stage"
)

// MaxStages is the greatest number of stages of one flow.
const MaxStages = 2000

// The greatest lengths of a flow's owner and description, in bytes.
const (
	MaxOwnerLen       = 200
	MaxDescriptionLen = 10_000
)

// Definition is a flow with its params type erased: what engine, worker and API need. *Flow[P] implements
// it for every P.
type Definition interface {
	// Name returns the flow's name.
	Name() string
	// Graph returns what is stored of the flow. It must not be changed.
	Graph() *Graph
	// Version returns the content version, 16 hexadecimal digits.
	Version() string
	// Defs returns the stages' definitions in the order of their numbers in the graph. It must not be changed.
	Defs() []*stage.Def
	// DecodeCheck tells whether params, JSON, may start a run.
	DecodeCheck(params []byte) error
}

// Flow is a directed acyclic graph of stages whose runs take params of type P. It is safe for concurrent use
// once declared.
type Flow[P any] struct {
	graph   *Graph
	version string
	defs    []*stage.Def
}

// New declares a flow. It panics with a *Faults that lists everything that is wrong with the flow and its
// stages, so that a program with a wrong flow does not start. Every stage that another one comes after must
// be among nodes; their order does not matter.
func New[P any](name string, nodes ...stage.Node[P]) *Flow[P] {
	f, err := Build(name, nodes...)
	if err != nil {
		panic(err)
	}
	return f
}

// Build is New for flows that are put together at run time: what is wrong is returned, as a *Faults.
func Build[P any](name string, nodes ...stage.Node[P]) (*Flow[P], error) {
	faults := &Faults{Flow: name}
	schema, err := schemaOf[P]()
	if err != nil {
		faults.add(fmt.Errorf("the params type: %w", err))
	}
	defs := stage.Defs(nodes)
	inspect[P](faults, name, defs)
	if faults.List != nil {
		return nil, faults
	}
	defs = inOrder(defs)
	g := graphOf(name, schema, defs)
	for _, d := range defs {
		d.Freeze()
	}
	return &Flow[P]{graph: g, version: g.Version(), defs: defs}, nil
}

// Option describes a flow without changing what its stages do.
type Option func(*Graph)

// Owner names the person or team that answers for the flow. It is no part of the content version.
func Owner(name string) Option { return func(g *Graph) { g.Owner = name } }

// Describe says what the flow is for, in plain text. It is no part of the content version.
func Describe(text string) Option { return func(g *Graph) { g.Description = text } }

// With sets opts and returns f. It belongs to the declaration: call it before the flow is used. It panics
// with a *Faults if a text is too long or is no UTF-8, if a param cannot be searched, or if Late is negative.
func (f *Flow[P]) With(opts ...Option) *Flow[P] {
	faults := &Faults{Flow: f.Name()}
	g := f.graph.clone()
	for _, o := range opts {
		o(g)
	}
	faults.add(checkText("owner", g.Owner, MaxOwnerLen))
	faults.add(checkText("description", g.Description, MaxDescriptionLen))
	faults.List = append(faults.List, g.checkSearchable()...)
	faults.add(g.checkLate())
	if faults.List != nil {
		panic(faults)
	}
	f.graph, f.version = g, g.Version()
	return f
}

// Name returns the flow's name.
func (f *Flow[P]) Name() string { return f.graph.Flow }

// Graph returns what is stored of the flow. It must not be changed.
func (f *Flow[P]) Graph() *Graph { return f.graph }

// Version returns the content version, 16 hexadecimal digits.
func (f *Flow[P]) Version() string { return f.version }

// Defs returns the stages' definitions in the order of their numbers in the graph. It must not be changed.
func (f *Flow[P]) Defs() []*stage.Def { return f.defs }

// Encode returns the JSON of p, to start a run with.
func (f *Flow[P]) Encode(p P) ([]byte, error) {
	b, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("encoding params of flow %q: %w", f.Name(), err)
	}
	return b, nil
}

// DecodeCheck tells whether params, JSON, may start a run: they decode strictly into a P and hold to its
// schema. The error names the fields that are wrong. No bytes at all are read as {}.
func (f *Flow[P]) DecodeCheck(params []byte) error {
	if _, err := stage.DecodeParams[P](params); err != nil {
		return fmt.Errorf("flow %q: %w", f.Name(), err)
	}
	return f.graph.CheckParams(params)
}

func checkText(what, text string, limit int) error {
	switch {
	case len(text) > limit:
		return fmt.Errorf("the %s is %d bytes long, at most %d are allowed: shorten it", what, len(text), limit)
	case !utf8.ValidString(text):
		return fmt.Errorf("the %s is not UTF-8: encode it", what)
	case strings.ContainsRune(text, 0):
		return fmt.Errorf("the %s has a NUL character, which PostgreSQL cannot store: remove it", what)
	}
	return nil
}
