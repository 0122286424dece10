package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/uuid"

	"axflow/api"
	"axflow/api/access"
	"axflow/api/gen"
	"axflow/api/live"
	"axflow/engine/control"
	"axflow/flow"
	"axflow/internal/pgtest"
	"axflow/stage"
)

// may is what each role may do. It is written down here once more, so that a change of the server's table is noticed.
var may = map[string]string{
	"viewer":   "flows:read runs:read payloads:read fleet:read metrics:read",
	"worker":   "flows:read runs:read payloads:read runs:start",
	"operator": "flows:read runs:read payloads:read fleet:read metrics:read runs:start runs:operate flows:operate fleet:operate",
	"admin": "flows:read runs:read payloads:read fleet:read metrics:read runs:start runs:operate flows:operate fleet:operate " +
		"access:admin audit:read webhooks:admin",
	"admin of the cluster": "flows:read runs:read payloads:read fleet:read metrics:read runs:start runs:operate flows:operate fleet:operate " +
		"access:admin audit:read webhooks:admin settings:admin",
}

// call is a request of one operation. Everything of the document has one: a new operation is called without anybody's doing.
type call struct {
	id, method, path, permission string
	params                       map[string]string // the path's
	body                         string
	streams                      bool
}

func (c call) target() string {
	path := c.path
	for name, value := range c.params {
		path = strings.ReplaceAll(path, "{"+name+"}", value)
	}
	return path
}

func calls(t *testing.T) []call {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(api.Spec)
	if err != nil {
		t.Fatal(err)
	}
	var all []call
	for _, path := range slices.Sorted(maps.Keys(doc.Paths.Map())) {
		item := doc.Paths.Value(path)
		for _, method := range slices.Sorted(maps.Keys(item.Operations())) {
			op := item.Operations()[method]
			c := call{id: op.OperationID, method: method, path: path, params: make(map[string]string)}
			c.permission, _ = op.Extensions["x-permission"].(string)
			for _, ref := range slices.Concat(item.Parameters, op.Parameters) {
				if p := ref.Value; p.In == "path" {
					c.params[p.Name] = sample(p)
				}
			}
			if op.RequestBody != nil {
				media := op.RequestBody.Value.GetMediaType("application/json")
				example := media.Example
				if example == nil {
					example = media.Examples["plain"].Value.Value
				}
				text, err := json.Marshal(example)
				if err != nil {
					t.Fatal(err)
				}
				c.body = string(text)
			}
			if ok := op.Responses.Value("200"); ok != nil {
				c.streams = ok.Value.Content["text/event-stream"] != nil
			}
			all = append(all, c)
		}
	}
	return all
}

// sample is a value that a path can have, and that is nobody's.
func sample(p *openapi3.Parameter) string {
	switch s := p.Schema.Value; {
	case len(s.Enum) > 0:
		return s.Enum[0].(string)
	case s.Format == "uuid":
		return uuid.Must(uuid.NewV7()).String()
	case s.Type.Is("integer"):
		return "0"
	default:
		return "nobodys-" + p.Name
	}
}

// world is a server with tokens, as on a company's network.
type world struct {
	client *control.Client
	db     *pgtest.DB
	url    string
	http   *http.Client
}

