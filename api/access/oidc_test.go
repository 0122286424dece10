package access_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"axflow/api/access"
	"axflow/api/gen"
	"axflow/internal/pgtest"
)

// site is AX with an identity provider.
type site struct {
	t    *testing.T
	db   *pgxpool.Pool
	idp  *idp
	oidc *access.OIDC
	now  time.Time // zero: the machine's
}

func newSite(t *testing.T, change func(*access.OIDCConfig)) *site {
	t.Helper()
	s := &site{t: t, db: pool(t), idp: newIDP(t)}
	client := &http.Client{Transport: &http.Transport{}, Timeout: 10 * time.Second}
	t.Cleanup(client.CloseIdleConnections)
	cfg := access.OIDCConfig{Issuer: s.idp.URL, ClientID: clientID, ClientSecret: clientSecret, RedirectURL: callbackURL, Pool: s.db, HTTP: client,
		Roles: map[string]access.RoleGrant{
			"ax-viewers": {Role: gen.RoleViewer}, "ax-operators": {Role: gen.RoleOperator}, "ax-finance": {Namespace: "finance", Role: gen.RoleAdmin},
			"ax-root": {Role: gen.RoleAdmin, Cluster: true},
		},
		Now: func() time.Time {
			if s.now.IsZero() {
				return time.Now()
			}
			return s.now
		},
		Logger: slog.New(slog.DiscardHandler)}
	if change != nil {
		change(&cfg)
	}
	var err error
	if s.oidc, err = access.NewOIDC(cfg); err != nil {
		t.Fatal(err)
	}
	return s
}

// reply is what a browser gets.
type reply struct {
	StatusCode int
	Header     http.Header
	Body       string
}

// browser keeps cookies as a browser does that knows __Host-.
type browser struct {
	*site
	cookies map[string]string
}

func (s *site) browser() *browser { return &browser{s, make(map[string]string)} }

func (b *browser) do(method, target string, headers ...string) reply {
	b.t.Helper()
	r := httptest.NewRequestWithContext(b.t.Context(), method, "https://ax.example.com"+target, http.NoBody)
	for name, value := range b.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	b.oidc.Handler().ServeHTTP(w, r)
	res := reply{w.Code, w.Header(), w.Body.String()}
	for _, line := range res.Header.Values("Set-Cookie") {
		c, err := http.ParseSetCookie(line)
		if err != nil {
			b.t.Fatal(err)
		}
		if !c.Secure || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Domain != "" || !strings.HasPrefix(c.Name, "__Host-ax-") {
			b.t.Errorf("the cookie %+v is not shut", c)
		}
		if c.MaxAge < 0 {
			delete(b.cookies, c.Name)
		} else {
			b.cookies[c.Name] = c.Value
		}
	}
	if got := res.Header.Get("Cache-Control"); res.StatusCode < 400 && got != "no-store" {
		b.t.Errorf("%s %s: Cache-Control %q", method, target, got)
	}
	return res
}

// begin goes to the provider and comes back with what it sends.
func (b *browser) begin(query string) url.Values {
	b.t.Helper()
	res := b.do(http.MethodGet, "/auth/login"+query)
	if res.StatusCode != http.StatusSeeOther || !strings.HasPrefix(res.Header.Get("Location"), b.idp.URL+"/authorize?") {
		b.t.Fatalf("login: %d to %s", res.StatusCode, res.Header.Get("Location"))
	}
	return b.idp.authorize(res.Header.Get("Location"))
}

// end comes back from the provider.
func (b *browser) end(q url.Values) reply {
	b.t.Helper()
	return b.do(http.MethodGet, "/auth/callback?"+q.Encode())
}

// who is who the browser's session says it is.
func (b *browser) who() (access.Principal, error) {
	b.t.Helper()
	return ask(b.t, b.db, "Cookie: __Host-ax-session="+b.cookies["__Host-ax-session"])
}

// logIn goes through the whole flow as somebody with the groups.
func (b *browser) logIn(groups ...string) {
	b.t.Helper()
	b.idp.set(map[string]any{"groups": groups})
	if res := b.end(b.begin("")); res.StatusCode != http.StatusSeeOther {
		b.t.Fatalf("callback: %d", res.StatusCode)
	}
}

