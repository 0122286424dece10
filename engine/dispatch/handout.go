package dispatch

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"axflow/engine/dispatch/board"
	"axflow/engine/resolve"
	axsql "axflow/sql"
	"axflow/sql/db"
	"axflow/sql/hint"
	"axflow/sql/pipe"
	"axflow/sql/span"
)

// round hands out what the Board grants: one transaction, then the workers are told. It returns whether there
// may be more to hand out.
func (l *Loop) round(ctx context.Context) (full bool, err error) {
	grants := l.board.Round(l.cfg.Now(), l.cfg.MaxGrants)
	if len(grants) == 0 {
		return false, nil
	}
	rows, err := l.cut(ctx, grants)
	if err != nil {
		for _, g := range grants {
			l.board.Reject(g)
			l.forget(g.Span)
		}
		return false, fmt.Errorf("handing out %d pieces: %w", len(grants), axsql.Fenced(err))
	}
	handed := make(map[uuid.UUID]*db.CutSpansRow, len(rows))
	for i := range rows {
		handed[rows[i].ID] = &rows[i]
	}
	byWorker := make(map[uuid.UUID][]span.Assignment)
	// A clock of the database that has stepped forward, and may step back, must not shut a rate until then.
	latest := l.cfg.Now().Add(stepless)
	var again []uuid.UUID
	for i := range grants {
		g := &grants[i]
		row := handed[g.Flight]
		if row == nil {
			// A verb holds the run, or the row is not what the Board thought: look at it again in a moment.
			l.board.Reject(*g)
			l.forget(g.Span)
			again = append(again, g.Span)
			continue
		}
		at := row.DispatchedAt
		if at.After(latest) {
			at = latest
		}
		l.board.Handed(g.Flight, at)
		if !l.board.HasSpan(g.Span) {
			l.forget(g.Span)
		}
		l.flights[g.Flight] = flightInfo{g.Head.Handler, g.Head.Run, g.Worker}
		byWorker[g.Worker] = append(byWorker[g.Worker], assignment(g, row))
		l.cfg.Stats.Handed.Add(uint64(g.Set.Len()))
		l.cfg.Stats.Latency.Observe(row.DispatchedAt.Sub(row.ReadyAt))
	}
	for worker, flights := range byWorker {
		l.cfg.Bus.ToWorker(worker, hint.Worker{Flights: flights})
	}
	if len(again) > 0 {
		l.cfg.Stats.Refused.Add(uint64(len(again)))
		l.remind(busyRetry, reminder{spans: again})
	}
	return len(grants) == l.cfg.MaxGrants, nil
}

// stepless is more than the dispatcher's time lies behind the database's, unless the database's clock has stepped.
const stepless = 50 * time.Millisecond

func (l *Loop) cut(ctx context.Context, grants []board.Grant) ([]db.CutSpansRow, error) {
	n := len(grants)
	p := db.CutSpansParams{Epoch: int32(l.cfg.Fence.Epoch), ReadyIds: make([]uuid.UUID, 0, n), FlightIds: make([]uuid.UUID, 0, n),
		WorkerIds: make([]uuid.UUID, 0, n), Pieces: make([]string, 0, n), Sizes: make([]int32, 0, n), Pars: make([]int32, 0, n), RunIds: make([]uuid.UUID, 0, n)}
	for i := range grants {
		g := &grants[i]
		p.ReadyIds = append(p.ReadyIds, g.Span)
		p.FlightIds = append(p.FlightIds, g.Flight)
		p.WorkerIds = append(p.WorkerIds, g.Worker)
		p.Pieces = append(p.Pieces, g.Set.String())
		p.Sizes = append(p.Sizes, int32(g.Set.Len()))
		p.Pars = append(p.Pars, int32(g.Par))
		p.RunIds = append(p.RunIds, g.Head.Run)
	}
	slices.SortFunc(p.RunIds, compareIDs)
	p.RunIds = slices.Compact(p.RunIds)
	var rows []db.CutSpansRow
	to := pipe.New()
	_ = l.cfg.Fence.Hold(ctx, to.Queries)
	_, _ = to.CutSpans(ctx, p)
	pipe.Rows(to, &rows)
	saveRates(ctx, to, l.board.TakeRates())
	if err := to.Send(ctx, l.cfg.Conn); err != nil {
		return nil, err
	}
	l.cfg.Stats.Rounds.Add(1)
	return rows, nil
}

