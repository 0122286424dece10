package axflow_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"axflow"
	"axflow/engine/control"
	"axflow/engine/webhook"
	"axflow/flow"
	"axflow/internal/pgtest"
	"axflow/stage"
)

// inbox is a receiver of deliveries.
type inbox struct {
	*httptest.Server
	mu     sync.Mutex
	bodies []webhook.Body
	raw    []string
	heads  []http.Header
}

func newInbox(t *testing.T) *inbox {
	t.Helper()
	in := &inbox{}
	in.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		var body webhook.Body
		if err := json.Unmarshal(text, &body); err != nil {
			t.Errorf("a delivery is %q: %v", text, err)
		}
		in.mu.Lock()
		defer in.mu.Unlock()
		in.bodies, in.raw, in.heads = append(in.bodies, body), append(in.raw, string(text)), append(in.heads, r.Header.Clone())
	}))
	t.Cleanup(in.Close)
	return in
}

// allow lets webhooks lead to this machine's own servers.
func (in *inbox) allow(c *axflow.Config) {
	c.Webhooks = webhook.Rules{AllowPrivate: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, AllowHTTP: true,
		AllowPorts: []uint16{netip.MustParseAddrPort(in.Listener.Addr().String()).Port()}}
}

// of are the events of a run that came, in order.
func (in *inbox) of(run uuid.UUID) (events []string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, b := range in.bodies {
		if b.Data.Run != nil && *b.Data.Run == run {
			events = append(events, b.Type)
		}
	}
	return events
}

// gets waits until the events of a run have come.
func (in *inbox) gets(t *testing.T, run uuid.UUID, events ...string) {
	t.Helper()
	pgtest.Eventually(t, 30*time.Second, func() (bool, string) {
		got := in.of(run)
		return slices.Equal(got, events), "got " + strings.Join(got, ", ") + ", want " + strings.Join(events, ", ")
	})
}

func (l *lab) hook(name, url string, events []string, flows ...string) string {
	l.t.Helper()
	_, secret, err := l.p.Client().AddWebhook(l.ctx, control.NewWebhook{Name: name, URL: url, Events: events, Flows: flows}, axflow.Who{Actor: "test"})
	if err != nil {
		l.t.Fatal(err)
	}
	return secret
}

func TestEveryEndOfARunIsToldOnce(t *testing.T) {
	in := newInbox(t)
	type params struct {
		Secret string `json:"secret"`
		Fail   bool   `json:"fail"`
	}
	hang := make(chan struct{})
	work := stage.New("work", func(ctx context.Context, p params) (string, error) {
		if p.Fail {
			return "", stage.Permanent(errors.New("no"))
		}
		return p.Secret, nil
	})
	wait := stage.New("wait", func(ctx context.Context, _ params) (string, error) {
		select {
		case <-hang:
		case <-ctx.Done():
			return "", ctx.Err()
		}
		return "", nil
	})
	daily, hanging := flow.New("daily", work), flow.New("hanging", wait)
	empty := flow.New("empty", stage.New("off", func(context.Context, params) (string, error) { return "", nil }, stage.Disabled()))
	l := open(t, func(c *axflow.Config) { in.allow(c); c.RunURL = "https://ax.example.com/runs/" }, daily, hanging, empty)
	before := start(l, daily, params{})
	l.ends(before, stage.RunSucceeded)
	secret := l.hook("all", in.URL, control.WebhookEvents)
	l.hook("fails", in.URL+"/fails", []string{"run.failed"})
	l.hook("others", in.URL+"/others", control.WebhookEvents, "other")
	// Another namespace hears nothing of this one's runs: the counts below would show it.
	if _, _, err := l.p.Client().In("elsewhere").AddWebhook(l.ctx, control.NewWebhook{Name: "all", URL: in.URL, Events: control.WebhookEvents}, axflow.Who{Actor: "test"}); err != nil {
		t.Fatal(err)
	}

	good := start(l, daily, params{Secret: "s3cret"}, axflow.Tags(map[string]string{"team": "finance"}), axflow.At(stage.P1))
	bad := start(l, daily, params{Fail: true})
	nothing := start(l, empty, params{})
	stopped := start(l, hanging, params{})
	l.eventually("the run does not hang", `SELECT count(*) = 1 FROM ax.flight WHERE run_id = $1`, stopped)
	if _, err := l.p.Client().Cancel(l.ctx, stopped, false, axflow.Who{Actor: "test"}); err != nil {
		t.Fatal(err)
	}
	in.gets(t, good, "run.succeeded")
	in.gets(t, bad, "run.failed", "run.failed") // two webhooks
	in.gets(t, nothing, "run.succeeded")
	in.gets(t, stopped, "run.cancelled")
	if _, err := l.p.Client().Rerun(l.ctx, good, "work", axflow.Who{Actor: "test"}); err != nil {
		t.Fatal(err)
	}
	in.gets(t, good, "run.succeeded", "run.succeeded")
	want(t, "deliveries", l.count(`SELECT count(*) FROM ax.delivery`), 6)
	want(t, "deliveries of a run that ended before", len(in.of(before)), 0)

	in.mu.Lock()
	defer in.mu.Unlock()
	verifier, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	for i, b := range in.bodies {
		if strings.Contains(in.raw[i], "s3cret") {
			t.Errorf("a delivery holds params or outputs: %s", in.raw[i])
		}
		if *b.Data.Run != good {
			continue
		}
		if err := verifier.Verify([]byte(in.raw[i]), in.heads[i]); err != nil {
			t.Errorf("the signature: %v", err)
		}
		d := b.Data
		if d.Flow != "daily" || d.Version != daily.Version() || d.State != "succeeded" || d.Level != "P1" || d.Queue != "default" || d.Tags["team"] != "finance" ||
			d.CreatedAt == nil || d.FinishedAt == nil || !d.FinishedAt.Equal(b.Timestamp) || d.Late || d.LateAt != nil ||
			d.URL != "https://ax.example.com/runs/"+good.String() || d.Namespace != "default" {
			t.Errorf("the delivery is %s", in.raw[i])
		}
	}
}