func newWorld(t *testing.T) *world {
	t.Helper()
	client, d := newClient(t)
	hub, err := live.New(live.Config{Pool: d.Pool, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- hub.Run(ctx) }()
	s, err := api.New(api.Config{Client: client, Authenticator: access.NewCredentials(d.Pool, slog.New(slog.DiscardHandler)), Live: hub,
		Limits: api.Limits{Rate: -1}, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(s.Handler())
	t.Cleanup(func() {
		hub.Drain()
		srv.Close()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return &world{client: client, db: d, url: srv.URL, http: srv.Client()}
}

// token makes one, in the namespace of its maker.
func (w *world) token(t *testing.T, namespace string, n access.NewToken) (secret string, id uuid.UUID) {
	t.Helper()
	maker := access.Principal{Actor: "local:test", Namespace: namespace, Role: gen.RoleAdmin, Cluster: true}
	made, secret, err := access.CreateToken(pgtest.Context(t, patient), w.db.Pool, maker, n)
	if err != nil {
		t.Fatal(err)
	}
	return secret, made.ID
}

// do sends a call. Of a stream it reads the head alone.
func (w *world) do(t *testing.T, c call, token string) (status int, header http.Header, body string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patient)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, c.method, w.url+c.target(), bytes.NewReader([]byte(c.body)))
	if err != nil {
		t.Fatal(err)
	}
	if c.body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := w.http.Do(req)
	if err != nil {
		t.Fatalf("%s: %v", c.id, err)
	}
	defer func() { _ = res.Body.Close() }()
	if c.streams && res.StatusCode == http.StatusOK {
		return res.StatusCode, res.Header, ""
	}
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatalf("%s: %v", c.id, err)
	}
	return res.StatusCode, res.Header, string(text)
}

func problemOf(t *testing.T, c call, body string) gen.Problem {
	t.Helper()
	var p gen.Problem
	if err := json.Unmarshal([]byte(body), &p); err != nil || p.Code == "" {
		t.Fatalf("%s: not a problem: %s", c.id, body)
	}
	return p
}

// Every route, bulk verbs and streams too, lets through who has its permission and nobody else.
func TestEveryRouteAsksForItsPermission(t *testing.T) {
	w := newWorld(t)
	type asker struct {
		token string
		may   []string // nil: 401
	}
	askers := map[string]asker{
		"nobody": {}, "garbage": {token: "garbage"}, "a token of nobody's": {token: "ax_" + strings.Repeat("A", 43)},
	}
	for name, list := range may {
		n := access.NewToken{Name: name, Role: gen.Role(strings.Fields(name)[0]), Cluster: strings.Contains(name, "cluster")}
		secret, _ := w.token(t, "default", n)
		askers[name] = asker{secret, strings.Fields(list)}
	}
	for _, perm := range strings.Fields(may["admin of the cluster"]) {
		secret, _ := w.token(t, "default", access.NewToken{Name: "only " + perm, Role: gen.RoleAdmin, Cluster: true, Scopes: []gen.Permission{gen.Permission(perm)}})
		askers["only "+perm] = asker{secret, []string{perm}}
	}
	for _, state := range []string{"expired", "revoked"} {
		secret, id := w.token(t, "default", access.NewToken{Name: state, Role: gen.RoleAdmin, Cluster: true})
		column := map[string]string{"expired": "expires_at", "revoked": "revoked_at"}[state]
		if _, err := w.db.Pool.Exec(t.Context(), "UPDATE ax.token SET "+column+" = clock_timestamp() - interval '1 s' WHERE id = $1", id); err != nil {
			t.Fatal(err)
		}
		askers[state] = asker{token: secret}
	}
	for _, c := range calls(t) {
		for name, who := range askers {
			status, header, body := w.do(t, c, who.token)
			allowed := c.permission == "public" || who.may != nil && (c.permission == "self" || slices.Contains(who.may, c.permission))
			switch {
			case allowed:
				denied := status == http.StatusForbidden && strings.Contains(body, "this needs the permission")
				if status == http.StatusUnauthorized || denied || status >= 500 {
					t.Errorf("%s %s (%s) as %s: %d %s, want it let through", c.method, c.path, c.permission, name, status, body)
				}
			case who.may == nil:
				if p := problemOf(t, c, body); status != http.StatusUnauthorized || p.Code != gen.ProblemCodeUnauthenticated || !strings.HasPrefix(header.Get("WWW-Authenticate"), "Bearer") {
					t.Errorf("%s %s as %s: %d %s, want 401", c.method, c.path, name, status, body)
				}
			default:
				if p := problemOf(t, c, body); status != http.StatusForbidden || p.Code != gen.ProblemCodeForbidden || !strings.Contains(*p.Detail, "the permission "+c.permission+",") {
					t.Errorf("%s %s as %s: %d %s, want 403 that names %s", c.method, c.path, name, status, body, c.permission)
				}
			}
		}
	}
}

type hidden struct{}

// Another namespace's things answer exactly as those that do not exist, and no list shows them.
func TestOtherNamespacesDoNotExist(t *testing.T) {
	w := newWorld(t)
	ctx := pgtest.Context(t, patient)
	pull := stage.New("hidden-stage", func(context.Context, hidden) (string, error) { return "", nil })
	v, err := w.client.Register(ctx, flow.New("hidden-flow", pull))
	if err != nil {
		t.Fatal(err)
	}
	started, err := w.client.Start(ctx, control.Batch{Trigger: "api"}, []control.Start{{Version: v, Params: json.RawMessage(`{}`), Queue: "hidden-queue"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.client.SetQueue(ctx, control.QueueConfig{Name: "hidden-queue", Capacity: 7}, control.Who{Actor: "hidden-actor"}); err != nil {
		t.Fatal(err)
	}
	_, token := w.token(t, "default", access.NewToken{Name: "hidden-token", Role: gen.RoleAdmin})
	worker, replay, webhook, delivery := uuid.Must(uuid.NewV7()), uuid.Must(uuid.NewV7()), uuid.Must(uuid.NewV7()), uuid.Must(uuid.NewV7())
	for _, statement := range []string{
		`INSERT INTO ax.worker (id, seen_at, started_at, state, urgent, namespace, host, pid, labels, handlers) VALUES ($1, now(), now(), 0, 0, 'default', 'hidden-host', 1, '{}', '{"hidden-flow/hidden-stage": 4}')`,
		`INSERT INTO ax.replay (id, namespace, state, filter, total, actor) VALUES ($2, 'default', 'running', '{}', 1, 'hidden-actor')`,
		`INSERT INTO ax.webhook (id, namespace, name, url, secret, events, created_by) VALUES ($3, 'default', 'hidden-hook', 'https://hidden.example.com/', '\x00', '{run.failed}', 'hidden-actor')`,
		`INSERT INTO ax.delivery (id, webhook_id, namespace, event, state, asked_at, next_at, created_at) VALUES ($4, $3, 'default', 'ping', 'failed', now(), now(), now())`,
	} {
		args := []any{worker, replay, webhook, delivery}
		used := regexp.MustCompile(`\$[0-9]`).FindAllString(statement, -1)
		var given []any
		for i, arg := range args {
			if slices.Contains(used, fmt.Sprintf("$%d", i+1)) {
				given = append(given, arg)
				statement = strings.ReplaceAll(statement, fmt.Sprintf("$%d", i+1), fmt.Sprintf("$%d::uuid", len(given)))
			}
		}
		if _, err := w.db.Pool.Exec(ctx, statement, given...); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	theirs := map[string]string{"run": started[0].Run.String(), "flow": "hidden-flow", "queue": "hidden-queue", "token": token.String(), "worker": worker.String(),
		"replay": replay.String(), "webhook": webhook.String(), "delivery": delivery.String(), "stage": "hidden-stage"}
	secret, _ := w.token(t, "other", access.NewToken{Name: "spy", Role: gen.RoleAdmin, Cluster: true})
	for _, c := range calls(t) {
		foreign := c
		foreign.params = maps.Clone(c.params)
		asks := false
		for name := range c.params {
			if value, ok := theirs[name]; ok {
				foreign.params[name], asks = value, true
			}
		}
		foreign.body = strings.NewReplacer("daily-recon", "hidden-flow", "01937f2e-5b7e-7cc3-98c4-dc0c0c07398f", theirs["run"]).Replace(c.body)
		status1, _, body1 := w.do(t, foreign, secret)
		for _, leak := range slices.Concat(slices.Collect(maps.Values(theirs)), []string{"hidden-host", "hidden-actor", "hidden.example.com", "hidden-hook"}) {
			asked := slices.Contains(slices.Collect(maps.Values(foreign.params)), leak) || strings.Contains(foreign.body, leak)
			if strings.Contains(body1, leak) && !asked {
				t.Errorf("%s %s in another namespace tells of %s: %s", c.method, c.path, leak, body1)
			}
		}
		if !asks {
			continue
		}
		status2, _, body2 := w.do(t, c, secret)
		if one, two := anonymous(body1, foreign), anonymous(body2, c); status1 != status2 || one != two {
			t.Errorf("%s %s: another namespace's answers %d %s\nwhat does not exist %d %s", c.method, c.path, status1, one, status2, two)
		}
	}
	row, err := w.client.Run(ctx, started[0].Run)
	if err != nil || stage.RunState(row.State) != stage.RunRunning {
		t.Errorf("the run is %v, %v: somebody of another namespace has acted on it", stage.RunState(row.State), err)
	}
	var touched int
	if err := w.db.Pool.QueryRow(ctx, "SELECT count(*) FROM ax.audit WHERE namespace = 'default' AND actor NOT IN ('local:test', 'hidden-actor')").Scan(&touched); err != nil || touched > 0 {
		t.Errorf("%d acts in another namespace, %v", touched, err)
	}
	for table, id := range map[string]uuid.UUID{"token": token, "worker": worker, "replay": replay, "webhook": webhook, "delivery": delivery} {
		var n int
		if err := w.db.Pool.QueryRow(ctx, "SELECT count(*) FROM ax."+table+" WHERE id = $1", id).Scan(&n); err != nil || n != 1 {
			t.Errorf("%d rows of the %s are left, %v", n, table, err)
		}
	}
}

var times = regexp.MustCompile(`"\d{4}-\d\d-\d\dT[^"]+"`)

// anonymous is an answer without what was asked for, the request's id and the time.
func anonymous(body string, c call) string {
	var p map[string]any
	if json.Unmarshal([]byte(body), &p) == nil && p["instance"] != nil {
		delete(p, "instance")
		text, _ := json.Marshal(p)
		body = string(text)
	}
	for name, value := range c.params {
		if len(value) > 5 { // "0" and "pause" are everywhere
			body = strings.ReplaceAll(body, value, "<"+name+">")
		}
	}
	return times.ReplaceAllString(body, "<time>")
}

// Tokens that are good end with their lives; the next request says so.
func TestRevokedAtOnce(t *testing.T) {
	w := newWorld(t)
	secret, id := w.token(t, "default", access.NewToken{Name: "short", Role: gen.RoleAdmin, Life: time.Hour})
	me := call{id: "getMe", method: "GET", path: "/api/v1/me"}
	if status, _, body := w.do(t, me, secret); status != 200 || !strings.Contains(body, `"actor":"token:short"`) || !strings.Contains(body, `"via":"token"`) {
		t.Fatalf("%d %s", status, body)
	}
	status, _, body := w.do(t, call{id: "revokeToken", method: "DELETE", path: "/api/v1/tokens/" + id.String()}, secret)
	if status != http.StatusNoContent {
		t.Fatalf("%d %s", status, body)
	}
	if status, _, body := w.do(t, me, secret); status != 401 {
		t.Errorf("%d %s", status, body)
	}
}
