package measure

import (
	"context"
	"log/slog"
	"time"

	"axflow/internal/pg"
)

// embedded starts a server of our own with Settings, in a folder under os.TempDir that goes with it: set TMPDIR to
// measure another disk.
func embedded(ctx context.Context, log *slog.Logger) (url string, stop func() error, err error) {
	settings := make(map[string]string)
	for _, s := range Settings() {
		settings[s.Name] = s.Value
	}
	server, err := pg.Start(ctx, pg.Config{Ephemeral: true, Settings: settings, Logger: log})
	if err != nil {
		return "", nil, err
	}
	stop = func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		return server.Stop(ctx)
	}
	return server.SocketURL("postgres"), stop, nil
}
