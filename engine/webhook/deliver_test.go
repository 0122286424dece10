package webhook_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"axflow/engine/control"
	"axflow/engine/webhook"
	"axflow/internal/pgtest"
	"axflow/sql/db"
	"axflow/sql/payload"
)

func TestADeliveryIsSignedAndSaysWhatHappened(t *testing.T) {
	r := receive(t, nil)
	key := make([]byte, payload.KeyLen)
	codec, err := payload.NewAESGCM(map[string][]byte{"k1": key}, "k1")
	if err != nil {
		t.Fatal(err)
	}
	p := newPost(t, codec, r)
	hook, secret := p.hook("on call", r.URL+"/ax")
	var at int
	if err := p.pool.QueryRow(p.ctx, `SELECT position($1::bytea IN secret) FROM ax.webhook`, []byte(secret)).Scan(&at); err != nil || at != 0 {
		t.Errorf("the secret is stored as it is, at %d; %v", at, err)
	}
	run := uuid.Must(uuid.NewV7())
	data := `{"flow": "daily", "version": "ab", "state": 11, "level": 1, "queue": "etl", "tags": {"team": "finance"}, "created_at": "2026-11-29T11:00:00+00:00",
		"finished_at": "2026-11-29T12:00:00.5+00:00", "deadline": "2026-11-29T11:30:00+00:00", "late": true}`
	id := uuid.New()
	p.exec(`INSERT INTO ax.delivery (id, webhook_id, namespace, event, run_id, asked_at, next_at, created_at, data)
		VALUES ($1, $2, 'default', 'run.failed', $3, now(), now(), '2026-11-29 12:00:00.5Z', $4)`, id, hook, run, data)
	p.run()
	d := p.becomes(hook, id, "delivered", delivered)
	if d.Attempts != 1 || d.Status != 204 || d.DeliveredAt == nil || d.Error != "" {
		t.Errorf("the delivery is %+v", d)
	}
	all := r.all()
	if len(all) != 1 {
		t.Fatalf("%d requests, want 1", len(all))
	}
	verifier, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	if err := verifier.Verify(all[0].body, all[0].header); err != nil {
		t.Errorf("the signature: %v", err)
	}
	if h := all[0].header; h.Get("Webhook-Id") != id.String() || h.Get("User-Agent") != "ax" || h.Get("Content-Type") != "application/json" || all[0].path != "/ax" {
		t.Errorf("path %s, header %v", all[0].path, h)
	}
	var body, want map[string]any
	if err := json.Unmarshal(all[0].body, &body); err != nil {
		t.Fatal(err)
	}
	_ = json.Unmarshal([]byte(`{"type": "run.failed", "timestamp": "2026-11-29T12:00:00.5Z", "data": {"namespace": "default", "run": "`+run.String()+`",
		"flow": "daily", "version": "ab", "state": "failed", "level": "P1", "queue": "etl", "tags": {"team": "finance"}, "created_at": "2026-11-29T11:00:00Z",
		"finished_at": "2026-11-29T12:00:00.5Z", "late_at": "2026-11-29T11:30:00Z", "late": true, "url": "https://ax.example.com/runs/`+run.String()+`"}}`), &want)
	a, _ := json.Marshal(body)
	b, _ := json.Marshal(want)
	if string(a) != string(b) {
		t.Errorf("the body is\n%s, want\n%s", a, b)
	}
}

