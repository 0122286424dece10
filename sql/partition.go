package sql

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"
)

// DefaultAhead is how many days of partitions exist beyond today.
const DefaultAhead = 3

// partitioned are the tables that are cut by day of the run's UUIDv7.
var partitioned = [...]struct{ name, with string }{
	{"run", "fillfactor = 80"},
	{"stage", "fillfactor = 60, autovacuum_vacuum_scale_factor = 0.05"},
	{"shard_input", ""},
	{"result", ""},
	{"journal", ""},
}

// EnsurePartitions makes the daily partitions from yesterday (ids are minted from an estimate of the
// database's clock) to ahead days after now. It is safe to call concurrently and repeatedly.
func EnsurePartitions(ctx context.Context, q Querier, now time.Time, ahead int) error {
	day := now.UTC().Truncate(24 * time.Hour)
	for d := -1; d <= ahead; d++ {
		from := day.AddDate(0, 0, d)
		// One look for the whole day: the last table's partition is made last.
		last := fmt.Sprintf("ax.%s_%s", partitioned[len(partitioned)-1].name, from.Format("20060102"))
		var there bool
		if err := q.QueryRow(ctx, "SELECT to_regclass($1) IS NOT NULL", last).Scan(&there); err != nil {
			return fmt.Errorf("looking for partition %s: %w", last, err)
		}
		if there {
			continue
		}
		lo, hi := DayBound(from), DayBound(from.AddDate(0, 0, 1))
		for _, t := range partitioned {
			ddl := fmt.Sprintf("CREATE TABLE IF NOT EXISTS ax.%[1]s_%[2]s PARTITION OF ax.%[1]s FOR VALUES FROM ('%[3]s') TO ('%[4]s')",
				t.name, from.Format("20060102"), lo, hi)
			if t.with != "" {
				ddl += " WITH (" + t.with + ")"
			}
			if _, err := q.Exec(ctx, ddl); err != nil && !madeMeanwhile(err) {
				return fmt.Errorf("making partition ax.%s_%s: %w", t.name, from.Format("20060102"), err)
			}
		}
	}
	return nil
}

// DayBound is the smallest UUIDv7 of the instant t: the lower bound of a partition that begins there.
func DayBound(t time.Time) uuid.UUID {
	var id uuid.UUID
	binary.BigEndian.PutUint64(id[:8], uint64(t.UnixMilli())<<16)
	return id
}

// madeMeanwhile tells the errors of two processes that make the same partition at the same moment.
func madeMeanwhile(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == "42P07" || pg.Code == "23505" || pg.Code == "42P17" && pg.Routine == "check_new_partition_bound")
}
