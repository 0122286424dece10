package sql_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"axflow/internal/pgtest"
	"axflow/internal/uuid7"
	axsql "axflow/sql"
)

// empty is a database without AX in it.
func empty(t *testing.T) (*pgx.Conn, string) {
	t.Helper()
	d := pgtest.New(t, pgtest.Empty())
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, d.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(ctx) })
	return conn, d.URL
}

func TestTenMigrateAtOnce(t *testing.T) {
	conn, url := empty(t)
	ctx := context.Background()
	if err := axsql.Check(ctx, conn); !errors.Is(err, axsql.ErrSchemaOlder) {
		t.Errorf("check of an empty database: %v, want ErrSchemaOlder", err)
	}
	var wg sync.WaitGroup
	for i := range 10 {
		wg.Go(func() {
			if err := axsql.Migrate(ctx, url); err != nil {
				t.Errorf("process %d: %v", i, err)
			}
		})
	}
	wg.Wait()
	if err := axsql.Check(ctx, conn); err != nil {
		t.Errorf("check after migrating: %v", err)
	}
	var applied, versions int
	if err := conn.QueryRow(ctx, "SELECT count(*), count(DISTINCT version_id) FROM ax.schema_version WHERE version_id > 0").Scan(&applied, &versions); err != nil {
		t.Fatal(err)
	}
	if applied != versions || applied == 0 {
		t.Errorf("%d migrations applied for %d versions: each must run once", applied, versions)
	}
}

func TestNewerSchemaIsRefused(t *testing.T) {
	d := pgtest.New(t)
	ctx := context.Background()
	if _, err := d.Pool.Exec(ctx, "INSERT INTO ax.schema_version (version_id, is_applied) VALUES (9999, true)"); err != nil {
		t.Fatal(err)
	}
	if err := axsql.Check(ctx, d.Pool); !errors.Is(err, axsql.ErrSchemaNewer) {
		t.Errorf("check: %v, want ErrSchemaNewer", err)
	}
	if err := axsql.Migrate(ctx, d.URL); !errors.Is(err, axsql.ErrSchemaNewer) {
		t.Errorf("migrate: %v, want ErrSchemaNewer", err)
	}
}

// Ids of every moment from yesterday to the last day ahead have a partition, at the edges of days too; an id beyond
// has none.
func TestPartitionsCoverTheirDays(t *testing.T) {
	d := pgtest.New(t)
	ctx := context.Background()
	minter := uuid7.New(time.Now, nil)
	today := time.Now().UTC().Truncate(24 * time.Hour)
	insert := func(at time.Time) error {
		_, err := d.Pool.Exec(ctx, `INSERT INTO ax.journal (run_id, id, kind, actor) VALUES ($1, $1, 'test', 'test')`, minter.MintAt(at))
		return err
	}
	// The minter's ids never go back, so the moments are in order.
	for day := 0; day <= axsql.DefaultAhead; day++ {
		from := today.AddDate(0, 0, day)
		for _, at := range []time.Time{from, from.Add(24*time.Hour - time.Millisecond)} {
			if err := insert(at); err != nil {
				t.Errorf("%s: %v", at, err)
			}
		}
	}
	if err := insert(today.AddDate(0, 0, axsql.DefaultAhead+1)); err == nil {
		t.Error("an id beyond the last partition was stored")
	}
	// Making them again changes nothing, and later days join on.
	if err := axsql.EnsurePartitions(ctx, d.Pool, time.Now().AddDate(0, 0, 2), axsql.DefaultAhead); err != nil {
		t.Fatal(err)
	}
	if err := insert(today.AddDate(0, 0, axsql.DefaultAhead+1)); err != nil {
		t.Errorf("after making more partitions: %v", err)
	}
}

func TestDayBound(t *testing.T) {
	// 2026-11-29T00:00:00Z is 1,795,910,400,000 ms, 0x01a2_2499_f800 in 48 bits.
	got := axsql.DayBound(time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC))
	if want := uuid.MustParse("01a22499-f800-0000-0000-000000000000"); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
