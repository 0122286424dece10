package sql_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"axflow/internal/pgtest"
	axsql "axflow/sql"
)

// One database serves all of these: migrating one from nothing takes longer than they do.
func TestRoles(t *testing.T) {
	e := pgtest.NewEstate(t)
	t.Run("may what their statements need and nothing else", func(t *testing.T) { rolesSuffice(t, e) })
	t.Run("are refused", func(t *testing.T) { rolesAreRefused(t, e) })
	t.Run("readers read", func(t *testing.T) { readersRead(t, e) })
	t.Run("are mended by making them again", func(t *testing.T) { rolesAgain(t, e) })
	t.Run("leave the owner able to migrate", func(t *testing.T) { ownersAfterRoles(t, e) })
}

// What roles must not be able to do, written down apart from the grants.
func rolesAreRefused(t *testing.T, e *pgtest.Estate) {
	ctx := pgtest.Context(t, 3*time.Minute)
	if _, err := e.Pool.Exec(ctx, `INSERT INTO ax.audit (namespace, id, actor, verb, target) VALUES ('n', gen_random_uuid(), 'a', 'v', 't')`); err != nil {
		t.Fatal(err)
	}
	today := axsql.Day(time.Now()).Format("20060102")
	for part, statements := range map[string][]string{
		"engine": {
			"SELECT hash FROM ax.token", "SELECT 1 FROM ax.token", "INSERT INTO ax.token DEFAULT VALUES", "SELECT 1 FROM ax.session",
			"SELECT 1 FROM ax.audit", "UPDATE ax.audit SET actor = ''", "DELETE FROM ax.audit", "UPDATE ax.setting SET value = 'true'",
			"DROP TABLE ax.audit", "ALTER TABLE ax.token ADD COLUMN x int", "UPDATE ax.lease_term SET epoch = 0",
		},
		"worker": {
			"SELECT 1 FROM ax.token", "SELECT 1 FROM ax.session", "SELECT 1 FROM ax.audit", "INSERT INTO ax.audit DEFAULT VALUES", "DELETE FROM ax.audit",
			"UPDATE ax.run SET state = 10", "DELETE FROM ax.run", "UPDATE ax.result SET outcome = 10", "DELETE FROM ax.result", "DELETE FROM ax.journal",
			"SELECT 1 FROM ax.lease", "UPDATE ax.lease SET epoch = 0", "UPDATE ax.setting SET value = 'true'", "INSERT INTO ax.flight SELECT * FROM ax.flight",
			"SELECT secret FROM ax.webhook", "SELECT url FROM ax.webhook", "SELECT 1 FROM ax.log", "UPDATE ax.queue SET concurrency = 1", "DELETE FROM ax.hold",
			"CREATE TABLE ax.mine ()", "DROP TABLE ax.run_" + today, "SELECT 1 FROM ax.run_" + today,
		},
		"api": {
			"UPDATE ax.audit SET actor = ''", "DELETE FROM ax.audit", "TRUNCATE ax.audit", "DELETE FROM ax.token", "SELECT secret FROM ax.webhook", "DELETE FROM ax.journal", "DELETE FROM ax.run",
			"DELETE FROM ax.result", "UPDATE ax.result SET outcome = 10", "INSERT INTO ax.flight SELECT * FROM ax.flight", "UPDATE ax.lease SET epoch = 0",
			"UPDATE ax.partition SET dropping = true", "CREATE TABLE ax.mine ()", "DROP TABLE ax.run_" + today,
		},
		"reader": {
			"SELECT hash FROM ax.token", "SELECT * FROM ax.token", "SELECT 1 FROM ax.session", "SELECT params FROM ax.run", "SELECT error FROM ax.run",
			"SELECT output FROM ax.result", "SELECT error FROM ax.result", "SELECT 1 FROM ax.shard_input", "SELECT 1 FROM ax.log", "SELECT secret FROM ax.webhook",
			"SELECT url FROM ax.webhook", "INSERT INTO ax.audit DEFAULT VALUES", "UPDATE ax.setting SET value = 'true'", "DELETE FROM ax.ready",
			"SELECT state FROM ax.run_" + today, "CREATE TABLE ax.mine ()",
		},
	} {
		conn := e.Dial(e.Login(part, part))
		for _, statement := range statements {
			_, err := conn.Exec(ctx, statement)
			var pg *pgconn.PgError
			if !errors.As(err, &pg) || pg.Code != "42501" {
				t.Errorf("%s: %s: %v, want a refusal", part, statement, err)
			}
		}
	}
}