func assignment(g *board.Grant, row *db.CutSpansRow) span.Assignment {
	h := &g.Head
	kind := span.Shards
	if h.Plan {
		kind = span.Plan
	}
	version, _ := h.Data.(int32)
	return span.Assignment{Par: g.Par, DispatchedAt: row.DispatchedAt, Set: g.Set, Params: row.Params,
		Header: span.Header{ID: g.Flight, Run: h.Run, VersionID: version, Ord: int16(h.Ord), Generation: int16(h.Generation),
			Kind: kind, Attempt: int16(h.Attempt), Delivery: int16(h.Delivery), Losses: int16(h.Losses), Level: h.Level,
			Namespace: h.Namespace, Queue: h.Queue, Key: h.Key, ReadyAt: row.ReadyAt}}
}

// room gives the resolver slots straight from the Board.
type room struct {
	l     *Loop
	taken map[uuid.UUID]flightInfo
}

func (r room) Reserve(s span.Ready) (resolve.Grant, bool) {
	v := r.l.cfg.Versions.Peek(s.VersionID)
	if v == nil {
		return resolve.Grant{}, false
	}
	if _, held := r.l.policies.runs[s.Run]; held {
		return resolve.Grant{}, false
	}
	g, ok := r.l.board.Reserve(r.l.cfg.Now(), BoardSpan(v, &s))
	if !ok {
		return resolve.Grant{}, false
	}
	r.taken[g.Flight] = flightInfo{g.Head.Handler, g.Head.Run, g.Worker}
	return resolve.Grant{Flight: g.Flight, Worker: g.Worker}, true
}

// resolve has the resolver decide what the news concerns, and passes the answer on.
func (l *Loop) resolve(ctx context.Context) error {
	for len(l.news.Stages)+len(l.news.Runs) > 0 {
		news := l.nextNews()
		r := room{l, make(map[uuid.UUID]flightInfo)}
		answer, err := l.cfg.Resolver.Resolve(ctx, l.cfg.Conn, news, r)
		for _, g := range answer.Refused {
			l.board.Left(g.Flight, 0)
			delete(r.taken, g.Flight)
		}
		if err != nil {
			for id := range r.taken {
				l.board.Left(id, 0)
			}
			l.later(news)
			return err
		}
		for id, info := range r.taken {
			l.flights[id] = info
		}
		if err := l.pass(ctx, answer); err != nil {
			return err
		}
	}
	return nil
}

// nextNews takes a transaction's worth of news.
func (l *Loop) nextNews() resolve.News {
	var news resolve.News
	n := min(len(l.news.Stages), maxResolve)
	news.Stages, l.news.Stages = l.news.Stages[:n:n], l.news.Stages[n:]
	n = min(len(l.news.Runs), maxResolve-n)
	news.Runs, l.news.Runs = l.news.Runs[:n:n], l.news.Runs[n:]
	if len(l.news.Stages) == 0 {
		l.news.Stages = nil
	}
	if len(l.news.Runs) == 0 {
		l.news.Runs = nil
	}
	return news
}

func (l *Loop) pass(ctx context.Context, a resolve.Answer) error {
	byWorker := make(map[uuid.UUID][]span.Assignment)
	for i, f := range a.Flights {
		if v := l.cfg.Versions.Peek(f.VersionID); v != nil && v.Graph.Stages[f.Ord].Timeout.Overall > 0 {
			l.expiries.meet(span.StageKey{Run: f.Run, Ord: f.Ord})
		}
		byWorker[a.Workers[i]] = append(byWorker[a.Workers[i]], f)
		l.cfg.Stats.Handed.Add(1)
	}
	for worker, flights := range byWorker {
		l.cfg.Bus.ToWorker(worker, hint.Worker{Flights: flights})
	}
	for _, r := range a.Ready {
		if err := l.admit(ctx, r); err != nil {
			return err
		}
	}
	if len(a.Ended) > 0 {
		l.cfg.Bus.RunsEnded(a.Ended)
		l.aligned.ended(a.Ended)
	}
	for _, k := range a.Aligned {
		l.aligned.add(k)
	}
	l.cfg.Stats.Resolved.Add(uint64(a.Changed))
	if len(a.Busy.Stages)+len(a.Busy.Runs) > 0 {
		l.later(a.Busy)
	}
	return nil
}

// later looks at news again in a moment.
func (l *Loop) later(news resolve.News) {
	l.remind(busyRetry, reminder{news: news})
}