func TestALateRunIsNotedOnce(t *testing.T) {
	in := newInbox(t)
	release := make(chan struct{})
	hang := stage.New("hang", func(ctx context.Context, _ struct{}) (string, error) {
		select {
		case <-release:
			return "", nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	})
	slow := flow.New("slow", hang).With(flow.Late(time.Second))
	quick := flow.New("quick", stage.New("quick", func(context.Context, struct{}) (string, error) { return "", nil })).With(flow.Late(time.Hour))
	l := open(t, in.allow, slow, quick)
	l.hook("late", in.URL, control.WebhookEvents)
	id := start(l, slow, struct{}{})
	delayed := start(l, slow, struct{}{}, axflow.After(time.Hour))
	punctual := start(l, quick, struct{}{})
	want(t, "deadlines from when runs may start", l.count(`SELECT count(*) FROM ax.run WHERE run_id = $1 AND deadline - created_at = '1 second'
		OR run_id = $2 AND deadline - created_at = '1 hour 1 second' OR run_id = $3 AND deadline - created_at = '1 hour'`, id, delayed, punctual), 3)
	in.gets(t, punctual, "run.succeeded")
	in.gets(t, id, "run.late")
	want(t, "lines of the journal", l.count(`SELECT count(*) FROM ax.journal WHERE run_id = $1 AND kind = 'late' AND actor LIKE 'leader/%'`, id), 1)
	close(release)
	in.gets(t, id, "run.late", "run.succeeded")
	in.mu.Lock()
	for _, b := range in.bodies {
		if *b.Data.Run == id && (!b.Data.Late || b.Data.LateAt == nil || !b.Data.LateAt.Equal(b.Data.CreatedAt.Add(time.Second))) {
			t.Errorf("a delivery of the late run is %+v", b)
		}
	}
	in.mu.Unlock()
	want(t, "late runs", l.count(`SELECT count(*) FROM ax.run WHERE late_noted_at IS NOT NULL`), 1)

	// A second life is not judged by a deadline that passed between the two; what is late stays so.
	if _, err := l.p.Pool().Exec(l.ctx, `UPDATE ax.run SET deadline = now() - interval '1 second' WHERE run_id = $1`, punctual); err != nil {
		t.Fatal(err)
	}
	for run, name := range map[uuid.UUID]string{punctual: "quick", id: "hang"} {
		if _, err := l.p.Client().Rerun(l.ctx, run, name, axflow.Who{Actor: "test"}); err != nil {
			t.Fatal(err)
		}
		l.ends(run, stage.RunSucceeded)
	}
	want(t, "deadlines after reruns", l.count(`SELECT count(*) FROM ax.run WHERE run_id = $1 AND deadline IS NULL OR run_id = $2 AND deadline IS NOT NULL`, punctual, id), 2)
	if _, err := l.p.Client().Cancel(l.ctx, delayed, false, axflow.Who{Actor: "test"}); err != nil {
		t.Fatal(err)
	}
	in.gets(t, delayed, "run.cancelled")
	want(t, "tellings of lateness", l.count(`SELECT count(*) FROM ax.delivery WHERE event = 'run.late'`), 1)
}
