package access_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"axflow/api/access"
	"axflow/api/gen"
	"axflow/internal/pgtest"
)

// pool is a test's own database.
func pool(t testing.TB) *pgxpool.Pool {
	t.Helper()
	return pgtest.New(t).Pool
}

func create(t testing.TB, db *pgxpool.Pool, maker access.Principal, n access.NewToken) (access.Token, string) {
	t.Helper()
	token, secret, err := access.CreateToken(t.Context(), db, maker, n)
	if err != nil {
		t.Fatal(err)
	}
	return token, secret
}

func exec(t testing.TB, db *pgxpool.Pool, sql string, args ...any) {
	t.Helper()
	if _, err := db.Exec(context.Background(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func ask(t testing.TB, db *pgxpool.Pool, headers ...string) (access.Principal, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://ax/", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Add(name, value)
	}
	return access.NewCredentials(db, slog.New(slog.DiscardHandler)).Authenticate(r)
}

func TestTokenFromCreationToRevocation(t *testing.T) {
	db := pool(t)
	scopes := []gen.Permission{gen.PermissionRunsStart, gen.PermissionRunsRead}
	token, secret := create(t, db, admin("etl"), access.NewToken{Name: "nightly trigger", Role: gen.RoleOperator, Scopes: scopes})
	if !strings.HasPrefix(secret, token.Prefix) || len(token.Prefix) != 7 {
		t.Errorf("the prefix %q of %q", token.Prefix, secret)
	}
	if life := token.ExpiresAt.Sub(token.CreatedAt).Round(time.Minute); life != 90*24*time.Hour {
		t.Errorf("it lives for %s, want 90 days", life)
	}
	var kept string
	if err := db.QueryRow(t.Context(), "SELECT row_to_json(t)::text FROM ax.token t").Scan(&kept); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(kept, secret[7:]) || !strings.Contains(kept, fmt.Sprintf("%x", sha256.Sum256([]byte(secret)))) {
		t.Errorf("the database has %s: it must have the secret's SHA-256, and not the secret", kept)
	}

	p, err := ask(t, db, "Authorization: Bearer "+secret)
	if err != nil {
		t.Fatal(err)
	}
	if p.Actor != "token:nightly trigger" || p.Namespace != "etl" || p.Role != gen.RoleOperator || !slices.Equal(p.Scopes, scopes) || p.Cluster ||
		p.Via != gen.MeViaToken || p.Credential != token.ID || !p.ExpiresAt.Equal(token.ExpiresAt) {
		t.Errorf("it is %+v", p)
	}
	if _, err := ask(t, db, "Authorization: bearer "+secret); err != nil {
		t.Errorf("the scheme in small letters: %v", err)
	}

	if err := access.RevokeToken(t.Context(), db, admin("etl"), token.ID); err != nil {
		t.Fatal(err)
	}
	_, err = ask(t, db, "Authorization: Bearer "+secret)
	refused(t, "a revoked token", err, gen.ProblemCodeUnauthenticated, "unknown or revoked")
	refused(t, "revoking it twice", access.RevokeToken(t.Context(), db, admin("etl"), token.ID), gen.ProblemCodeConflict, "was revoked at")

	var lines int
	if err := db.QueryRow(t.Context(), `SELECT count(*) FROM ax.audit WHERE namespace = 'etl' AND actor = 'local:ada' AND target = 'token/' || $1::text
		AND detail->>'name' = 'nightly trigger' AND verb IN ('create_token', 'revoke_token')`, token.ID).Scan(&lines); err != nil {
		t.Fatal(err)
	}
	if lines != 2 {
		t.Errorf("%d lines of the audit, want one that it was made and one that it was revoked", lines)
	}
}

// What does not authenticate says so in one way, whatever is wrong; only who has the secret hears that it has expired.
func TestWhatIsNoCredential(t *testing.T) {
	db := pool(t)
	token, secret := create(t, db, admin("etl"), access.NewToken{Name: "old", Role: gen.RoleViewer, Life: time.Hour})
	exec(t, db, "UPDATE ax.token SET expires_at = clock_timestamp() - interval '1 second' WHERE id = $1", token.ID)
	_, err := ask(t, db, "Authorization: Bearer "+secret)
	refused(t, "an expired token", err, gen.ProblemCodeUnauthenticated, `"old" expired at`)
	if err := access.RevokeToken(t.Context(), db, admin("etl"), token.ID); err != nil {
		t.Fatal(err)
	}
	_, err = ask(t, db, "Authorization: Bearer "+secret)
	refused(t, "an expired and revoked token", err, gen.ProblemCodeUnauthenticated, "unknown or revoked")

	_, unknown := create(t, db, admin("etl"), access.NewToken{Name: "gone", Role: gen.RoleViewer})
	exec(t, db, "DELETE FROM ax.token WHERE name = 'gone'")
	_, err = ask(t, db, "Authorization: Bearer "+unknown)
	refused(t, "an unknown token", err, gen.ProblemCodeUnauthenticated, "unknown or revoked")

	for what, headers := range map[string][]string{
		"nothing behind Bearer": {"Authorization: Bearer"}, "another token": {"Authorization: Bearer ghp_0123456789"}, "Basic": {"Authorization: Basic YTpi"},
		"no scheme": {"Authorization: " + unknown}, "two": {"Authorization: Bearer " + unknown, "Authorization: Bearer " + unknown},
		"a long one": {"Authorization: Bearer " + strings.Repeat("a", 10_000)}, "a session that is none": {"Cookie: __Host-ax-session=nonsense"},
		"a bad token beside a session": {"Authorization: Bearer x", "Cookie: __Host-ax-session=x"},
	} {
		_, err := ask(t, db, headers...)
		refused(t, what, err, gen.ProblemCodeUnauthenticated)
		if err != nil && strings.Contains(err.Error(), unknown[10:]) {
			t.Errorf("%s: %v quotes the credential", what, err)
		}
	}
	if _, err := ask(t, db); !errors.Is(err, access.ErrNoCredential) {
		t.Errorf("a request without any: %v", err)
	}
	if _, err := ask(t, db, "Cookie: other=x"); !errors.Is(err, access.ErrNoCredential) {
		t.Errorf("a request with another's cookie: %v", err)
	}
}

// Being used is noted once a minute, and a database that cannot note it still tells who asks.
func TestLastUsed(t *testing.T) {
	db := pool(t)
	token, secret := create(t, db, admin("etl"), access.NewToken{Name: "busy", Role: gen.RoleViewer})
	used := func() (at *time.Time) {
		if err := db.QueryRow(t.Context(), "SELECT last_used_at FROM ax.token WHERE id = $1", token.ID).Scan(&at); err != nil {
			t.Fatal(err)
		}
		return at
	}
	if used() != nil {
		t.Error("it is used as soon as it is made")
	}
	use := func() {
		t.Helper()
		if _, err := ask(t, db, "Authorization: Bearer "+secret); err != nil {
			t.Fatal(err)
		}
	}
	use()
	first := used()
	use()
	if first == nil || !used().Equal(*first) {
		t.Errorf("used at %v and, within the minute, at %v", first, used())
	}
	exec(t, db, "UPDATE ax.token SET last_used_at = last_used_at - interval '2 minutes'")
	// Somebody holds the row: the request passes by.
	tx, err := db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "SELECT 1 FROM ax.token FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	use()
	if d := time.Since(began); d > 900*time.Millisecond {
		t.Errorf("it waited for %s", d)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	cfg := db.Config()
	cfg.ConnConfig.RuntimeParams["default_transaction_read_only"] = "on"
	readOnly, err := pgxpool.NewWithConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer readOnly.Close()
	if _, err := ask(t, readOnly, "Authorization: Bearer "+secret); err != nil {
		t.Errorf("a database that only reads: %v", err)
	}
	use()
	if at := used(); !at.After(*first) {
		t.Errorf("used at %v, and two minutes later at %v", first, at)
	}
}

func TestTokensThatAreRefused(t *testing.T) {
	db := pool(t)
	long := strings.Repeat("ä", 101)
	for what, n := range map[string]access.NewToken{
		"no name": {Role: gen.RoleViewer}, "a long name": {Name: long, Role: gen.RoleViewer}, "a name with spaces around": {Name: " x", Role: gen.RoleViewer},
		"a name with a line end": {Name: "a\nb", Role: gen.RoleViewer}, "a name that is no text": {Name: "a\xff", Role: gen.RoleViewer},
		"no role": {Name: "x"}, "an unknown role": {Name: "x", Role: "root"}, "no scope": {Name: "x", Role: gen.RoleViewer, Scopes: []gen.Permission{}},
		"a scope beyond the role": {Name: "x", Role: gen.RoleViewer, Scopes: []gen.Permission{gen.PermissionRunsRead, gen.PermissionRunsStart}},
		"a cluster's viewer":      {Name: "x", Role: gen.RoleViewer, Cluster: true}, "a short life": {Name: "x", Role: gen.RoleViewer, Life: time.Second},
		"a long life": {Name: "x", Role: gen.RoleViewer, Life: 11 * 365 * 24 * time.Hour}, "a negative life": {Name: "x", Role: gen.RoleViewer, Life: -time.Hour},
	} {
		_, _, err := access.CreateToken(t.Context(), db, admin("etl"), n)
		refused(t, what, err, gen.ProblemCodeInvalid)
	}
	if _, _, err := access.CreateToken(t.Context(), db, admin("etl"), access.NewToken{Name: long[:200], Role: gen.RoleViewer}); err != nil {
		t.Errorf("a name of 100 characters: %v", err)
	}
	if n := count(t, db, "SELECT count(*) FROM ax.token"); n != 1 {
		t.Errorf("%d tokens, want 1", n)
	}
	if n := count(t, db, "SELECT count(*) FROM ax.audit"); n != 1 {
		t.Errorf("%d lines of the audit, want 1", n)
	}
}

func count(t testing.TB, db *pgxpool.Pool, sql string, args ...any) (n int) {
	t.Helper()
	if err := db.QueryRow(t.Context(), sql, args...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// Whatever token a maker can make has no permission that the maker has not: every role, cluster bit and a choice of scopes of
// the maker with every role, cluster bit and choice of scopes of the token.
func TestNobodyGivesWhatTheyDoNotHave(t *testing.T) {
	db := pool(t)
	choices := [][]gen.Permission{nil, {gen.PermissionRunsRead}, {gen.PermissionAccessAdmin, gen.PermissionRunsRead}, {gen.PermissionRunsStart},
		{gen.PermissionAccessAdmin, gen.PermissionSettingsAdmin}}
	made, forbidden := 0, 0
	for _, role := range []gen.Role{gen.RoleViewer, gen.RoleWorker, gen.RoleOperator, gen.RoleAdmin} {
		for _, cluster := range []bool{false, true} {
			for _, scopes := range choices {
				maker := access.Principal{Actor: "token:maker", Namespace: "etl", Role: role, Cluster: cluster, Scopes: scopes}
				for _, role := range []gen.Role{gen.RoleViewer, gen.RoleWorker, gen.RoleOperator, gen.RoleAdmin} {
					for _, cluster := range []bool{false, true} {
						for _, scopes := range choices {
							n := access.NewToken{Name: fmt.Sprint("token ", made), Role: role, Cluster: cluster, Scopes: scopes}
							_, _, err := access.CreateToken(t.Context(), db, maker, n)
							has := access.Principal{Role: role, Cluster: cluster, Scopes: scopes}
							more := slices.ContainsFunc(all, func(p gen.Permission) bool { return has.Allows(p) && !maker.Allows(p) })
							switch {
							case err == nil && (more || cluster && !maker.Cluster):
								t.Errorf("%+v made %+v", maker, n)
							case err == nil:
								made++
							case strings.HasPrefix(err.Error(), "forbidden"):
								forbidden++
								if maker.Role == gen.RoleAdmin && maker.Scopes == nil && (maker.Cluster || !cluster) {
									t.Errorf("%+v cannot make %+v: %v", maker, n, err)
								}
							}
						}
					}
				}
			}
		}
	}
	if made < 50 || forbidden < 50 {
		t.Errorf("%d were made and %d forbidden: the choices test little", made, forbidden)
	}
}

// A live token's name is taken in its namespace; a revoked or an expired one gives it up.
func TestNamesOfLiveTokensAreUnique(t *testing.T) {
	db := pool(t)
	n := access.NewToken{Name: "deploy", Role: gen.RoleViewer}
	first, _ := create(t, db, admin("etl"), n)
	_, _, err := access.CreateToken(t.Context(), db, admin("etl"), n)
	refused(t, "a second of the name", err, gen.ProblemCodeConflict, `"deploy"`)
	create(t, db, admin("finance"), n)
	if err := access.RevokeToken(t.Context(), db, admin("etl"), first.ID); err != nil {
		t.Fatal(err)
	}
	second, _ := create(t, db, admin("etl"), n)
	exec(t, db, "UPDATE ax.token SET expires_at = clock_timestamp() WHERE id = $1", second.ID)
	create(t, db, admin("etl"), n)

	// Ten at once make one.
	var wg sync.WaitGroup
	results := make(chan error, 10)
	for range 10 {
		wg.Go(func() {
			_, _, err := access.CreateToken(context.Background(), db, admin("etl"), access.NewToken{Name: "race", Role: gen.RoleViewer})
			results <- err
		})
	}
	wg.Wait()
	close(results)
	won := 0
	for err := range results {
		if err == nil {
			won++
		} else {
			refused(t, "one that came later", err, gen.ProblemCodeConflict)
		}
	}
	if won != 1 {
		t.Errorf("%d of ten tokens of one name were made", won)
	}
}

func TestTokensStayInTheirNamespace(t *testing.T) {
	db := pool(t)
	token, _ := create(t, db, admin("etl"), access.NewToken{Name: "a", Role: gen.RoleViewer})
	other := access.RevokeToken(t.Context(), db, admin("finance"), token.ID)
	none := access.RevokeToken(t.Context(), db, admin("finance"), uuid.Must(uuid.NewV7()))
	refused(t, "another namespace's", other, gen.ProblemCodeNotFound)
	refused(t, "nobody's", none, gen.ProblemCodeNotFound)
	if list, err := access.ListTokens(t.Context(), db, "finance", uuid.Nil, 10); err != nil || len(list) > 0 {
		t.Errorf("another namespace lists %v, %v", list, err)
	}
	if n := count(t, db, "SELECT count(*) FROM ax.token WHERE revoked_at IS NULL"); n != 1 {
		t.Error("it was revoked from another namespace")
	}
}

// One of two that revoke a token at once is told that it was revoked already, and the audit has one line.
func TestTwoRevokeAtOnce(t *testing.T) {
	db := pool(t)
	token, _ := create(t, db, admin("etl"), access.NewToken{Name: "a", Role: gen.RoleViewer})
	results := make(chan error, 2)
	for range 2 {
		go func() { results <- access.RevokeToken(context.Background(), db, admin("etl"), token.ID) }()
	}
	one, two := <-results, <-results
	if one != nil {
		one, two = two, one
	}
	if one != nil {
		t.Errorf("both were refused: %v, %v", one, two)
	}
	refused(t, "the second", two, gen.ProblemCodeConflict)
	if n := count(t, db, "SELECT count(*) FROM ax.audit WHERE verb = 'revoke_token'"); n != 1 {
		t.Errorf("%d lines of the audit, want 1", n)
	}
}

func BenchmarkAuthenticate(b *testing.B) {
	db := pool(b)
	_, secret := create(b, db, admin("etl"), access.NewToken{Name: "bench", Role: gen.RoleViewer})
	exec(b, db, `INSERT INTO ax.token (id, namespace, name, prefix, hash, role, created_by, expires_at)
		SELECT gen_random_uuid(), 'etl', 'n' || i, 'ax_', sha256(i::text::bytea), 'viewer', 'bench', now() + interval '1 day' FROM generate_series(1, 10000) i`)
	c := access.NewCredentials(db, slog.New(slog.DiscardHandler))
	r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, "http://ax/", http.NoBody)
	if err != nil {
		b.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+secret)
	for b.Loop() {
		if _, err := c.Authenticate(r); err != nil {
			b.Fatal(err)
		}
	}
}