func readersRead(t *testing.T, e *pgtest.Estate) {
	conn := e.Dial(e.Login("reads", "reader"))
	for _, statement := range []string{
		"SELECT run_id, state, flow, tags, created_at FROM ax.run", "SELECT run_id, ord, state, succeeded FROM ax.stage", "SELECT n, queue, todo FROM ax.ready",
		"SELECT outcome, finished_at - started_at FROM ax.result", "SELECT graph FROM ax.flow_version", "SELECT name, prefix, last_used_at FROM ax.token",
		"SELECT actor, verb, target FROM ax.audit", "SELECT max(version_id) FROM ax.schema_version",
	} {
		if _, err := conn.Exec(t.Context(), statement); err != nil {
			t.Errorf("%s: %v", statement, err)
		}
	}
}

// What somebody gave or took away is as it should be after the next run, and nothing else changes.
func rolesAgain(t *testing.T, e *pgtest.Estate) {
	ctx := pgtest.Context(t, 3*time.Minute)
	const acls = `SELECT c.relname || ' is of ' || c.relowner::regrole FROM pg_class c WHERE c.relnamespace = 'ax'::regnamespace AND c.relkind IN ('r', 'p')
		UNION ALL SELECT c.relname || ': ' || a.grantee::regrole || ' ' || a.privilege_type FROM pg_class c, aclexplode(c.relacl) a WHERE c.relnamespace = 'ax'::regnamespace
		UNION ALL SELECT c.relname || '.' || t.attname || ': ' || a.grantee::regrole || ' ' || a.privilege_type
			FROM pg_class c JOIN pg_attribute t ON t.attrelid = c.oid, aclexplode(t.attacl) a WHERE c.relnamespace = 'ax'::regnamespace
		ORDER BY 1`
	before := e.Strings(acls)
	e.Exec("GRANT SELECT ON ax.token TO " + e.Prefix + "_worker")
	e.Exec("GRANT SELECT (hash) ON ax.token TO " + e.Prefix + "_reader, PUBLIC")
	e.Exec("REVOKE INSERT ON ax.result FROM " + e.Prefix + "_worker")
	e.Exec("ALTER TABLE ax.run_" + axsql.Day(time.Now()).Format("20060102") + " OWNER TO CURRENT_USER")
	// A superuser may do it as well as the owner.
	conn, err := e.Pool.Acquire(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	if err := axsql.CreateRoles(ctx, conn.Conn(), axsql.RolesOptions{Prefix: e.Prefix}); err != nil {
		t.Fatal(err)
	}
	e.Migrate()
	after := e.Strings(acls)
	for _, line := range before {
		if !slices.Contains(after, line) {
			t.Errorf("lost: %s", line)
		}
	}
	for _, line := range after {
		if !slices.Contains(before, line) {
			t.Errorf("new: %s", line)
		}
	}
	if prefix, made, err := axsql.RolesPrefix(ctx, e.Pool); err != nil || !made || prefix != e.Prefix {
		t.Errorf("the roles' prefix: %q, %v, %v, want %q", prefix, made, err, e.Prefix)
	}
	if _, made, err := axsql.RolesPrefix(ctx, pgtest.New(t).Pool); err != nil || made {
		t.Errorf("a database without roles: %v, %v", made, err)
	}
}

// The user that migrates still can when the engine owns tables, and a member of the engine's role makes partitions that another
// one drops.
func ownersAfterRoles(t *testing.T, e *pgtest.Estate) {
	ctx := pgtest.Context(t, 3*time.Minute)
	if _, err := e.As(e.Owner).Exec(ctx, "ALTER TABLE ax.run ADD COLUMN later int"); err != nil {
		t.Errorf("the owner changes a table of the engine: %v", err)
	}
	day := axsql.Day(time.Now()).AddDate(0, 0, -100)
	if err := axsql.EnsurePartitions(ctx, e.Dial(e.Login("one", "engine")), day, 0); err != nil {
		t.Fatal(err)
	}
	dropped, err := axsql.Retain(ctx, e.Dial(e.Login("other", "engine")), time.Now().AddDate(0, 0, -30))
	if err != nil || len(dropped) != 2 {
		t.Errorf("dropped %v, %v, want two days", dropped, err)
	}
	if left := e.Strings("SELECT relname::text FROM pg_class WHERE relname LIKE '%\\_" + day.Format("20060102") + "'"); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
}

func TestCreateRolesRefusesWhatIsNoName(t *testing.T) {
	conn := acquire(t, pgtest.New(t))
	for _, prefix := range []string{"Ax", "a x", "1a", "a;drop", `a"`, "ä", strings.Repeat("a", 41)} {
		if err := axsql.CreateRoles(context.Background(), conn.Conn(), axsql.RolesOptions{Prefix: prefix}); err == nil {
			t.Errorf("prefix %q was taken", prefix)
		}
	}
}
