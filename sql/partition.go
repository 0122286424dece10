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
	{"run_label", ""},
	{"log", ""},
}

// EnsurePartitions makes the daily partitions from yesterday (ids are minted from an estimate of the
// database's clock) to ahead days after now, and those of older days for tables that came with a later migration. It blocks
// nobody, and is safe to call concurrently and repeatedly.
func EnsurePartitions(ctx context.Context, q Querier, now time.Time, ahead int) error {
	var days []time.Time
	if err := q.QueryRow(ctx, "SELECT coalesce(array_agg(day ORDER BY day), '{}') FROM ax.partition WHERE NOT dropping").Scan(&days); err != nil {
		return fmt.Errorf("listing the days of partitions: %w", err)
	}
	for d := -1; d <= ahead; d++ {
		days = append(days, Day(now).AddDate(0, 0, d))
	}
	for _, day := range days {
		if err := ensureDay(ctx, q, day); err != nil {
			return fmt.Errorf("making the partitions of %s: %w", day.Format(time.DateOnly), err)
		}
	}
	return nil
}

// Day is the day, in UTC, whose partitions hold what was minted at t.
func Day(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }

func ensureDay(ctx context.Context, q Querier, day time.Time) error {
	var names []string
	for _, t := range partitioned {
		names = append(names, partitionName(t.name, day))
	}
	var known bool
	if err := q.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM ax.partition WHERE day = $1::date)
		AND (SELECT count(*) FROM pg_inherits WHERE inhrelid IN (SELECT to_regclass(n) FROM unnest($2::text[]) AS n)) = cardinality($2::text[])`,
		day, names).Scan(&known); err != nil || known {
		return err
	}
	for _, t := range partitioned {
		name := partitionName(t.name, day)
		// A table that is made apart and attached then locks its parent against changes of the schema only.
		// CREATE ... PARTITION OF would lock it against everything.
		create := "CREATE TABLE IF NOT EXISTS " + name + " (LIKE ax." + t.name + " INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING INDEXES)"
		if t.with != "" {
			create += " WITH (" + t.with + ")"
		}
		// Whoever makes it, it belongs to its parent's owner: another user may have to drop it (see CreateRoles).
		owner, err := ownerOther(ctx, q, t.name)
		if err != nil {
			return err
		}
		if owner != "" {
			create += "; ALTER TABLE " + name + " OWNER TO " + owner
		}
		attach := fmt.Sprintf("ALTER TABLE ax.%s ATTACH PARTITION %s FOR VALUES FROM ('%s') TO ('%s')", t.name, name, DayBound(day), DayBound(day.AddDate(0, 0, 1)))
		for _, ddl := range []string{create, attach} {
			if _, err := q.Exec(ctx, ddl); err != nil && !madeMeanwhile(err) {
				return err
			}
		}
	}
	_, err := q.Exec(ctx, "INSERT INTO ax.partition (day) VALUES ($1::date) ON CONFLICT DO NOTHING", day)
	return err
}

func partitionName(table string, day time.Time) string {
	return "ax." + table + "_" + day.Format("20060102")
}

// DayBound is the smallest UUIDv7 of the instant t: the lower bound of a partition that begins there.
func DayBound(t time.Time) uuid.UUID {
	var id uuid.UUID
	binary.BigEndian.PutUint64(id[:8], uint64(t.UnixMilli())<<16)
	return id
}

// madeMeanwhile tells the errors of two processes that make the same partition at the same moment: a table or a
// type of that name exists, or it is attached already.
func madeMeanwhile(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == "42P07" || pg.Code == "42710" || pg.Code == "23505" ||
		pg.Code == "42809" && pg.Routine == "ATExecAttachPartition" || pg.Code == "42P17" && pg.Routine == "check_new_partition_bound")
}
