package rest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/uuid"

	"axflow/api"
	"axflow/api/access"
	"axflow/api/client"
	"axflow/api/gen"
	"axflow/api/rest"
	"axflow/engine/control"
	"axflow/flow"
	"axflow/stage"
)

const hookBody = `{"name": "on call", "url": "https://hooks.example.com/ax", "events": ["run.failed", "run.late"], "flows": ["recon"], "reason": "we are on call"}`

func TestWebhooksAreMadeShownAndDeleted(t *testing.T) {
	s := newStand(t)
	made := good[gen.CreatedWebhook](s, 201, "POST", "/api/v1/webhooks", hookBody)
	if !strings.HasPrefix(made.Secret, "whsec_") || len(made.Secret) < 38 || made.Webhook.CreatedBy != "local:ada" || made.Webhook.CreatedAt.IsZero() {
		t.Errorf("made: %+v", made)
	}
	path := "/api/v1/webhooks/" + made.Webhook.Id.String()
	status, body := s.call("GET", path, "")
	var shown gen.Webhook
	if err := json.Unmarshal(body, &shown); err != nil || status != 200 || shown.Name != "on call" || len(shown.Events) != 2 || len(shown.Flows) != 1 {
		t.Errorf("%d: %s", status, body)
	}
	if strings.Contains(string(body), "whsec_") {
		t.Error("the secret is shown again")
	}
	good[gen.CreatedWebhook](s, 201, "POST", "/api/v1/webhooks", `{"name": "all", "url": "https://hooks.example.com/", "events": ["run.succeeded"]}`)
	list := good[gen.WebhookList](s, 200, "GET", "/api/v1/webhooks", "")
	if len(list.Items) != 2 || list.Items[0].Name != "all" || list.Items[1].Id != made.Webhook.Id {
		t.Errorf("the list: %+v", list)
	}
	s.refused(409, gen.ProblemCodeConflict, "POST", "/api/v1/webhooks", hookBody)
	for body, field := range map[string]string{
		strings.Replace(hookBody, "https://hooks.example.com/ax", "http://hooks.example.com/ax", 1): "/url",
		strings.Replace(hookBody, "hooks.example.com", "169.254.169.254", 1):                        "/url",
		strings.Replace(hookBody, "hooks.example.com", "user:pass@hooks.example.com", 1):            "/url",
		strings.Replace(hookBody, "hooks.example.com", "localhost", 1):                              "/url",
		strings.Replace(hookBody, `["recon"]`, `["recon", "a b"]`, 1):                               "/flows/1",
	} {
		s.refused(422, gen.ProblemCodeInvalid, "POST", "/api/v1/webhooks", body, field)
	}

	ping := good[gen.Delivery](s, 202, "POST", path+"/test", "")
	if ping.Event != gen.DeliveryEventPing || ping.State != gen.DeliveryStatePending || ping.Run != nil || ping.NextAt == nil {
		t.Errorf("the ping: %+v", ping)
	}
	s.exec(`UPDATE ax.delivery SET state = 'failed', attempts = 14, tried = 14, status = 500, error = 'no' WHERE id = $1`, ping.Id)
	again := good[gen.Delivery](s, 202, "POST", path+"/deliveries/"+ping.Id.String()+"/redeliver", "")
	if again.Id != ping.Id || again.State != gen.DeliveryStatePending || again.Attempts != 14 {
		t.Errorf("asked for again: %+v", again)
	}
	s.refused(404, gen.ProblemCodeNotFound, "POST", path+"/deliveries/"+uuid.NewString()+"/redeliver", "")

	if status, body := s.call("DELETE", path, ""); status != 204 {
		t.Errorf("%d: %s", status, body)
	}
	for _, req := range [][2]string{{"GET", path}, {"DELETE", path}, {"POST", path + "/test"}, {"GET", path + "/deliveries"}} {
		s.refused(404, gen.ProblemCodeNotFound, req[0], req[1], "")
	}
	want(t, "deliveries of a deleted webhook", s.count(`SELECT count(*) FROM ax.delivery`), 0)
	for verb, n := range map[string]int{"add_webhook": 2, "ping_webhook": 1, "redeliver": 1, "drop_webhook": 1} {
		want(t, "lines of the audit of "+verb, s.count(`SELECT count(*) FROM ax.audit WHERE verb = $1 AND actor = 'local:ada'`, verb), n)
	}
	want(t, "reasons", s.count(`SELECT count(*) FROM ax.audit WHERE reason = 'we are on call' AND detail->>'url' = 'https://hooks.example.com/ax'`), 1)
	want(t, "secrets in the audit", s.count(`SELECT count(*) FROM ax.audit WHERE detail::text LIKE '%whsec%'`), 0)
}

