package webhook_test

import (
	"context"
	"crypto/tls"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"go.uber.org/goleak"

	"axflow/engine/control"
	"axflow/engine/webhook"
	"axflow/internal/pgtest"
	axsql "axflow/sql"
	"axflow/sql/hint"
	"axflow/sql/payload"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var me = control.Who{Actor: "tester", Reason: "a test"}

// got is a request that a receiver has had.
type got struct {
	at     time.Time
	header http.Header
	body   []byte
	path   string
}

// receiver is a server on this machine that takes deliveries.
type receiver struct {
	*httptest.Server
	port uint16
	mu   sync.Mutex
	got  []got
}

// receive starts a receiver; answer is called for each request, nil: 204.
func receive(t *testing.T, answer http.HandlerFunc) *receiver {
	t.Helper()
	r := &receiver{}
	r.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		r.mu.Lock()
		r.got = append(r.got, got{time.Now(), q.Header.Clone(), body, q.URL.Path})
		r.mu.Unlock()
		if answer == nil {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		answer(w, q)
	}))
	r.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	r.StartTLS()
	t.Cleanup(r.Close)
	r.port = netip.MustParseAddrPort(r.Listener.Addr().String()).Port()
	return r
}

func (r *receiver) all() []got {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]got(nil), r.got...)
}

// post is a database with webhooks, and the loop that delivers.
type post struct {
	t      *testing.T
	ctx    context.Context
	pool   *pgxpool.Pool
	client *control.Client
	cfg    webhook.Config
	wake   chan struct{}
}

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}

func newPost(t *testing.T, codec payload.Codec, receivers ...*receiver) *post {
	t.Helper()
	p := &post{t: t, ctx: pgtest.Context(t, time.Minute), wake: make(chan struct{}, 1)}
	d := pgtest.New(t, pgtest.Pool(func(c *pgxpool.Config) { axsql.ConfigurePool(c) }))
	p.pool = d.Pool
	rules := webhook.Rules{AllowPrivate: loopback}
	trust := &tls.Config{MinVersion: tls.VersionTLS12}
	for _, r := range receivers {
		rules.AllowPorts = append(rules.AllowPorts, r.port)
		trust.RootCAs = r.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	}
	bus, err := hint.New(hint.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if p.client, err = control.NewClient(p.ctx, control.Config{Pool: p.pool, Bus: bus, Webhooks: rules, Codec: codec}); err != nil {
		t.Fatal(err)
	}
	p.cfg = webhook.Config{Conn: p.pool, Rules: rules, Codec: codec, Now: time.Now, Wake: p.wake, Every: 50 * time.Millisecond, TLS: trust,
		RunURL: "https://ax.example.com/runs/", Actor: "leader/1", Logger: slog.New(slog.DiscardHandler)}
	return p
}

// run runs a loop until the test ends, or stop is called.
func (p *post) run() (stop func()) {
	ctx, cancel := context.WithCancel(p.ctx)
	done := make(chan error, 1)
	go func() { done <- webhook.New(p.cfg).Run(ctx) }()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			if err := <-done; err != nil {
				p.t.Errorf("the loop ended with %v", err)
			}
		})
	}
	p.t.Cleanup(stop)
	return stop
}

// hook makes a webhook.
func (p *post) hook(name, url string) (uuid.UUID, string) {
	p.t.Helper()
	w, secret, err := p.client.AddWebhook(p.ctx, control.NewWebhook{Name: name, URL: url, Events: []string{"run.failed"}}, me)
	if err != nil {
		p.t.Fatal(err)
	}
	return w.ID, secret
}

func (p *post) ping(hook uuid.UUID) uuid.UUID {
	p.t.Helper()
	d, err := p.client.PingWebhook(p.ctx, hook, me)
	if err != nil {
		p.t.Fatal(err)
	}
	return d.ID
}

func (p *post) exec(sql string, args ...any) {
	p.t.Helper()
	if _, err := p.pool.Exec(p.ctx, sql, args...); err != nil {
		p.t.Fatalf("%s: %v", sql, err)
	}
}

// delivery is the newest state of one.
func (p *post) delivery(hook, id uuid.UUID) control.Delivery {
	p.t.Helper()
	all, err := p.client.Deliveries(p.ctx, hook, time.Time{}, uuid.Nil, 1000)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, d := range all {
		if d.ID == id {
			return d
		}
	}
	p.t.Fatalf("no delivery %s", id)
	return control.Delivery{}
}

// becomes waits until a delivery is as told.
func (p *post) becomes(hook, id uuid.UUID, what string, is func(control.Delivery) bool) control.Delivery {
	p.t.Helper()
	var d control.Delivery
	pgtest.Eventually(p.t, 20*time.Second, func() (bool, string) {
		d = p.delivery(hook, id)
		return is(d), what + ", but it is " + d.State + " after " + strconv.Itoa(d.Attempts) + ": " + d.Error
	})
	return d
}

func delivered(d control.Delivery) bool { return d.State == "delivered" }
