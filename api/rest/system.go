package rest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/common/expfmt"

	"axflow/api/access"
	"axflow/api/gen"
	"axflow/api/problem"
	"axflow/engine"
	axsql "axflow/sql"
	"axflow/sql/db"
)

// Health says that the process answers.
func (h *Handlers) Health(context.Context, gen.HealthRequestObject) (gen.HealthResponseObject, error) {
	return gen.Health200TextResponse("ok\n"), nil
}

// readyFor is how long a look at the database counts, so that everybody may ask as often as they like.
const readyFor = time.Second

// readyWithin is how long the database has to answer.
const readyWithin = 2 * time.Second

// readiness is the newest look at the database.
type readiness struct {
	mu sync.Mutex
	at time.Time
	no string // why not; "": it is ready
}

// Ready says whether the server can serve.
func (h *Handlers) Ready(ctx context.Context, _ gen.ReadyRequestObject) (gen.ReadyResponseObject, error) {
	select {
	case <-h.cfg.Draining:
		return gen.Ready503TextResponse("the server drains\n"), nil
	default:
	}
	h.ready.mu.Lock()
	defer h.ready.mu.Unlock()
	if time.Since(h.ready.at) > readyFor {
		h.ready.no = h.look(ctx)
		h.ready.at = time.Now()
	}
	if h.ready.no != "" {
		return gen.Ready503TextResponse(h.ready.no + "\n"), nil
	}
	return gen.Ready200TextResponse("ready\n"), nil
}

// look says why the database cannot be worked with; "": it can. Others wait for the answer, so it is the server's question, and
// goes on when the client who asked is gone.
func (h *Handlers) look(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readyWithin)
	defer cancel()
	err := axsql.Check(ctx, h.cfg.Client.Pool())
	switch {
	case err == nil:
		return ""
	case errors.Is(err, axsql.ErrSchemaOlder):
		return "the database's schema is older than this program: run `ax migrate`"
	case errors.Is(err, axsql.ErrSchemaNewer):
		return "the database's schema is newer than this program: upgrade it"
	default:
		h.cfg.Logger.Warn("the server is not ready", "error", err)
		return "the database does not answer"
	}
}

// scrape is the process's metrics in Prometheus' text format.
type scrape struct{ h *Handlers }

// VisitMetricsResponse writes them.
func (s scrape) VisitMetricsResponse(w http.ResponseWriter) error {
	families, err := s.h.cfg.Metrics.Gather()
	if err != nil {
		return fmt.Errorf("gathering metrics: %w", err)
	}
	format := expfmt.NewFormat(expfmt.TypeTextPlain)
	w.Header().Set("Content-Type", string(format))
	w.WriteHeader(http.StatusOK)
	enc := expfmt.NewEncoder(w, format)
	for _, f := range families {
		if err := enc.Encode(f); err != nil {
			return fmt.Errorf("writing metrics: %w", err)
		}
	}
	return nil
}

// Metrics shows the metrics of this process. They are the same for all namespaces.
func (h *Handlers) Metrics(context.Context, gen.MetricsRequestObject) (gen.MetricsResponseObject, error) {
	if h.cfg.Metrics == nil {
		return nil, problem.New(gen.ProblemCodeNotFound, "this server has no metrics")
	}
	return scrape{h}, nil
}

// GetServer tells of the server: its version, how clients prove who they are, the database's time and who leads.
func (h *Handlers) GetServer(ctx context.Context, _ gen.GetServerRequestObject) (gen.GetServerResponseObject, error) {
	row, err := db.New(h.cfg.Client.Pool()).ServerLook(ctx, engine.LeaseName)
	if err != nil {
		return nil, fmt.Errorf("looking at the lease: %w", err)
	}
	s := gen.Server{Version: h.cfg.Version, Now: row.Now.UTC(), Auth: h.cfg.Auth}
	if row.Epoch > 0 && row.RenewedAt != nil && row.ExpiresAt != nil {
		s.Leader = &gen.Leader{Epoch: row.Epoch, Holder: row.Holder, RenewedAt: row.RenewedAt.UTC(), ExpiresAt: row.ExpiresAt.UTC()}
	}
	return gen.GetServer200JSONResponse(s), nil
}

// GetMe tells who asks and what they may do.
func (h *Handlers) GetMe(ctx context.Context, _ gen.GetMeRequestObject) (gen.GetMeResponseObject, error) {
	p, ok := access.From(ctx)
	if !ok {
		return nil, problem.New(gen.ProblemCodeUnauthenticated, "nobody asks")
	}
	me := gen.Me{Actor: p.Actor, Namespace: p.Namespace, Role: p.Role, Permissions: p.Permissions(), Via: p.Via}
	if me.Permissions == nil {
		me.Permissions = []gen.Permission{}
	}
	if !p.ExpiresAt.IsZero() {
		ends := p.ExpiresAt.UTC()
		me.ExpiresAt = &ends
	}
	return gen.GetMe200JSONResponse(me), nil
}