func TestWebhooksOfAnotherNamespaceAreNotThere(t *testing.T) {
	s := newStand(t)
	made := good[gen.CreatedWebhook](s, 201, "POST", "/api/v1/webhooks", hookBody)
	path := "/api/v1/webhooks/" + made.Webhook.Id.String()
	ping := good[gen.Delivery](s, 202, "POST", path+"/test", "")
	_, theirs := s.serve("other", "local:bob")
	for _, req := range [][2]string{{"GET", path}, {"DELETE", path}, {"POST", path + "/test"}, {"GET", path + "/deliveries"},
		{"POST", path + "/deliveries/" + ping.Id.String() + "/redeliver"}} {
		status, body := s.callOn(theirs, req[0], req[1], "")
		status2, body2 := s.callOn(theirs, req[0], strings.ReplaceAll(req[1], made.Webhook.Id.String(), uuid.Nil.String()), "")
		if status != 404 || status2 != 404 || strings.Contains(string(body), "on call") || (len(body) != len(body2)) {
			t.Errorf("%v: %d %s, and what does not exist %d %s", req, status, body, status2, body2)
		}
	}
	if status, body := s.callOn(theirs, "POST", "/api/v1/webhooks", hookBody); status != 201 {
		t.Errorf("the same name in another namespace: %d %s", status, body)
	}
	want(t, "webhooks", len(good[gen.WebhookList](s, 200, "GET", "/api/v1/webhooks", "").Items), 1)
}

func TestANamespaceHasABoundedNumberOfWebhooks(t *testing.T) {
	s := newStand(t)
	s.exec(`INSERT INTO ax.webhook (id, namespace, name, url, secret, events, created_by)
		SELECT gen_random_uuid(), 'default', 'w' || i, 'https://hooks.example.com/', '', '{run.failed}', 'x' FROM generate_series(1, $1) i`, control.MaxWebhooks-1)
	type answer struct {
		status int
		body   string
	}
	answers := make(chan answer, 6)
	for i := range cap(answers) {
		go func() {
			status, body := s.call("POST", "/api/v1/webhooks", strings.Replace(hookBody, "on call", fmt.Sprint("racer ", i), 1))
			answers <- answer{status, string(body)}
		}()
	}
	made := 0
	for range cap(answers) {
		switch a := <-answers; {
		case a.status == 201:
			made++
		case a.status != 409 || !strings.Contains(a.body, "100 webhooks"):
			t.Errorf("%d: %s", a.status, a.body)
		}
	}
	want(t, "webhooks made at once where there was room for one", made, 1)
}

func TestDeliveriesAreListedInPages(t *testing.T) {
	s := newStand(t)
	made := good[gen.CreatedWebhook](s, 201, "POST", "/api/v1/webhooks", hookBody)
	s.exec(`INSERT INTO ax.delivery (id, webhook_id, namespace, event, run_id, asked_at, next_at, created_at)
		SELECT gen_random_uuid(), $1, 'default', 'run.failed', gen_random_uuid(), now(), now(), now() - (i / 3) * interval '1 second' FROM generate_series(1, 25) i`, made.Webhook.Id)
	path := "/api/v1/webhooks/" + made.Webhook.Id.String() + "/deliveries?limit=10"
	seen := make(map[uuid.UUID]bool)
	next, pages, last := path, 0, made.Webhook.CreatedAt.AddDate(1, 0, 0)
	for next != "" {
		page := good[gen.DeliveryList](s, 200, "GET", next, "")
		for _, d := range page.Items {
			if seen[d.Id] || d.CreatedAt.After(last) {
				t.Errorf("delivery %s comes twice or too late", d.Id)
			}
			seen[d.Id], last = true, d.CreatedAt
		}
		pages++
		next = ""
		if page.NextCursor != nil {
			next = path + "&cursor=" + *page.NextCursor
		}
	}
	if len(seen) != 25 || pages != 3 {
		t.Errorf("%d deliveries on %d pages, want 25 on 3", len(seen), pages)
	}
	s.refused(422, gen.ProblemCodeInvalid, "GET", path+"&cursor=AAAA", "")
}

type login struct {
	User     string   `json:"user"`
	Password string   `json:"password" jsonschema:"writeOnly=true"`
	Pins     []int    `json:"pins,omitempty" jsonschema_extras:"writeOnly=true"`
	Notes    []string `json:"notes,omitempty"`
}

// Secrets of params do not leave the server, of old versions neither, and the hook has its say after that.
func TestParamsAreShownWithoutTheirSecrets(t *testing.T) {
	s := newStand(t)
	f := flow.New("login", stage.New("in", func(context.Context, login) (string, error) { return "", nil }))
	v, err := s.client.Register(s.ctx, f)
	if err != nil {
		t.Fatal(err)
	}
	started, err := s.client.Start(s.ctx, control.Batch{Trigger: "test"}, []control.Start{{Version: v, Params: []byte(`{"user":"ada","password":"s3cret","pins":[1234]}`)}})
	if err != nil {
		t.Fatal(err)
	}
	path := "/api/v1/runs/" + started[0].Run.String() + "/params"
	if status, body := s.call("GET", path, ""); status != 200 || strings.TrimSpace(string(body)) != `{"password":"•••","pins":"•••","user":"ada"}` {
		t.Errorf("%d: %s", status, body)
	}
	hooked, err := api.New(api.Config{Client: s.client, Logger: slog.New(slog.DiscardHandler),
		Local: &access.Principal{Actor: "local:ada", Namespace: "default", Role: gen.RoleViewer, Via: gen.MeViaLocal},
		Redact: func(_ context.Context, p rest.Payload) json.RawMessage {
			return json.RawMessage(strings.ReplaceAll(string(p.JSON), "ada", "somebody"))
		}})
	if err != nil {
		t.Fatal(err)
	}
	if status, body := s.callOn(client.Local(hooked.Handler()), "GET", path, ""); status != 200 || strings.TrimSpace(string(body)) != `{"password":"•••","pins":"•••","user":"somebody"}` {
		t.Errorf("%d: %s", status, body)
	}
}