func TestLogInAndOut(t *testing.T) {
	s := newSite(t, nil)
	b := s.browser()
	s.idp.set(map[string]any{"groups": []string{"others", "ax-viewers", "ax-operators"}})
	res := b.end(b.begin("?return=" + url.QueryEscape("/runs?q=state:failed")))
	if res.StatusCode != http.StatusSeeOther || res.Header.Get("Location") != "/runs?q=state:failed" {
		t.Fatalf("callback: %d to %q", res.StatusCode, res.Header.Get("Location"))
	}
	p, err := b.who()
	if err != nil || p.Actor != "user:ada@example.com" || p.Namespace != "default" || p.Role != gen.RoleOperator || p.Cluster || p.Scopes != nil || p.Via != gen.MeViaSession {
		t.Fatalf("who: %+v, %v", p, err)
	}
	if life := time.Until(p.ExpiresAt).Round(time.Minute); life != 12*time.Hour {
		t.Errorf("the session lasts %s, want 12 h", life)
	}
	var kept string
	if err := s.db.QueryRow(t.Context(), "SELECT row_to_json(x)::text FROM ax.session x").Scan(&kept); err != nil || strings.Contains(kept, b.cookies["__Host-ax-session"]) {
		t.Errorf("the database holds the cookie: %s, %v", kept, err)
	}
	if _, left := b.cookies["__Host-ax-login"]; left {
		t.Error("the login's cookie is left")
	}

	// Another site cannot log anybody out.
	if res := b.do(http.MethodPost, "/auth/logout", "Sec-Fetch-Site: cross-site"); res.StatusCode != http.StatusForbidden {
		t.Errorf("logout from another site: %d", res.StatusCode)
	}
	if res := b.do(http.MethodGet, "/auth/logout"); res.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("logout by a link: %d", res.StatusCode)
	}
	if _, err := b.who(); err != nil {
		t.Fatalf("the session is over: %v", err)
	}
	stolen := b.cookies["__Host-ax-session"]
	res = b.do(http.MethodPost, "/auth/logout", "Sec-Fetch-Site: same-origin")
	to, err := url.Parse(res.Header.Get("Location"))
	if err != nil || res.StatusCode != http.StatusSeeOther || !strings.HasPrefix(to.String(), s.idp.URL+"/end?") ||
		to.Query().Get("post_logout_redirect_uri") != "https://ax.example.com/" || strings.Count(to.Query().Get("id_token_hint"), ".") != 2 {
		t.Errorf("logout: %d to %s, %v", res.StatusCode, to, err)
	}
	_, err = ask(t, s.db, "Cookie: __Host-ax-session="+stolen)
	refused(t, "the session after its end", err, gen.ProblemCodeUnauthenticated, "log in again")
	if n := count(t, s.db, "SELECT count(*) FROM ax.audit WHERE actor = 'user:ada@example.com' AND verb IN ('login', 'logout') AND namespace = 'default'"); n != 2 {
		t.Errorf("%d lines of the audit, want 2", n)
	}
	// Out is out, and again.
	if res := b.do(http.MethodPost, "/auth/logout"); res.StatusCode != http.StatusSeeOther || res.Header.Get("Location") != "https://ax.example.com/" {
		t.Errorf("logout without a session: %d to %q", res.StatusCode, res.Header.Get("Location"))
	}
}

func TestLogOutForPages(t *testing.T) {
	s := newSite(t, nil)
	b := s.browser()
	b.logIn("ax-viewers")
	res := b.do(http.MethodPost, "/auth/logout", "Accept: application/json")
	var to struct{ Location string }
	if err := json.Unmarshal([]byte(res.Body), &to); err != nil || res.StatusCode != http.StatusOK || !strings.HasPrefix(to.Location, s.idp.URL+"/end?") {
		t.Errorf("logout: %d, %+v, %v", res.StatusCode, to, err)
	}
}

