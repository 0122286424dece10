package pgtest

import (
	"context"
	"crypto/rand"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"axflow/sql"
)

// Estate is a database that belongs to a user who is no superuser and has migrated it, with roles made by that user
// (see sql.CreateRoles) under names that no other database uses.
type Estate struct {
	*DB
	// Prefix begins the names of the roles and users.
	Prefix string
	// Owner is the user that the database belongs to.
	Owner string

	t   testing.TB
	ctx context.Context
}

// NewEstate makes one for this test; database, roles and users go at its end.
func NewEstate(t testing.TB) *Estate {
	t.Helper()
	e := &Estate{t: t, ctx: Context(t, 5*time.Minute), Prefix: "t" + strings.ToLower(rand.Text()[:12])}
	admin := New(t, Empty())
	t.Cleanup(func() { // after the database with all they own is gone
		ctx := context.Background()
		rows, err := admin.Pool.Query(ctx, "SELECT rolname::text FROM pg_roles WHERE starts_with(rolname, $1) ORDER BY rolname = $2, 1", e.Prefix, e.Owner)
		if err != nil {
			t.Error(err)
			return
		}
		names, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Error(err)
		}
		for _, name := range names {
			if _, err := admin.Pool.Exec(ctx, "DROP ROLE "+name); err != nil {
				t.Error(err)
			}
		}
	})
	e.DB = admin.Server.New(t, Empty())
	e.Owner = e.Prefix + "_owner"
	e.Exec("CREATE ROLE " + e.Owner + " LOGIN CREATEROLE")
	e.Exec("ALTER DATABASE " + e.Name + " OWNER TO " + e.Owner)
	e.Migrate()
	return e
}

// Migrate brings the schema up and the roles, as the owner.
func (e *Estate) Migrate() {
	e.t.Helper()
	if err := sql.Migrate(e.ctx, e.Address(e.Owner)); err != nil {
		e.t.Fatal(err)
	}
	if err := sql.CreateRoles(e.ctx, e.As(e.Owner), sql.RolesOptions{Prefix: e.Prefix}); err != nil {
		e.t.Fatal(err)
	}
}

// Exec runs a statement as the superuser.
func (e *Estate) Exec(statement string) {
	e.t.Helper()
	if _, err := e.Pool.Exec(e.ctx, statement); err != nil {
		e.t.Fatalf("%s: %v", statement, err)
	}
}

// Strings is what a query of one column says, to the superuser.
func (e *Estate) Strings(query string) []string {
	e.t.Helper()
	rows, err := e.Pool.Query(e.ctx, query)
	if err != nil {
		e.t.Fatalf("%s: %v", query, err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		e.t.Fatalf("%s: %v", query, err)
	}
	return all
}

// Login makes a user that is a member of the roles of parts, and returns the database's address for that user.
func (e *Estate) Login(name string, parts ...string) string {
	e.t.Helper()
	user := e.Prefix + "_u_" + name
	conn := e.As(e.Owner)
	for _, statement := range []string{"CREATE ROLE " + user + " LOGIN", "GRANT " + e.Prefix + "_" + strings.Join(parts, ", "+e.Prefix+"_") + " TO " + user} {
		if _, err := conn.Exec(e.ctx, statement); err != nil {
			e.t.Fatalf("%s: %v", statement, err)
		}
	}
	return e.Address(user)
}

// Address is the database's address for a user.
func (e *Estate) Address(user string) string {
	u, err := url.Parse(e.URL)
	if err != nil {
		e.t.Fatal(err)
	}
	q := u.Query()
	q.Del("user") // it would go before the one below
	u.RawQuery, u.User = q.Encode(), url.User(user)
	return u.String()
}

// As connects as a user.
func (e *Estate) As(user string) *pgx.Conn { return e.Dial(e.Address(user)) }

// Dial connects to an address, which must not be that of a superuser: nothing would be refused.
func (e *Estate) Dial(address string) *pgx.Conn {
	e.t.Helper()
	conn, err := pgx.Connect(e.ctx, address)
	if err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(func() { _ = conn.Close(context.Background()) })
	var super bool
	if err := conn.QueryRow(e.ctx, "SELECT rolsuper FROM pg_roles WHERE rolname = current_user").Scan(&super); err != nil || super {
		e.t.Fatalf("%s is a superuser (%v): nothing would be refused", address, err)
	}
	return conn
}
