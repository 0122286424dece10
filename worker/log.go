package worker

import "log/slog"

type taskLog struct{ logger *slog.Logger }

// Logger is the handler's logger.
func (t *task) Logger() *slog.Logger { return nil }
