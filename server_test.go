package axflow_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"axflow"
	"axflow/api"
	"axflow/api/access"
	"axflow/api/client"
	"axflow/api/gen"
	"axflow/flow"
	"axflow/internal/pgtest"
	"axflow/stage"
)

type greeting struct {
	Name string `json:"name"`
}

func local() *access.Principal {
	return &access.Principal{Actor: "local:test", Namespace: "default", Role: gen.RoleAdmin, Cluster: true, Via: gen.MeViaLocal}
}

// One process holds everything: a run started over HTTP runs here, and the metrics tell of every part.
func TestProcessServesTheAPI(t *testing.T) {
	greet := stage.New("greet", func(_ context.Context, p greeting) (string, error) { return "hello " + p.Name, nil })
	hello := flow.New("hello", greet)
	l := open(t, func(c *axflow.Config) { c.API = &api.Config{Listen: "127.0.0.1:0", Local: local(), Version: "1.2.3"} }, hello)
	tr := &http.Transport{}
	defer tr.CloseIdleConnections()
	c, err := client.New(client.Config{URL: l.p.Server().URL(), HTTP: &http.Client{Transport: tr}})
	if err != nil {
		t.Fatal(err)
	}
	params := json.RawMessage(`{"name": "ada"}`)
	started, err := c.StartRunWithResponse(l.ctx, gen.StartRunJSONRequestBody{Flow: "hello", Params: &params})
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Check(started.HTTPResponse, started.Body); err != nil {
		t.Fatal(err)
	}
	wait := gen.Wait(30)
	result, err := c.GetRunResultWithResponse(l.ctx, *started.JSON201.Run, &gen.GetRunResultParams{WaitS: &wait})
	if err != nil {
		t.Fatal(err)
	}
	if result.JSON200 == nil || !result.JSON200.Ended || string(result.JSON200.Outputs["greet"]) != `"hello ada"` {
		t.Fatalf("the result is %s", result.Body)
	}
	pgtest.Eventually(t, time.Minute, func() (bool, string) {
		m, err := c.MetricsWithResponse(l.ctx)
		if err != nil {
			return false, err.Error()
		}
		for _, want := range []string{"\nax_engine_handed_total ", `ax_worker_tasks_total{outcome="succeeded"} 1`, "\nax_engine_dispatch_latency_seconds_bucket",
			"\nax_hints_notifies_total ", `ax_pool_connections_max{pool="reads"} 4`, "\nax_live_streams 0", `ax_build_info{version="1.2.3"} 1`, "\ngo_goroutines ",
			"\nax_engine_paused_runs 0", `ax_http_requests_total{operation="startRun",status="201"} 1`} {
			if !strings.Contains(string(m.Body), want) {
				return false, want + " is not in\n" + string(m.Body)
			}
		}
		faults, err := promlint.New(strings.NewReader(string(m.Body))).Lint()
		if err != nil || len(faults) > 0 {
			t.Errorf("the metrics are not as Prometheus wants them: %v %v", faults, err)
		}
		return true, ""
	})
}

func TestOpenListensAtOnce(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := taken.Addr().String()
	d := pgtest.New(t)
	ctx := pgtest.Context(t, time.Minute)
	cfg := axflow.Config{DatabaseURL: d.URL, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)), API: &api.Config{Listen: addr, Local: local()}}
	if _, err := axflow.Open(ctx, cfg); err == nil || !strings.Contains(err.Error(), addr) {
		t.Fatalf("a taken address: %v", err)
	}
	if err := taken.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 { // Close gives the address back, also without Run
		p, err := axflow.Open(ctx, cfg)
		if err != nil {
			t.Fatal(err)
		}
		if p.Server().URL() != "http://"+addr {
			t.Errorf("it listens at %s", p.Server().URL())
		}
		p.Close()
	}
	cfg.API = &api.Config{Listen: "0.0.0.0:0", Local: local()}
	if _, err := axflow.Open(ctx, cfg); err == nil || !strings.Contains(err.Error(), "loopback") {
		t.Errorf("everybody on every address: %v", err)
	}
}

// A process without flows and engine serves alone, and asks for the tokens of the database.
func TestServerAlone(t *testing.T) {
	d := pgtest.New(t)
	ctx := pgtest.Context(t, time.Minute)
	p, err := axflow.Open(ctx, axflow.Config{DatabaseURL: d.URL, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)), API: &api.Config{Listen: "127.0.0.1:0"}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	run, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- p.Run(run) }()
	_, secret, err := access.CreateToken(ctx, p.Pool(), *local(), access.NewToken{Name: "t", Role: gen.RoleViewer})
	if err != nil {
		t.Fatal(err)
	}
	tr := &http.Transport{}
	for token, status := range map[string]int{"": 401, secret: 200} {
		c, err := client.New(client.Config{URL: p.Server().URL(), Token: token, HTTP: &http.Client{Transport: tr}})
		if err != nil {
			t.Fatal(err)
		}
		list, err := c.ListRunsWithResponse(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		if list.StatusCode() != status {
			t.Errorf("with the token %.5s…: %d %s, want %d", token, list.StatusCode(), list.Body, status)
		}
	}
	tr.CloseIdleConnections()
	stop()
	if err := pgtest.Receive(t, time.Minute, done, "the end"); err != nil {
		t.Error(err)
	}
}
