package stage

import (
	"context"
	"log/slog"
)

// Log is the logger of the handler that got ctx. What it takes goes to the worker's own logger and, in batches, to the
// database, where people read it by run, stage, shard and attempt; docs/logs.md says what bounds it. Logging never waits for the
// database. Every line knows its task: a handler adds only what it alone knows.
//
// For a context that is not a handler's it is slog.Default, so code that handlers share with others may use it anywhere. Lines
// that are logged after the handler has returned are not stored.
func Log(ctx context.Context) *slog.Logger {
	if env, ok := EnvFrom(ctx); ok {
		if l := env.Logger(); l != nil {
			return l
		}
	}
	return slog.Default()
}