// What comes back from the provider wrong makes no session.
func TestCallbacksThatAreRefused(t *testing.T) {
	s := newSite(t, nil)
	viewer := map[string]any{"groups": []string{"ax-viewers"}}
	other, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	with := func(more map[string]any) map[string]any {
		p := map[string]any{"groups": []string{"ax-viewers"}}
		for k, v := range more {
			p[k] = v
		}
		return p
	}
	for what, c := range map[string]struct {
		person map[string]any
		do     func(b *browser, q url.Values) url.Values
		code   int
	}{
		"wrong state":   {viewer, func(_ *browser, q url.Values) url.Values { q.Set("state", "x"); return q }, 400},
		"no state":      {viewer, func(_ *browser, q url.Values) url.Values { q.Del("state"); return q }, 400},
		"wrong code":    {viewer, func(_ *browser, q url.Values) url.Values { q.Set("code", "x"); return q }, 400},
		"no code":       {viewer, func(_ *browser, q url.Values) url.Values { q.Del("code"); return q }, 400},
		"another's iss": {viewer, func(_ *browser, q url.Values) url.Values { q.Set("iss", "https://evil.example"); return q }, 400},
		"an error":      {viewer, func(_ *browser, q url.Values) url.Values { q.Set("error", "<b>access_denied"); return q }, 403},
		"no cookie":     {viewer, func(b *browser, q url.Values) url.Values { delete(b.cookies, "__Host-ax-login"); return q }, 400},
		"a changed cookie": {viewer, func(b *browser, q url.Values) url.Values {
			b.cookies["__Host-ax-login"] = "A" + b.cookies["__Host-ax-login"][1:] + "A"
			return q
		}, 400},
		"another browser's cookie": {viewer, func(b *browser, q url.Values) url.Values {
			victim := b.site.browser()
			victim.begin("")
			b.cookies = victim.cookies
			return q
		}, 400},
		"a code of another login": {viewer, func(b *browser, q url.Values) url.Values { // its verifier is another
			q.Set("code", b.site.browser().begin("").Get("code"))
			return q
		}, 400},
		"too late": {viewer, func(b *browser, q url.Values) url.Values { b.now = time.Now().Add(11 * time.Minute); return q }, 400},

		"wrong nonce":        {with(map[string]any{"nonce": "x"}), nil, 400},
		"no nonce":           {with(map[string]any{"nonce": nil}), nil, 400},
		"wrong issuer":       {with(map[string]any{"iss": "https://evil.example"}), nil, 400},
		"wrong audience":     {with(map[string]any{"aud": "another client"}), nil, 400},
		"for another party":  {with(map[string]any{"aud": []string{clientID, "other"}, "azp": "other"}), nil, 400},
		"expired":            {with(map[string]any{"exp": time.Now().Add(-time.Minute).Unix()}), nil, 400},
		"not valid yet":      {with(map[string]any{"nbf": time.Now().Add(time.Hour).Unix()}), nil, 400},
		"no expiry":          {with(map[string]any{"exp": nil}), nil, 400},
		"no subject":         {with(map[string]any{"sub": ""}), nil, 400},
		"wrong access token": {with(map[string]any{"at_hash": "AAAA"}), nil, 400},
		"wrong key":          {viewer, func(b *browser, q url.Values) url.Values { b.idp.signer = other; return q }, 400},

		"no group":         {with(map[string]any{"groups": nil}), nil, 403},
		"an unknown group": {with(map[string]any{"groups": []string{"others"}}), nil, 403},
		"odd groups":       {with(map[string]any{"groups": []any{1, nil, map[string]any{"ax-viewers": true}}}), nil, 403},
	} {
		t.Run(what, func(t *testing.T) {
			s.t, s.now, s.idp.signer = t, time.Time{}, s.idp.key
			s.idp.set(c.person)
			b := s.browser()
			q := b.begin("")
			if c.do != nil {
				q = c.do(b, q)
			}
			res := b.end(q)
			if res.StatusCode != c.code || res.Header.Get("Location") != "" {
				t.Errorf("%d to %q, want %d", res.StatusCode, res.Header.Get("Location"), c.code)
			}
			if b.cookies["__Host-ax-session"] != "" {
				t.Error("it has a session")
			}
			if _, left := b.cookies["__Host-ax-login"]; left {
				t.Error("the login can be tried again")
			}
			if text := res.Body; !strings.Contains(text, `href="/auth/login"`) || strings.Contains(text, "<b>") {
				t.Errorf("the page says %s", text)
			}
			if csp := res.Header.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") {
				t.Errorf("the page's policy is %q", csp)
			}
		})
	}
	if n := count(t, s.db, "SELECT count(*) FROM ax.session"); n != 0 {
		t.Errorf("%d sessions", n)
	}
}

