package sql

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"axflow/sql/db"
)

// RetainConn is one connection, outside any transaction.
type RetainConn interface {
	db.DBTX
	Begin(ctx context.Context) (pgx.Tx, error)
}

// Retain drops the days of partitions before the day of keepFrom: their runs with stages, results and journals. A day
// stays while one of its runs is open or ended after keepFrom; it is looked at again the next time. It returns the
// days that it dropped. Readers and writers of other days are not held up: partitions are detached concurrently.
// What is interrupted half-way is continued by the next call.
func Retain(ctx context.Context, conn RetainConn, keepFrom time.Time) ([]time.Time, error) {
	q := db.New(conn)
	rows, err := q.OldDays(ctx, Day(keepFrom))
	if err != nil {
		return nil, fmt.Errorf("looking for old days: %w", err)
	}
	var dropped []time.Time
	for _, row := range rows {
		if !row.Dropping {
			marked, err := markDay(ctx, conn, row.Day, keepFrom)
			if err != nil {
				return dropped, fmt.Errorf("marking %s: %w", row.Day.Format(time.DateOnly), err)
			}
			if !marked {
				continue
			}
		}
		if err := dropDay(ctx, conn, row.Day); err != nil {
			return dropped, fmt.Errorf("dropping %s: %w", row.Day.Format(time.DateOnly), err)
		}
		dropped = append(dropped, row.Day)
	}
	return dropped, nil
}

// logLockWait bounds how long RetainLogs waits for readers of a day's logs, with everybody else waiting behind it.
const logLockWait = "2s"

// RetainLogs empties the logs of the days before the day of keepFrom, and nothing else of them: for logs that are kept for a
// shorter time than their runs. A day's logs stay while one of its runs is open or ended after keepFrom. It returns the days that
// it emptied. Late lines and those of a rerun are stored as ever, and go the next time.
func RetainLogs(ctx context.Context, conn RetainConn, keepFrom time.Time) ([]time.Time, error) {
	q := db.New(conn)
	rows, err := q.OldDays(ctx, Day(keepFrom))
	if err != nil {
		return nil, fmt.Errorf("looking for old days: %w", err)
	}
	var emptied []time.Time
	for _, row := range rows {
		if row.Dropping {
			continue
		}
		name := partitionName("log", row.Day)
		var holds bool
		if err := conn.QueryRow(ctx, "SELECT coalesce(pg_relation_size(to_regclass($1)), 0) > 0", name).Scan(&holds); err != nil {
			return emptied, fmt.Errorf("looking at the logs of %s: %w", row.Day.Format(time.DateOnly), err)
		}
		if !holds {
			continue
		}
		over, err := q.DayIsOver(ctx, db.DayIsOverParams{First: DayBound(row.Day), After: DayBound(row.Day.AddDate(0, 0, 1)), Before: keepFrom})
		if err == nil && over {
			err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
				if _, err := tx.Exec(ctx, "SET LOCAL lock_timeout = '"+logLockWait+"'"); err != nil {
					return err
				}
				_, err := tx.Exec(ctx, "TRUNCATE "+name)
				return err
			})
		}
		if err != nil {
			return emptied, fmt.Errorf("emptying the logs of %s: %w", row.Day.Format(time.DateOnly), err)
		}
		if over {
			emptied = append(emptied, row.Day)
		}
	}
	return emptied, nil
}

func markDay(ctx context.Context, conn RetainConn, day, keepFrom time.Time) (marked bool, err error) {
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		q := db.New(tx)
		if _, err := q.LockDay(ctx, day); err != nil {
			return err
		}
		n, err := q.MarkDay(ctx, db.MarkDayParams{Day: day, First: DayBound(day), After: DayBound(day.AddDate(0, 0, 1)), Before: keepFrom})
		marked = n > 0
		return err
	})
	return marked, err
}

func dropDay(ctx context.Context, conn RetainConn, day time.Time) error {
	for _, t := range partitioned {
		if err := dropPartition(ctx, conn, t.name, partitionName(t.name, day)); err != nil {
			return err
		}
	}
	q := db.New(conn)
	if err := q.DropDayParked(ctx, db.DropDayParkedParams{First: DayBound(day), After: DayBound(day.AddDate(0, 0, 1))}); err != nil {
		return fmt.Errorf("deleting its parked rows: %w", err)
	}
	return q.RemoveDay(ctx, day)
}

// dropPartition detaches a partition and drops it, from whichever step an earlier attempt has left.
func dropPartition(ctx context.Context, conn RetainConn, table, name string) error {
	var there, attached, pending bool
	err := conn.QueryRow(ctx, `SELECT to_regclass($1) IS NOT NULL,
		EXISTS (SELECT 1 FROM pg_inherits WHERE inhrelid = to_regclass($1)),
		EXISTS (SELECT 1 FROM pg_inherits WHERE inhrelid = to_regclass($1) AND inhdetachpending)`, name).Scan(&there, &attached, &pending)
	if err != nil || !there {
		return err
	}
	how := " CONCURRENTLY"
	if pending {
		how = " FINALIZE"
	}
	if attached {
		if _, err := conn.Exec(ctx, "ALTER TABLE ax."+table+" DETACH PARTITION "+name+how); err != nil {
			return fmt.Errorf("detaching %s: %w", name, err)
		}
	}
	if _, err := conn.Exec(ctx, "DROP TABLE IF EXISTS "+name); err != nil {
		return fmt.Errorf("dropping %s: %w", name, err)
	}
	return nil
}
