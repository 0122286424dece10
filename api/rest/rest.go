// Package rest answers the API's operations: it implements gen.StrictServerInterface on the control package and on read
// queries of its own. Who asks, and whether they may, is decided before; a handler takes the namespace from there.
package rest

import (
	"context"
	"encoding/json"
	"log/slog"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"axflow/api/access"
	"axflow/api/gen"
	"axflow/api/live"
	"axflow/api/problem"
	"axflow/engine/control"
	"axflow/flow"
)

// Config is what the handlers need.
type Config struct {
	// Client does the verbs. Its own namespace does not count: each request has its principal's. Required.
	Client *control.Client
	// Reads is the database for lists and looks, with the planner's settings for them (see sql.ConfigureReads). Default: Client's.
	Reads *pgxpool.Pool
	// Redact takes out of params, outputs and logs what clients must not see. nil: what flows declare secret only.
	Redact func(ctx context.Context, what Payload) json.RawMessage
	// Live streams events, of runs as ReadRuns reads them. nil: nobody can ask for them.
	Live *live.Hub
	// Metrics is what Metrics shows. nil: there are none.
	Metrics prometheus.Gatherer
	// Draining is closed when the server begins to end: it is not ready any more. nil: it never ends.
	Draining <-chan struct{}
	// Version is the program's.
	Version string
	// Auth is how clients prove who they are; Server tells it.
	Auth gen.ServerAuth
	// Logger gets what operators must know. Required.
	Logger *slog.Logger
}

// Payload is data of a user's that is about to leave the server.
type Payload struct {
	Kind        string // "params", "output", "log"
	Flow, Stage string
	JSON        json.RawMessage
	// Graph is what the run is pinned to; nil: its secrets are those of the flow's newest version alone.
	Graph *flow.Graph
}

// Handlers answers the operations. It is safe for concurrent use.
type Handlers struct {
	cfg       Config
	ready     readiness
	overviews overviews
	usual     kept[flowOf, *usual]
	usuals    kept[string, []gen.FlowUsual]
	timelines kept[runAt, *gen.Timeline]
}

var _ gen.StrictServerInterface = (*Handlers)(nil)

// New makes the handlers.
func New(cfg Config) *Handlers {
	if cfg.Reads == nil {
		cfg.Reads = cfg.Client.Pool()
	}
	h := &Handlers{cfg: cfg}
	if cfg.Live != nil {
		cfg.Live.ReadBy(h.ReadRuns)
	}
	return h
}

// client is the control client of the namespace of who asks.
func (h *Handlers) client(ctx context.Context) (*control.Client, error) {
	p, ok := access.From(ctx)
	if !ok {
		return nil, problem.New(gen.ProblemCodeUnauthenticated, "nobody asks")
	}
	return h.cfg.Client.In(p.Namespace), nil
}

// who says who acts, for the audit.
func who(ctx context.Context, reason *string, dryRun *bool) control.Who {
	p, _ := access.From(ctx)
	w := control.Who{Actor: p.Actor}
	if reason != nil {
		w.Reason = *reason
	}
	if dryRun != nil {
		w.DryRun = *dryRun
	}
	return w
}

// opt is a pointer to v, or nil for the zero value: an optional field of an answer.
func opt[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}
