package measure

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/jackc/pgx/v5"
)

// Setting is one PostgreSQL setting, in the spelling of postgresql.conf.
type Setting struct {
	Name, Value string
	// Must is set where another value would make results incomparable or not durable: a server that is given
	// by AX_BENCH_DATABASE_URL and differs is refused. Other differences are only reported.
	Must bool
}

// Settings are the settings of every bench, the same for all contestants. The sizes keep checkpoints out of the
// measured time: no bench writes 8 GB of WAL or runs for half an hour.
func Settings() []Setting {
	return []Setting{
		{"fsync", "on", true},
		{"synchronous_commit", "on", true},
		{"full_page_writes", "on", true},
		{"wal_compression", "off", true},
		{"autovacuum", "on", true},
		{"wal_level", "replica", false},
		{"shared_buffers", "512MB", false},
		{"min_wal_size", "2GB", false},
		{"max_wal_size", "8GB", false},
		{"checkpoint_timeout", "30min", false},
		{"max_connections", "200", false},
	}
}

// check compares a server's settings with Settings.
func check(ctx context.Context, conn *pgx.Conn, log *slog.Logger) error {
	for _, s := range Settings() {
		// PostgreSQL shows a value in the largest unit that divides it, which is how Settings spells it.
		var have string
		if err := conn.QueryRow(ctx, "SELECT current_setting($1)", s.Name).Scan(&have); err != nil {
			return fmt.Errorf("reading the server's %s: %w", s.Name, err)
		}
		switch {
		case have == s.Value:
		case s.Must:
			return fmt.Errorf("the server has %s=%s, a bench needs %s: set it, or unset %s to use an embedded server",
				s.Name, have, s.Value, URLVariable)
		default:
			log.Warn("the server's setting differs from the benches'", "name", s.Name, "have", have, "want", s.Value)
		}
	}
	return nil
}
