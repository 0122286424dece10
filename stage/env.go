package stage

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"strconv"
	"time"

	"github.com/google/uuid"
)

// Info says which execution of which task a handler is running.
type Info struct {
	Namespace  string    // of the run
	Flow       string    // name of the flow
	Version    string    // content version of the flow that the run is pinned to
	Run        uuid.UUID // the run
	Trace      uuid.UUID // the run's trace id
	Stage      string    // name of the stage
	Ord        int       // number of the stage in its graph
	Generation int       // 1 at first; raised by each rerun of the stage
	Attempt    int       // 1 at first; raised by each failure and each operator's retry
	// MaxAttempts is how many attempts the task has; Attempt == MaxAttempts is the last one.
	MaxAttempts int
	Delivery    int       // 0 or 1 at first; raised when the task was interrupted or lost with its worker
	Index       int       // the shard's index; 0 for an unsharded stage, -1 for a plan
	Total       int       // how many shards the stage has; 1 for an unsharded stage, 0 for a plan
	Execution   uuid.UUID // this hand-out of the task; new at every hand-out
	Worker      uuid.UUID // the worker
	// From and To are the run's data interval, half-open; zero for runs that have none.
	From, To time.Time
}

// IdempotencyKey returns a key that stays the same over every attempt and delivery of the task within one
// generation: run/stage/generation/index. A handler that gives it to another system with its request can
// be repeated safely.
func (i Info) IdempotencyKey() string {
	return i.Run.String() + "/" + i.Stage + "/" + strconv.Itoa(i.Generation) + "/" + strconv.Itoa(i.Index)
}

// Shard is one shard of an upstream, with its output.
type Shard struct {
	Index, Total int
	Item         Item
	Cut          *Cut
	Output       []byte // JSON; nil when the stage's output type is struct{}
}

// Env is what a handler's context carries: the worker's side of Info, Output and Outputs. Handlers use
// InfoFrom, Log, Progress and the methods of stages instead. An Env must be safe for concurrent use.
type Env interface {
	// Info says what is running.
	Info() Info
	// Output returns the JSON output of an unsharded upstream, or, within an aligned stage, the output of
	// the same index of the stage it is aligned to. The errors are, wrapped, ErrNotUpstream and ErrNoOutput.
	Output(ctx context.Context, up *Def) ([]byte, error)
	// Outputs streams the shards of a sharded upstream that succeeded, in the order of their indices. An
	// error is yielded once, last.
	Outputs(ctx context.Context, up *Def) iter.Seq2[Shard, error]
	// Counts says how the shards of a decided upstream ended. The error is ErrNotUpstream, wrapped, or of the database.
	Counts(ctx context.Context, up *Def) (ShardCounts, error)
	// Heartbeat is a sign of life of the handler, for Timeout.Heartbeat.
	Heartbeat()
	// Progress is how far the handler is, both finite; total is 0 or less while it is not known. It is a sign of life too.
	Progress(done, total float64)
	// Detail is what the handler says that it is doing. It is a sign of life too.
	Detail(text string)
	// Logger is the handler's logger; nil: slog.Default.
	Logger() *slog.Logger
	// Fail remembers the error of a stream: the attempt fails with it even if the handler returns nil.
	Fail(err error)
}

type envKey struct{}

// WithEnv returns a context that carries env. Workers call it, and tests of handlers.
func WithEnv(ctx context.Context, env Env) context.Context {
	return context.WithValue(ctx, envKey{}, env)
}

// EnvFrom returns the Env of a handler's context.
func EnvFrom(ctx context.Context) (Env, bool) {
	env, ok := ctx.Value(envKey{}).(Env)
	return env, ok
}

// InfoFrom says which execution of which task the handler that got ctx is running. ok is false for a
// context that is not a handler's.
func InfoFrom(ctx context.Context) (info Info, ok bool) {
	env, ok := EnvFrom(ctx)
	if !ok {
		return Info{}, false
	}
	return env.Info(), true
}

// Heartbeat is a handler's sign of life. A stage with Timeout.Heartbeat must give one within that time again and again, or its
// attempt is timed out. It costs next to nothing, and does nothing for a context that is not a handler's.
func Heartbeat(ctx context.Context) {
	if env, ok := EnvFrom(ctx); ok {
		env.Heartbeat()
	}
}

// CountsOf says how the shards of up ended, to the handler of a stage that comes after it. It is for adapters.
func CountsOf(ctx context.Context, up *Def) (ShardCounts, error) {
	env, ok := EnvFrom(ctx)
	if !ok {
		return ShardCounts{}, fmt.Errorf("counting the shards of stage %q: %w", up.Name, ErrNoEnv)
	}
	c, err := env.Counts(ctx, up)
	if err != nil {
		return ShardCounts{}, fmt.Errorf("counting the shards of stage %q: %w", up.Name, err)
	}
	return c, nil
}
