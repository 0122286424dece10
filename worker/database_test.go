package worker

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"axflow/internal/pgtest"
	axsql "axflow/sql"
)

// databases are used by one test after another: on a busy machine, making one takes longer than most of these tests.
// They end with the test binary's server.
var databases struct {
	mu   sync.Mutex
	made int
	free []string // URLs
}

// empty deletes everything that a test may have left.
const empty = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid();
DROP TABLE IF EXISTS effect, parent; DROP FUNCTION IF EXISTS slow;
DELETE FROM ax.run; DELETE FROM ax.stage; DELETE FROM ax.shard_input; DELETE FROM ax.result; DELETE FROM ax.journal; DELETE FROM ax.ready;
DELETE FROM ax.flight; DELETE FROM ax.parked; DELETE FROM ax.worker; DELETE FROM ax.ask; DELETE FROM ax.flow; DELETE FROM ax.flow_version;
DELETE FROM ax.child; DELETE FROM ax.circuit; DELETE FROM ax.pool; DELETE FROM ax.setting; DELETE FROM ax.expiry; DELETE FROM ax.audit; DELETE FROM ax.log`

// database is the URL of a database that holds nothing, for this test.
func database(ctx context.Context, t *testing.T) string {
	t.Helper()
	server := pgtest.Shared(t)
	if server.PG == nil {
		return pgtest.New(t).URL // somebody else's server: leave nothing behind
	}
	databases.mu.Lock()
	url := ""
	if n := len(databases.free); n > 0 {
		url, databases.free = databases.free[n-1], databases.free[:n-1]
	} else {
		databases.made++
		name := fmt.Sprintf("worker_%d", databases.made)
		url = server.PG.SocketURL(name)
		execute(ctx, t, server.PG.SocketURL("postgres"), "CREATE DATABASE "+name)
		if err := axsql.Migrate(ctx, url); err != nil {
			databases.mu.Unlock()
			t.Fatal(err)
		}
	}
	databases.mu.Unlock()
	execute(ctx, t, url, empty)
	t.Cleanup(func() {
		databases.mu.Lock()
		defer databases.mu.Unlock()
		databases.free = append(databases.free, url)
	})
	return url
}

func execute(ctx context.Context, t *testing.T, url, sql string) {
	t.Helper()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if _, err := conn.Exec(ctx, sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}
