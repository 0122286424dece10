package stage

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"
)

// Kind says how a stage's work is divided.
type Kind uint8

// The kinds.
const (
	Single  Kind = 0 // one task
	Sharded Kind = 1 // a plan task, then as many shards as it says
	Aligned Kind = 2 // as many shards as the stage it is aligned to; shard i follows that stage's shard i
)

var kindNames = [...]string{"single", "sharded", "aligned"}

// String returns "single", "sharded" or "aligned".
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("unknown(%d)", k)
}

// MarshalText writes the kind as String does.
func (k Kind) MarshalText() ([]byte, error) {
	if int(k) >= len(kindNames) {
		return nil, fmt.Errorf("kind %d is unknown", k)
	}
	return []byte(kindNames[k]), nil
}

// UnmarshalText reads what MarshalText wrote.
func (k *Kind) UnmarshalText(text []byte) error {
	i := slices.Index(kindNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("kind %q is unknown: use one of %q", text, kindNames)
	}
	*k = Kind(i)
	return nil
}

// Def is a stage's definition with its types erased: what flow, engine and worker read. New, After and the
// options fill it in; flow.New freezes it. Policies are in normal form, that is, with their defaults.
type Def struct {
	Name      string
	Kind      Kind
	Upstreams []*Def
	AlignedTo *Def // of an Aligned stage; also one of Upstreams

	Rule                      Rule
	Retry                     Retry
	Timeout                   Timeout
	Level                     *Level // nil: the run's
	Queue                     string // "": the run's
	Limit                     int    // 0: none
	Key                       *Key   // nil: none
	Rate                      *Rate  // nil: none
	RetryWindow               *RetryWindow
	Breaker                   *Breaker // of the handler; nil: none
	Downstreams               []string
	Prefers                   []string
	Routing                   Routing // "": LeastCost
	FailFast                  bool
	Tolerate                  int     // shards that may fail for good
	TolerateShare             float64 // the same, as a share of them
	Conditional               bool    // Handler.When is set
	TeardownOf                *Def    // the stage whose work it takes down; also one of Upstreams
	Child                     string  // name of the sub-flow that it runs; "": none
	Requires                  []string
	Cost                      time.Duration
	Delay                     time.Duration // from the release to the first hand-out
	Disabled, Uninterruptible bool
	SkipEmpty                 bool // a sharded stage without shards is skipped instead of succeeding
	Tx                        bool // finishes inside its own transaction; shards are handed out singly
	ParamsType, OutputType    reflect.Type
	Handler                   Handler
	Faults                    []error // what is wrong with the definition; flow.New tells

	frozen bool
}

// NewDef builds the definition of a stage of the given kind from an untyped handler. It is for adapters
// that make new kinds of stages, as package shard does; handler.Params may be left out. Faults (a bad
// name, no handler, a bad option value) are collected in the definition, and flow.New tells them.
func NewDef[P, O any](name string, kind Kind, handler Handler, opts ...Option) *Def {
	if handler.Params == nil {
		handler.Params = func(b []byte) (any, error) { return DecodeParams[P](b) }
	}
	handler.ParamsShareable = shareable(reflect.TypeFor[P]())
	d := &Def{
		Name:       name,
		Kind:       kind,
		Rule:       AllSuccess,
		Retry:      Retry{}.normal(),
		Timeout:    Timeout{}.normal(),
		ParamsType: reflect.TypeFor[P](),
		OutputType: reflect.TypeFor[O](),
		Handler:    handler,
		Tx:         handler.Tx != nil,
	}
	if err := CheckName("stage", name); err != nil {
		d.Faults = append(d.Faults, err)
	}
	switch {
	case handler.Run == nil && handler.Tx == nil:
		d.fault("handler is nil: give a function")
	case handler.Run != nil && handler.Tx != nil:
		d.fault("handler has both Run and Tx: set one of them")
	}
	if kind == Sharded && handler.Plan == nil {
		d.fault("plan is nil: give a function")
	}
	if kind != Sharded && handler.Plan != nil {
		d.fault("a stage of kind %v has a plan: only a sharded one has", kind)
	}
	for _, o := range opts {
		if o == nil {
			d.fault("an option is nil: remove it")
			continue
		}
		o.apply(d)
	}
	return d
}

// After makes the stage wait for up. It panics once a flow was built from the stage: the flow would not
// hear of it.
func (d *Def) After(up ...*Def) {
	if d.frozen {
		panic(fmt.Sprintf("stage %q: After was called after flow.New: declare the order of stages before the flow is built", d.Name))
	}
	for _, u := range up {
		switch {
		case u == nil:
			d.fault("After was given a nil stage: remove it")
		case slices.Contains(d.Upstreams, u):
			d.fault("After names %q twice: name it once", u.Name)
		default:
			d.Upstreams = append(d.Upstreams, u)
		}
	}
}

// AlignTo makes the stage an Aligned one of up. It is for package shard.
func (d *Def) AlignTo(up *Def) {
	if up == nil {
		d.Faults = append(d.Faults, errors.New("the stage to be aligned to is nil: give a sharded stage"))
		return
	}
	if slices.Contains([]Rule{AllFailed, AllSkipped, OneFailed}, d.Rule) {
		d.fault("trigger rule %q does not fit an aligned stage, whose shards follow shards that succeeded: use another rule, or a stage of its own", d.Rule)
	}
	d.AlignedTo = up
	d.After(up)
}

// Freeze ends the declaration: After panics from now on. flow.New calls it.
func (d *Def) Freeze() { d.frozen = true }

func (d *Def) fault(format string, args ...any) {
	d.Faults = append(d.Faults, fmt.Errorf(format, args...))
}