// A callback that comes twice makes one session, also where the provider takes its code twice.
func TestReplayedCallback(t *testing.T) {
	s := newSite(t, nil)
	b := s.browser()
	s.idp.set(map[string]any{"groups": []string{"ax-viewers"}})
	q := b.begin("")
	login := b.cookies["__Host-ax-login"]
	s.idp.mu.Lock()
	asked := s.idp.codes[q.Get("code")]
	s.idp.mu.Unlock()
	if res := b.end(q); res.StatusCode != http.StatusSeeOther {
		t.Fatalf("callback: %d", res.StatusCode)
	}
	again := s.browser()
	again.cookies["__Host-ax-login"] = login
	if res := again.end(q); res.StatusCode != http.StatusBadRequest {
		t.Errorf("again: %d", res.StatusCode)
	}
	s.idp.mu.Lock()
	s.idp.codes[q.Get("code")] = asked
	s.idp.mu.Unlock()
	again.cookies["__Host-ax-login"] = login
	if res := again.end(q); res.StatusCode != http.StatusBadRequest || again.cookies["__Host-ax-session"] != "" {
		t.Errorf("with a code that is good again: %d", res.StatusCode)
	}
	if n := count(t, s.db, "SELECT count(*) FROM ax.session"); n != 1 {
		t.Errorf("%d sessions, want 1", n)
	}
}

func TestOpenRedirects(t *testing.T) {
	s := newSite(t, nil)
	s.idp.set(map[string]any{"groups": []string{"ax-viewers"}})
	for given, want := range map[string]string{
		"": "/", "/": "/", "/runs": "/runs", "/runs?q=a%20b#top": "/runs?q=a%20b#top", "/a//b": "/a/b",
		"https://evil.example": "/", "//evil.example": "/", "///evil.example": "/", `/\evil.example`: "/", `\\evil.example`: "/", "/\t/evil.example": "/",
		"/\n/evil.example": "/", "javascript:alert(1)": "/", "evil.example": "/", "http:evil": "/", "/%zz": "/", "/auth/login": "/", "/auth/callback?x": "/",
		"/./" + "/evil.example": "/evil.example", "/x/..//evil.example": "/evil.example", "/" + strings.Repeat("a", 1001): "/", " //evil.example": "/", "/\x00": "/",
		"/@evil.example": "/@evil.example",
	} {
		b := s.browser()
		res := b.end(b.begin("?return=" + url.QueryEscape(given)))
		if got := res.Header.Get("Location"); got != want {
			t.Errorf("return=%q leads to %q, want %q", given, got, want)
		}
	}
}

// The greatest role of the namespace that is asked for, else of the default one, else of the first.
func TestWhichRole(t *testing.T) {
	s := newSite(t, nil)
	for _, c := range []struct {
		groups, query, namespace string
		role                     gen.Role
		cluster                  bool
	}{
		{"ax-viewers", "", "default", gen.RoleViewer, false},
		{"ax-finance", "", "finance", gen.RoleAdmin, false},
		{"ax-finance ax-viewers", "", "default", gen.RoleViewer, false},
		{"ax-finance ax-viewers", "?namespace=finance", "finance", gen.RoleAdmin, false},
		{"ax-finance ax-viewers ax-root", "", "default", gen.RoleAdmin, true},
		{"ax-root ax-finance", "?namespace=finance", "finance", gen.RoleAdmin, false},
		{"ax-viewers", "?namespace=finance", "", "", false},
		{"ax-viewers", "?namespace=nowhere", "", "", false},
	} {
		b := s.browser()
		s.idp.set(map[string]any{"groups": strings.Fields(c.groups)})
		res := b.end(b.begin(c.query))
		if c.namespace == "" {
			if res.StatusCode != http.StatusForbidden {
				t.Errorf("%+v: %d, want a refusal", c, res.StatusCode)
			}
			continue
		}
		if p, err := b.who(); err != nil || p.Namespace != c.namespace || p.Role != c.role || p.Cluster != c.cluster {
			t.Errorf("%+v: %+v, %v", c, p, err)
		}
	}
}