func TestAFailedDeliveryIsTriedAgainWithTheSameContent(t *testing.T) {
	var fail atomic.Int32
	fail.Store(2)
	r := receive(t, func(w http.ResponseWriter, _ *http.Request) {
		if fail.Add(-1) >= 0 {
			w.Header().Set("Retry-After", "3600")
			http.Error(w, strings.Repeat("no", 100_000), http.StatusServiceUnavailable)
			return
		}
		w.WriteHeader(http.StatusAccepted)
	})
	p := newPost(t, nil, r)
	hook, secret := p.hook("busy", r.URL)
	id := p.ping(hook)
	p.run()
	d := p.becomes(hook, id, "tried once", func(d control.Delivery) bool { return d.Attempts == 1 && d.Status == 503 })
	if d.State != "pending" || time.Until(d.NextAt) < 59*time.Minute {
		t.Errorf("after 503 with Retry-After of an hour it is %+v", d)
	}
	if w, err := p.client.Webhook(p.ctx, hook); err != nil || w.FailingSince == nil {
		t.Errorf("the webhook is %+v, %v, want it failing", w, err)
	}
	p.exec(`UPDATE ax.delivery SET next_at = now()`)
	p.becomes(hook, id, "tried twice", func(d control.Delivery) bool { return d.Attempts == 2 && time.Until(d.NextAt) > 59*time.Minute })
	p.exec(`UPDATE ax.delivery SET next_at = now()`)
	p.becomes(hook, id, "delivered", delivered)
	if d = p.delivery(hook, id); d.State != "delivered" || d.Status != 202 || d.Error != "" {
		t.Errorf("the delivery is %+v", d)
	}
	if w, err := p.client.Webhook(p.ctx, hook); err != nil || w.FailingSince != nil {
		t.Errorf("the webhook is %+v, %v, want it not failing", w, err)
	}
	all := r.all()
	verifier, _ := standardwebhooks.NewWebhook(secret)
	for i, g := range all {
		if string(g.body) != string(all[0].body) || g.header.Get("Webhook-Id") != id.String() || verifier.Verify(g.body, g.header) != nil {
			t.Errorf("try %d sent %s with %v", i, g.body, g.header)
		}
	}
	if _, err := p.client.Redeliver(p.ctx, hook, id, me); err != nil {
		t.Fatal(err)
	}
	p.becomes(hook, id, "delivered again", func(d control.Delivery) bool { return d.State == "delivered" && d.Attempts == 4 })
}

