package pgtest_test

import (
	"testing"
	"time"

	"axflow/internal/pgtest"
)

func TestNewIsMigratedAndSeparate(t *testing.T) {
	a, b := pgtest.New(t), pgtest.New(t)
	ctx := pgtest.Context(t, time.Minute)
	if _, err := a.Pool.Exec(ctx, "CREATE TABLE only_in_a ()"); err != nil {
		t.Fatal(err)
	}
	var tables int
	if err := b.Pool.QueryRow(ctx, "SELECT count(*) FROM pg_tables WHERE tablename = 'only_in_a'").Scan(&tables); err != nil {
		t.Fatal(err)
	}
	if tables != 0 {
		t.Error("a table made in one test's database is seen in another's")
	}
	if err := b.Pool.QueryRow(ctx, "SELECT count(*) FROM pg_tables WHERE schemaname = 'ax' AND tablename = 'run'").Scan(&tables); err != nil {
		t.Fatal(err)
	}
	if tables != 1 {
		t.Error("schema ax has no table run: the template was not migrated")
	}
}

func TestDatabaseIsDropped(t *testing.T) {
	var name string
	t.Run("inner", func(t *testing.T) { name = pgtest.New(t, pgtest.Empty()).Name })
	d := pgtest.New(t, pgtest.Empty())
	var n int
	if err := d.Pool.QueryRow(pgtest.Context(t, time.Minute), "SELECT count(*) FROM pg_database WHERE datname = $1", name).Scan(&n); err != nil {
		t.Fatal(err)
	}
	if n != 0 {
		t.Errorf("database %s outlived its test", name)
	}
}

func TestOwnSurvivesRestart(t *testing.T) {
	d := pgtest.Own(t)
	ctx := pgtest.Context(t, 2*time.Minute)
	if _, err := d.Pool.Exec(ctx, "CREATE TABLE kept (n int); "); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Pool.Exec(ctx, "INSERT INTO kept VALUES (7)"); err != nil {
		t.Fatal(err)
	}
	if err := d.Server.PG.ImmediateRestart(ctx); err != nil {
		t.Fatal(err)
	}
	var n int
	pgtest.Eventually(t, time.Minute, func() (bool, string) {
		err := d.Pool.QueryRow(ctx, "SELECT n FROM kept").Scan(&n)
		if err != nil {
			return false, err.Error()
		}
		return true, ""
	})
	if n != 7 {
		t.Errorf("the committed row says %d after an immediate restart, want 7", n)
	}
}