// The claim may be a string, and lie in an object.
func TestRoleClaims(t *testing.T) {
	s := newSite(t, func(c *access.OIDCConfig) { c.RoleClaim = "realm_access.roles" })
	for _, claims := range []map[string]any{
		{"realm_access": map[string]any{"roles": []string{"ax-viewers"}}}, {"realm_access": map[string]any{"roles": "ax-viewers"}}, {"realm_access.roles": []string{"ax-viewers"}},
	} {
		b := s.browser()
		s.idp.set(claims)
		b.end(b.begin(""))
		if p, err := b.who(); err != nil || p.Role != gen.RoleViewer {
			t.Errorf("%v: %+v, %v", claims, p, err)
		}
	}
}

// An address that the provider does not vouch for is nobody's name, and opens nothing.
func TestEmailAddresses(t *testing.T) {
	s := newSite(t, func(c *access.OIDCConfig) { c.AllowedDomains = []string{"example.com"} })
	free := newSite(t, nil)
	trusting := newSite(t, func(c *access.OIDCConfig) { c.AllowedDomains, c.TrustEmail = []string{"Example.com"}, true })
	for _, c := range []struct {
		s     *site
		email any
		says  any
		actor string
	}{
		{s, "Ada@Example.com", true, "user:ada@example.com"}, {s, "ada@example.com", "true", "user:ada@example.com"},
		{s, "ada@example.com", false, ""}, {s, "ada@example.com", nil, ""}, {s, "ada@example.com", "false", ""},
		{s, "ada@evil.com", true, ""}, {s, "ada@example.com.evil.com", true, ""}, {s, "ada@sub.example.com", true, ""}, {s, "example.com", true, ""},
		{s, "@example.com", true, ""}, {s, "", true, ""}, {s, nil, true, ""}, {s, 7, true, ""}, {s, `"x@example.com"@evil.com`, true, ""}, {s, "a\n@example.com", true, ""},
		{trusting, "ada@example.com", nil, "user:ada@example.com"}, {trusting, "ada@evil.com", nil, ""},
		{free, "ada@example.com", false, "user:1234"}, {free, nil, nil, "user:1234"}, {free, "ada@evil.com", true, "user:ada@evil.com"},
	} {
		b := c.s.browser()
		b.idp.set(map[string]any{"groups": "ax-viewers", "email": c.email, "email_verified": c.says})
		res := b.end(b.begin(""))
		if c.actor == "" {
			if res.StatusCode != http.StatusForbidden {
				t.Errorf("%v, verified %v: %d, want a refusal", c.email, c.says, res.StatusCode)
			}
			continue
		}
		if p, err := b.who(); err != nil || p.Actor != c.actor {
			t.Errorf("%v, verified %v: %+v, %v, want %s", c.email, c.says, p, err, c.actor)
		}
	}
}