func TestADeliveryFailsAfterADayAndIsKept(t *testing.T) {
	r := receive(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
	p := newPost(t, nil, r)
	hook, _ := p.hook("down", r.URL)
	id := p.ping(hook)
	p.exec(`UPDATE ax.delivery SET asked_at = now() - interval '25 hours', tried = 12`)
	p.run()
	d := p.becomes(hook, id, "failed", func(d control.Delivery) bool { return d.State == "failed" })
	if d.Status != 500 || !strings.Contains(d.Error, "500") {
		t.Errorf("it is %+v", d)
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	elsewhere := receive(t, nil)
	r := receive(t, func(w http.ResponseWriter, q *http.Request) {
		http.Redirect(w, q, elsewhere.URL, http.StatusTemporaryRedirect)
	})
	p := newPost(t, nil, r, elsewhere)
	hook, _ := p.hook("moved", r.URL)
	id := p.ping(hook)
	p.run()
	d := p.becomes(hook, id, "refused", func(d control.Delivery) bool { return d.Status == 307 })
	if !strings.Contains(d.Error, "redirect") || d.State != "pending" {
		t.Errorf("it is %+v", d)
	}
	if len(elsewhere.all()) > 0 {
		t.Error("the redirect was followed")
	}
}

func TestAReceiverThatIsGoneIsDisabledUntilItIsAskedFor(t *testing.T) {
	var back atomic.Bool
	r := receive(t, func(w http.ResponseWriter, _ *http.Request) {
		if !back.Load() {
			w.WriteHeader(http.StatusGone)
		}
	})
	p := newPost(t, nil, r)
	hook, _ := p.hook("gone", r.URL)
	id, later := p.ping(hook), p.ping(hook)
	p.exec(`UPDATE ax.delivery SET next_at = now() + interval '1 hour' WHERE id = $1`, later)
	p.run()
	p.becomes(hook, id, "failed", func(d control.Delivery) bool { return d.State == "failed" && d.Status == 410 })
	p.becomes(hook, later, "failed too", func(d control.Delivery) bool { return d.State == "failed" && strings.Contains(d.Error, "disabled") })
	w, err := p.client.Webhook(p.ctx, hook)
	if err != nil || w.DisabledAt == nil {
		t.Errorf("the webhook is %+v, %v", w, err)
	}
	var n int
	if err := p.pool.QueryRow(p.ctx, `SELECT count(*) FROM ax.audit WHERE verb = 'disable_webhook' AND actor = 'leader/1' AND target = $1`, "webhook/"+hook.String()).Scan(&n); err != nil || n != 1 {
		t.Errorf("%d lines of the audit, %v", n, err)
	}
	back.Store(true)
	again := p.ping(hook)
	p.becomes(hook, again, "delivered", delivered)
	if w, err = p.client.Webhook(p.ctx, hook); err != nil || w.DisabledAt != nil || w.FailingSince != nil {
		t.Errorf("the webhook is %+v, %v", w, err)
	}
}

// What resolves or leads to an address that is not allowed is not connected to, whatever the URL says.
func TestAddressesAreLookedAtWhenTheyAreConnectedTo(t *testing.T) {
	r := receive(t, nil)
	p := newPost(t, nil, r)
	hook, _ := p.hook("inside", r.URL)
	byName, _ := p.hook("by name", "https://localhost:"+strconv.Itoa(int(r.port))+"/")
	closed, _ := p.hook("closed", "https://127.0.0.1/")
	// The engine's rules are narrower than those that the webhooks were made under.
	p.cfg.Rules = webhook.Rules{AllowPorts: p.cfg.Rules.AllowPorts, AllowPrivate: loopback[1:]}
	ids := map[uuid.UUID]uuid.UUID{hook: p.ping(hook), byName: p.ping(byName), closed: p.ping(closed)}
	p.run()
	for h, id := range ids {
		d := p.becomes(h, id, "refused", func(d control.Delivery) bool { return d.Attempts == 1 && d.Error != "" })
		if d.State != "pending" || d.Status != 0 {
			t.Errorf("it is %+v", d)
		}
		if strings.Contains(d.Error, "127.0.0.1:") {
			t.Errorf("the error tells where the name leads: %s", d.Error)
		}
	}
	if all := r.all(); len(all) > 0 {
		t.Errorf("%d requests came through", len(all))
	}
}

func TestACertificateThatNobodyTrustsIsRefused(t *testing.T) {
	r := receive(t, nil)
	p := newPost(t, nil, r)
	p.cfg.TLS = nil
	hook, _ := p.hook("self-signed", r.URL)
	id := p.ping(hook)
	p.run()
	d := p.becomes(hook, id, "refused", func(d control.Delivery) bool { return d.Error != "" })
	if !strings.Contains(d.Error, "certificate") {
		t.Errorf("it is %+v", d)
	}
}

// A dead receiver with many deliveries keeps no other waiting, and never has more than its share of attempts.
func TestADeadReceiverStarvesNobody(t *testing.T) {
	var inside, most atomic.Int32
	release := make(chan struct{})
	dead := receive(t, func(w http.ResponseWriter, q *http.Request) {
		n := inside.Add(1)
		defer inside.Add(-1)
		for {
			m := most.Load()
			if n <= m || most.CompareAndSwap(m, n) {
				break
			}
		}
		select {
		case <-release:
		case <-q.Context().Done():
		}
		w.WriteHeader(http.StatusBadGateway)
	})
	alive := receive(t, nil)
	p := newPost(t, nil, dead, alive)
	hang, _ := p.hook("hangs", dead.URL)
	well, _ := p.hook("well", alive.URL)
	p.exec(`INSERT INTO ax.delivery (id, webhook_id, namespace, event, asked_at, next_at, created_at)
		SELECT gen_random_uuid(), $1, 'default', 'ping', now(), now() - interval '1 hour', now() FROM generate_series(1, 300)`, hang)
	p.exec(`INSERT INTO ax.delivery (id, webhook_id, namespace, event, asked_at, next_at, created_at)
		SELECT gen_random_uuid(), $1, 'default', 'ping', now(), now(), now() FROM generate_series(1, 50)`, well)
	p.run()
	pgtest.Eventually(t, 8*time.Second, func() (bool, string) { // less than the dead one's time-out
		n := len(alive.all())
		return n == 50, strconv.Itoa(n) + " of 50 deliveries"
	})
	close(release)
	pgtest.Eventually(t, 10*time.Second, func() (bool, string) {
		n := len(dead.all())
		return n >= 20, strconv.Itoa(n) + " attempts at the dead one"
	})
	if m := most.Load(); m > 2 {
		t.Errorf("%d attempts at once at one receiver, want 2 at most", m)
	}
}

// A loop that dies with an attempt under way leaves it to the next one, once the lease is over, and is then of no account.
func TestAnAttemptThatWasLostIsMadeAgain(t *testing.T) {
	came, release := make(chan struct{}, 10), make(chan struct{})
	r := receive(t, func(_ http.ResponseWriter, q *http.Request) {
		came <- struct{}{}
		select {
		case <-release:
		case <-q.Context().Done():
		}
	})
	p := newPost(t, nil, r)
	hook, _ := p.hook("slow", r.URL)
	id := p.ping(hook)
	stop := p.run()
	pgtest.Receive(t, 20*time.Second, came, "the first attempt")
	stop()
	if d := p.delivery(hook, id); d.State != "pending" || d.Attempts != 1 || time.Until(d.NextAt) < 10*time.Second {
		t.Errorf("the lost attempt left %+v", d)
	}
	close(release)
	p.exec(`UPDATE ax.delivery SET next_at = now()`) // the lease is over
	p.run()
	p.becomes(hook, id, "delivered", func(d control.Delivery) bool { return delivered(d) && d.Attempts == 2 })
	n, err := db.New(p.pool).SettleDelivery(p.ctx, db.SettleDeliveryParams{ID: id, Attempts: 1, State: "failed"})
	if err != nil || n != 0 {
		t.Errorf("a settlement of the lost attempt changed %d rows, %v", n, err)
	}
}

func TestTwoLoopsSendADeliveryOnce(t *testing.T) {
	r := receive(t, nil)
	p := newPost(t, nil, r)
	hook, _ := p.hook("twice", r.URL)
	p.exec(`INSERT INTO ax.delivery (id, webhook_id, namespace, event, asked_at, next_at, created_at)
		SELECT gen_random_uuid(), $1, 'default', 'ping', now(), now(), now() FROM generate_series(1, 60)`, hook)
	p.run()
	p.run()
	pgtest.Eventually(t, 20*time.Second, func() (bool, string) {
		var n int
		err := p.pool.QueryRow(p.ctx, `SELECT count(*) FROM ax.delivery WHERE state = 'delivered' AND attempts = 1`).Scan(&n)
		return n == 60 && err == nil, strconv.Itoa(n) + " delivered"
	})
	if n := len(r.all()); n != 60 {
		t.Errorf("%d requests, want 60", n)
	}
}

func TestOldDeliveriesAndThoseOfDeletedWebhooksGo(t *testing.T) {
	p := newPost(t, nil, receive(t, nil))
	hook, _ := p.hook("kept", "https://127.0.0.1:443/")
	gone, _ := p.hook("deleted", "https://127.0.0.1:443/")
	for _, h := range []uuid.UUID{hook, gone} {
		p.exec(`INSERT INTO ax.delivery (id, webhook_id, namespace, event, state, asked_at, next_at, created_at)
			SELECT gen_random_uuid(), $1, 'default', 'ping', s, now(), now() + interval '1 day', now() - a * interval '1 day'
			FROM unnest('{pending,delivered,failed}'::text[]) s, unnest('{29,31}'::int[]) a`, h)
	}
	if err := p.client.DropWebhook(p.ctx, gone, me); err != nil {
		t.Fatal(err)
	}
	p.exec(`INSERT INTO ax.delivery (id, webhook_id, namespace, event, asked_at, next_at, created_at) VALUES (gen_random_uuid(), $1, 'default', 'ping', now(), now(), now())`, gone)
	p.run()
	pgtest.Eventually(t, 20*time.Second, func() (bool, string) {
		var kept, lost int
		err := p.pool.QueryRow(p.ctx, `SELECT count(*) FILTER (WHERE webhook_id = $1), count(*) FILTER (WHERE webhook_id <> $1) FROM ax.delivery`, hook).Scan(&kept, &lost)
		return kept == 4 && lost == 0 && err == nil, strconv.Itoa(kept) + " kept and " + strconv.Itoa(lost) + " of a deleted webhook, want 4 and 0"
	})
}
