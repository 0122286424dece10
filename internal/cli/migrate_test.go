package cli_test

import (
	"context"
	"crypto/rand"
	"strings"
	"testing"

	"axflow/internal/pgtest"
	axsql "axflow/sql"
)

// Roles are made once and brought up to date by every migration; a database has one set of them.
func TestMigrateRoles(t *testing.T) {
	admin := pgtest.New(t, pgtest.Empty())
	prefix := "t" + strings.ToLower(rand.Text()[:12])
	t.Cleanup(func() { // after the database whose tables they own
		for _, part := range []string{"engine", "worker", "api", "reader"} {
			if _, err := admin.Pool.Exec(context.Background(), "DROP ROLE "+prefix+"_"+part); err != nil {
				t.Error(err)
			}
		}
	})
	d := admin.Server.New(t, pgtest.Empty())
	x := terminal{t: t, url: d.URL}
	stdout, _ := x.ax(0, "migrate")
	if strings.Contains(stdout, "roles") {
		t.Errorf("a database without roles: %s", stdout)
	}
	stdout, _ = x.ax(0, "migrate", "--roles", "--role-prefix", prefix)
	says(t, stdout, "up to date", prefix+"_engine", prefix+"_reader")
	if _, err := d.Pool.Exec(t.Context(), "GRANT SELECT ON ax.token TO "+prefix+"_worker"); err != nil {
		t.Fatal(err)
	}
	stdout, _ = x.ax(0, "migrate")
	says(t, stdout, prefix+"_worker")
	var may bool
	if err := d.Pool.QueryRow(t.Context(), "SELECT has_table_privilege($1, 'ax.token', 'SELECT')", prefix+"_worker").Scan(&may); err != nil || may {
		t.Errorf("after the next migration workers read tokens: %v, %v", may, err)
	}
	_, stderr := x.ax(1, "migrate", "--roles", "--role-prefix", prefix+"b")
	says(t, stderr, "--role-prefix "+prefix)
	if have, made, err := axsql.RolesPrefix(t.Context(), d.Pool); err != nil || !made || have != prefix {
		t.Errorf("roles %q, %v, %v", have, made, err)
	}
}