// A session ends when it is not used, at the end of its life, and when its browser logs in anew.
func TestSessionsEnd(t *testing.T) {
	s := newSite(t, nil)
	b := s.browser()
	b.logIn("ax-viewers")
	exec(t, s.db, "UPDATE ax.session SET seen_at = seen_at - interval '59 minutes'")
	if _, err := b.who(); err != nil {
		t.Fatalf("unused for 59 minutes: %v", err)
	}
	exec(t, s.db, "UPDATE ax.session SET seen_at = seen_at - interval '59 minutes'")
	if _, err := b.who(); err != nil {
		t.Fatalf("used 59 minutes ago: %v", err)
	}
	exec(t, s.db, "UPDATE ax.session SET seen_at = seen_at - interval '61 minutes'")
	_, err := b.who()
	refused(t, "unused for an hour", err, gen.ProblemCodeUnauthenticated, "/auth/login")

	b.logIn("ax-viewers")
	exec(t, s.db, "UPDATE ax.session SET expires_at = clock_timestamp()")
	_, err = b.who()
	refused(t, "at the end of its life", err, gen.ProblemCodeUnauthenticated)

	b.logIn("ax-viewers")
	before := b.cookies["__Host-ax-session"]
	b.logIn("ax-operators")
	if p, err := b.who(); err != nil || p.Role != gen.RoleOperator || b.cookies["__Host-ax-session"] == before {
		t.Errorf("after logging in anew: %+v, %v", p, err)
	}
	_, err = ask(t, s.db, "Cookie: __Host-ax-session="+before)
	refused(t, "the session before", err, gen.ProblemCodeUnauthenticated)

	exec(t, s.db, "UPDATE ax.session SET expires_at = clock_timestamp() - interval '2 hours'")
	s.browser().logIn("ax-viewers")
	if n := count(t, s.db, "SELECT count(*) FROM ax.session"); n != 1 {
		t.Errorf("%d sessions, want the ended ones gone", n)
	}
}

// A provider that is down keeps nobody from starting; once it is up, logging in works.
func TestProviderThatComesLater(t *testing.T) {
	s := newSite(t, func(*access.OIDCConfig) {})
	s.idp.turn(true)
	b := s.browser()
	for range 20 {
		if res := b.do(http.MethodGet, "/auth/login"); res.StatusCode != http.StatusServiceUnavailable {
			t.Fatalf("login: %d, want 503", res.StatusCode)
		}
	}
	s.idp.mu.Lock()
	asked := s.idp.asked
	s.idp.mu.Unlock()
	if asked > 5 {
		t.Errorf("the provider was asked %d times by 20 logins", asked)
	}
	s.idp.turn(false)
	pgtest.Eventually(t, 30*time.Second, func() (bool, string) {
		res := b.do(http.MethodGet, "/auth/login")
		return res.StatusCode == http.StatusSeeOther, fmt.Sprint(res.StatusCode)
	})
	b.logIn("ax-viewers")
}

func TestOIDCConfig(t *testing.T) {
	db := pool(t)
	good := access.OIDCConfig{Issuer: "https://login.example.com", ClientID: "a", ClientSecret: "b", RedirectURL: callbackURL, Pool: db,
		Roles: map[string]access.RoleGrant{"g": {Role: gen.RoleViewer}}}
	if _, err := access.NewOIDC(good); err != nil {
		t.Fatal(err)
	}
	for what, change := range map[string]func(*access.OIDCConfig){
		"no client": func(c *access.OIDCConfig) { c.ClientID = "" }, "no secret": func(c *access.OIDCConfig) { c.ClientSecret = "" },
		"plain http": func(c *access.OIDCConfig) { c.Issuer = "http://login.example.com" }, "no issuer": func(c *access.OIDCConfig) { c.Issuer = "" },
		"a plain callback": func(c *access.OIDCConfig) { c.RedirectURL = "http://ax.example.com/auth/callback" },
		"another callback": func(c *access.OIDCConfig) { c.RedirectURL = "https://ax.example.com/callback" },
		"no roles":         func(c *access.OIDCConfig) { c.Roles = nil },
		"an unknown role":  func(c *access.OIDCConfig) { c.Roles = map[string]access.RoleGrant{"g": {Role: "root"}} },
		"a cluster viewer": func(c *access.OIDCConfig) {
			c.Roles = map[string]access.RoleGrant{"g": {Role: gen.RoleViewer, Cluster: true}}
		},
		"no openid": func(c *access.OIDCConfig) { c.Scopes = []string{"email"} }, "a short life": func(c *access.OIDCConfig) { c.Life = time.Second },
		"a short idle": func(c *access.OIDCConfig) { c.Idle = time.Second },
	} {
		bad := good
		change(&bad)
		if _, err := access.NewOIDC(bad); err == nil {
			t.Errorf("%s was taken", what)
		}
	}
	local := good
	local.Issuer, local.RedirectURL = "http://127.0.0.1:5556", "http://localhost:8080/auth/callback"
	if _, err := access.NewOIDC(local); err != nil {
		t.Errorf("plain http on loopback: %v", err)
	}
}
