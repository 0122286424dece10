package worker

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"axflow/flow"
	"axflow/sql/hint"
	"axflow/sql/payload"
)

// Defaults of Config.
const (
	DefaultNamespace      = "default"
	DefaultUrgent         = 2
	DefaultBeat           = 2 * time.Second
	DefaultTTL            = 6 * time.Second
	DefaultGrace          = 30 * time.Second
	DefaultAbandon        = time.Second
	DefaultFlush          = 5 * time.Millisecond
	DefaultBatchSize      = 1000
	DefaultFinishConns    = 2
	DefaultMaxStageOutput = 1 << 20  // bytes
	DefaultMaxShardOutput = 64 << 10 // bytes
)

// MinSlots is the least default size of a handler's pool.
const MinSlots = 8

// Config says what a worker runs and how. Pool, ConnConfig, Bus and Flows are required.
type Config struct {
	// Pool serves reads, plans and the transactions of InTx handlers. At least 2 connections; InTx handlers
	// use all but two of them at once.
	Pool *pgxpool.Pool
	// ConnConfig opens the worker's own connections: the heartbeat's, the FinishConns and one for logs. It is copied.
	ConnConfig *pgx.ConnConfig
	// Bus carries hints to and from the leader.
	Bus *hint.Bus
	// Namespace that the flows belong to. Default "default".
	Namespace string
	// Flows that the worker can run. Their names must differ.
	Flows []flow.Definition
	// Slots is how many tasks of one handler run at once. Default 4 × GOMAXPROCS, at least MinSlots.
	Slots int
	// Pools sets Slots for single handlers, by "flow/stage".
	Pools map[string]int
	// Urgent is how many slots the worker has beside all pools for tasks of level P0 whose pool is full.
	// Default 2; below 0 none.
	Urgent int
	// Labels are what stages may require of a worker.
	Labels []string
	// Beat is the time between heartbeats. Default 2 s.
	Beat time.Duration
	// TTL is how long heartbeats may fail before the worker must assume that it was given up. Default 6 s. It
	// should be the engine's.
	TTL time.Duration
	// Grace is how long running tasks may go on when the worker drains. Default 30 s.
	Grace time.Duration
	// Abandon is how long a handler may take to return after its context was cancelled. Then its task counts
	// as ended without it; its slot stays taken until it returns. Default 1 s.
	Abandon time.Duration
	// Flush is how long a result may wait for others to be committed with. Results that empty a flight or
	// belong to an unsharded stage do not wait. Default 5 ms.
	Flush time.Duration
	// BatchSize is the greatest number of results in one commit. Default 1000.
	BatchSize int
	// Buffer is how many results may wait to be committed; at that many, no further task starts. Default
	// 4 × BatchSize × FinishConns.
	Buffer int
	// FinishConns is how many connections commit results. The results of one flight always take the same
	// one. Default 2.
	FinishConns int
	// MaxStageOutput and MaxShardOutput bound an output, in bytes of JSON, of an unsharded stage and of one
	// shard. Default 1 MiB and 64 KiB.
	MaxStageOutput, MaxShardOutput int
	// Children starts the runs of sub-flows. Without it, stages that run sub-flows fail.
	Children Children
	// Codec opens params, inputs of shards and outputs, and seals what the worker writes. nil: everything is stored as it is. Work
	// whose params were sealed with a key that the worker lacks goes back and costs no attempt.
	Codec payload.Codec
	// Logs says what becomes of what handlers log with stage.Log. Default: lines of info and above are stored.
	Logs LogConfig
	// Clock tells database time. Default: estimated from the heartbeats.
	Clock func() time.Time
	// Rand gives random numbers of [0, 1) for the jitter of retries. It must be safe for concurrent use.
	// Default math/rand/v2.
	Rand func() float64
	// Logger gets what operators must know. Default slog.Default.
	Logger *slog.Logger
}

func (c Config) withDefaults() (Config, error) {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if c.Pool == nil {
		fault("Pool is nil: give a connection pool")
	} else if n := c.Pool.Config().MaxConns; n < 2 {
		fault("Pool has %d connection at most: give it 2 or more", n)
	}
	if c.ConnConfig == nil {
		fault("ConnConfig is nil: give the pool's")
	}
	if c.Bus == nil {
		fault("Bus is nil: give one")
	}
	if len(c.Flows) == 0 {
		fault("Flows is empty: give at least one flow")
	}
	for _, n := range []struct {
		name  string
		value *int
		whole int // default
	}{
		{"Slots", &c.Slots, max(MinSlots, 4*runtime.GOMAXPROCS(0))},
		{"BatchSize", &c.BatchSize, DefaultBatchSize},
		{"FinishConns", &c.FinishConns, DefaultFinishConns},
		{"MaxStageOutput", &c.MaxStageOutput, DefaultMaxStageOutput},
		{"MaxShardOutput", &c.MaxShardOutput, DefaultMaxShardOutput},
	} {
		if *n.value < 0 {
			fault("%s is %d: give a positive number, or 0 for the default of %d", n.name, *n.value, n.whole)
		}
		if *n.value <= 0 {
			*n.value = n.whole
		}
	}
	for _, d := range []struct {
		name  string
		value *time.Duration
		whole time.Duration
	}{
		{"Beat", &c.Beat, DefaultBeat},
		{"TTL", &c.TTL, DefaultTTL},
		{"Grace", &c.Grace, DefaultGrace},
		{"Abandon", &c.Abandon, DefaultAbandon},
		{"Flush", &c.Flush, DefaultFlush},
	} {
		if *d.value < 0 {
			fault("%s is %v: give a positive time, or 0 for the default of %v", d.name, *d.value, d.whole)
		}
		if *d.value <= 0 {
			*d.value = d.whole
		}
	}
	c.Logs.fill(fault)
	switch {
	case c.Urgent == 0:
		c.Urgent = DefaultUrgent
	case c.Urgent < 0:
		c.Urgent = 0
	}
	if c.Buffer < 0 {
		fault("Buffer is %d: give a positive number, or 0 for the default", c.Buffer)
	}
	if c.Buffer <= 0 {
		c.Buffer = 4 * c.BatchSize * c.FinishConns
	}
	if c.Namespace == "" {
		c.Namespace = DefaultNamespace
	}
	if c.Rand == nil {
		c.Rand = rand.Float64
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	faults = append(faults, c.checkPools()...)
	return c, errors.Join(faults...)
}

// checkPools tells pools of handlers that the worker does not have, and flows of one name.
func (c *Config) checkPools() []error {
	var faults []error
	known := make(map[string]bool)
	names := make(map[string]bool)
	for _, f := range c.Flows {
		if f == nil {
			faults = append(faults, errors.New("a flow is nil: remove it"))
			continue
		}
		if names[f.Name()] {
			faults = append(faults, fmt.Errorf("two flows have the name %q: give one of them to another worker", f.Name()))
		}
		names[f.Name()] = true
		for _, d := range f.Defs() {
			known[f.Name()+"/"+d.Name] = true
		}
	}
	for name, size := range c.Pools {
		if !known[name] {
			faults = append(faults, fmt.Errorf("%q of Pools is no handler of this worker: use \"flow/stage\"", strings.ToValidUTF8(name, "?")))
		}
		if size < 1 {
			faults = append(faults, fmt.Errorf("%q of Pools has %d slots: give 1 or more", name, size))
		}
	}
	return faults
}
