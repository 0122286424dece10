package sql

import (
	"context"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// ConfigurePool gives a pool's connections the settings of Configure and the types of Register.
func ConfigurePool(cfg *pgxpool.Config) {
	Configure(cfg.ConnConfig)
	before := cfg.AfterConnect
	cfg.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		Register(conn.TypeMap())
		if before != nil {
			return before(ctx, conn)
		}
		return nil
	}
}

// ReadTimeout is how long a statement of a pool for reads may take.
const ReadTimeout = 5 * time.Second

// ConfigureReads makes a pool one for lists and looks at any time in the past: its transactions read only, and a statement ends after
// ReadTimeout. Plans are generic here too (planning over a month of partitions took longer than reading a page), so the statements are
// such that one plan is right for all values; they join few rows to large tables, and do so by nested loops. What is set already stays.
func ConfigureReads(cfg *pgxpool.Config) {
	set := setter(cfg.ConnConfig)
	set("application_name", "ax reads")
	set("default_transaction_read_only", "on")
	set("statement_timeout", strconv.FormatInt(ReadTimeout.Milliseconds(), 10))
	set("enable_nestloop", "on")
	ConfigurePool(cfg)
}

// Configure gives a connection the settings that the statements rely on. What is set already stays.
//
// Plans are generic: planning for the values at hand took 2.3 ms of a hop's 4.2 ms, most of it in statements that run
// for 0.1 ms. A generic plan prunes partitions when it starts, because every statement names its runs, and locking the
// month's partitions first costs some 50 µs. Joins of a batch with a table go by hash: the hot tables are empty one moment and hold thousands of rows the next, so
// their statistics are always wrong, and a nested loop that was chosen for one row takes a batch of 256 from 2 ms to
// 240 ms (measured). The statements name the keys of their batch as arrays, so that a hash join reads only these. For
// the same reason tables are read by index: a plan made at midnight for the new day's empty partition would scan it
// whole until the first ANALYZE, a minute and half a million rows later.
func Configure(cfg *pgx.ConnConfig) {
	set := setter(cfg)
	set("application_name", "ax")
	set("plan_cache_mode", "force_generic_plan")
	set("enable_nestloop", "off")
	set("enable_seqscan", "off")
	set("random_page_cost", "1.1")
	set("jit", "off")
	set("timezone", "UTC")
}

// setter sets what is not set.
func setter(cfg *pgx.ConnConfig) func(name, value string) {
	return func(name, value string) {
		if _, ok := cfg.RuntimeParams[name]; !ok {
			cfg.RuntimeParams[name] = value
		}
	}
}
