package stage

import (
	"context"
	"time"
)

// Handler is what a worker calls, with types erased. New fills it in; adapters give it to NewFrom.
// Exactly one of Run and Tx is set.
type Handler struct {
	// Params decodes a run's JSON params into the stage's params type, strictly.
	Params func(params []byte) (any, error)
	// ParamsShareable says that the decoded params hold nothing that a handler could change for others (no
	// pointers, maps, slices, channels, functions, interfaces), so one value may serve all shards.
	ParamsShareable bool
	// When tells whether a conditional stage is to run; nil: always. It runs before the handler of an unsharded stage and
	// before the plan of a sharded one.
	When func(ctx context.Context, params any) (bool, error)
	// Run runs one task and returns its JSON output; nil when the output type is struct{}.
	Run func(ctx context.Context, c Call) (output []byte, err error)
	// Plan computes the shards of a sharded stage; nil for other kinds.
	Plan func(ctx context.Context, params any) (Layout, error)
	// Tx computes first and returns what is to be done inside the transaction that finishes the task.
	Tx func(ctx context.Context, c Call) (Commit, error)
}

// Commit does a handler's writes inside the transaction that finishes its task and returns the JSON
// output. tx is a pgx.Tx; it is untyped here because this package imports no database.
type Commit func(ctx context.Context, tx any) (output []byte, err error)

// Call is one task for a handler. Params is what Handler.Params returned. Item and Cut are zero for a
// stage that is not sharded.
type Call struct {
	Params       any
	Index, Total int
	Item         Item
	Cut          *Cut
}

// Item is the stored part of one listed shard.
type Item struct {
	Key   string // what people, limits and routing know the shard by; may be empty
	Input []byte // JSON; nil for none
}

// Layout is the frozen answer of a plan: how many shards there are and what each is to do.
type Layout struct {
	Total int
	Cut   Cut
	Items []Item // nil, or Total items: item i belongs to shard i
}

// The kinds of cuts.
const (
	CutCount = "count" // shard i of Total does its even part of [Lo, Hi)
	CutInts  = "ints"  // the same, of a range of integers that the plan named
	CutHash  = "hash"  // shard i owns the keys whose hash falls into bucket i
	CutTimes = "times" // shard i does its step of [From, To)
	CutKeys  = "keys"  // shard i does the key that is stored with it
	CutList  = "list"  // shard i does the input that is stored with it
)

// Cut says how a shard's index maps to its data. It is stored once a plan; the data of each shard is
// computed from it. Which fields hold depends on Kind.
type Cut struct {
	Kind string `json:"kind"`
	Lo   int64  `json:"lo,omitempty"`
	Hi   int64  `json:"hi,omitempty"`
	// From and To bound a cut of times, half-open, in UTC.
	From time.Time `json:"from,omitzero"`
	To   time.Time `json:"to,omitzero"`
	// Step, or Months and Days on the calendar of Zone, is the length of each shard of a cut of times.
	Step   time.Duration `json:"step_ns,omitempty"`
	Months int           `json:"months,omitempty"`
	Days   int           `json:"days,omitempty"`
	Zone   string        `json:"zone,omitempty"` // an IANA name, or an offset such as "+05:30"
}
