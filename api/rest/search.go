package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"axflow/api/query"
	"axflow/engine/control"
	axsql "axflow/sql"
	"axflow/sql/db"
	"axflow/stage"
)

// The bounds of one search.
const (
	// mostSought is how many runs one request looks at, at most. A search that has not filled its page by then answers with what
	// it has found, even with nothing, and a cursor to go on from: it takes the same short time whatever is asked.
	mostSought = 10_000
	// mostAtOnce is how many runs one statement looks at.
	mostAtOnce = 2_500
	// mintedBefore is how long before its row was written a run's id may have been minted.
	mintedBefore = 10 * time.Minute
	// mintedAfter is how long after created_at it may: that is when the transaction began, which may be a caller's own.
	mintedAfter = 24 * time.Hour
)

// search finds runs. It goes through one order of them (see sql/queries/search.sql) and looks whether the rest holds.
type search struct {
	q             *db.Queries
	namespace     string
	after, before uuid.UUID // ids from after on, before before
	orders        []order
	rest          db.RunsAmongParams
	nothing       bool // no run can hold to it
}

// order is one way through runs, the newest first: that of several sources together, which do not overlap.
type order struct {
	sources []source
	// settled takes what every run of the order holds to out of the rest.
	settled func(*db.RunsAmongParams)
}

// source reads ids in [after, before), the newest first, from the skip-th on.
type source func(ctx context.Context, after, before uuid.UUID, skip, most int) ([]uuid.UUID, error)

// newSearch prepares the search for a question that was checked. now is the database's time.
func newSearch(ctx context.Context, q *db.Queries, namespace string, ask *query.Query, before uuid.UUID, now time.Time) (*search, error) {
	s := &search{q: q, namespace: namespace, before: before, rest: db.RunsAmongParams{Namespace: namespace}}
	if err := s.filter(ctx, ask, now); err != nil {
		return nil, err
	}
	s.bounds(ask, now)
	s.choose(ask)
	return s, nil
}

// filter is what is asked, as RunsAmong asks it.
func (s *search) filter(ctx context.Context, ask *query.Query, now time.Time) error {
	p := &s.rest
	p.Flows, p.Queues, p.Triggers = ask.Flows, ask.Queues, ask.Triggers
	for _, state := range ask.States {
		p.States = append(p.States, int16(state))
	}
	for _, l := range ask.Levels {
		p.Levels = append(p.Levels, int16(l))
	}
	if !ask.Since.IsZero() {
		at := ask.Since.Time(now)
		p.Since = &at
	}
	if !ask.Until.IsZero() {
		at := ask.Until.Time(now)
		p.Until = &at
	}
	if len(ask.Tags) > 0 {
		tags := make(map[string]string, len(ask.Tags))
		for _, t := range ask.Tags {
			tags[t.Name] = t.Value
		}
		text, err := json.Marshal(tags)
		if err != nil {
			return fmt.Errorf("encoding tags: %w", err)
		}
		p.Tags = text
	}
	for _, x := range ask.Params {
		p.Labels = append(p.Labels, control.ParamLabel(x.Name, x.Value))
	}
	if ask.Version != "" {
		ids, err := s.q.VersionIDs(ctx, db.VersionIDsParams{Namespace: s.namespace, Hash: ask.Version})
		if err != nil {
			return fmt.Errorf("looking for version %s: %w", ask.Version, err)
		}
		p.VersionIds, s.nothing = ids, len(ids) == 0
	}
	return nil
}

// bounds narrows the ids by time, and by the beginning of an id.
func (s *search) bounds(ask *query.Query, now time.Time) {
	if !ask.Since.IsZero() {
		s.after = idAt(ask.Since.Time(now).Add(-mintedBefore))
	}
	if !ask.Until.IsZero() {
		s.before = least(s.before, idAt(ask.Until.Time(now).Add(mintedAfter)))
	}
	if ask.Run != "" {
		free := 32 - len(ask.Run)
		first, last := uuid.MustParse(ask.Run+strings.Repeat("0", free)), uuid.MustParse(ask.Run+strings.Repeat("f", free))
		if older(s.after, first) {
			s.after = first
		}
		s.before = least(s.before, next(last))
	}
	s.nothing = s.nothing || !older(s.after, s.before)
}

// choose lists the orders in which the search may go, those first that are likely to be short.
func (s *search) choose(ask *query.Query) {
	labelled := func(label string, settled func(*db.RunsAmongParams)) {
		if len(label) <= control.MaxLabel {
			s.orders = append(s.orders, order{settled: settled, sources: []source{func(ctx context.Context, after, before uuid.UUID, skip, most int) ([]uuid.UUID, error) {
				return s.q.RunsLabelled(ctx, db.RunsLabelledParams{Namespace: s.namespace, Label: label, After: after, Before: before, Skip: int32(skip), Most: int32(most)})
			}}})
		}
	}
	for _, p := range ask.Params {
		label := control.ParamLabel(p.Name, p.Value)
		labelled(label, func(p *db.RunsAmongParams) {
			p.Labels = slices.DeleteFunc(slices.Clone(p.Labels), func(l string) bool { return l == label })
		})
	}
	for _, t := range ask.Tags {
		labelled(control.TagLabel(t.Name, t.Value), nil)
	}
	if len(ask.States) > 0 && !slices.Contains(ask.States, stage.RunSucceeded) {
		o := order{settled: func(p *db.RunsAmongParams) { p.States = nil }}
		for _, state := range ask.States {
			o.sources = append(o.sources, func(ctx context.Context, after, before uuid.UUID, skip, most int) ([]uuid.UUID, error) {
				return s.q.RunsInState(ctx, db.RunsInStateParams{Namespace: s.namespace, State: int16(state), After: after, Before: before, Skip: int32(skip), Most: int32(most)})
			})
		}
		s.orders = append(s.orders, o)
	}
	if len(ask.Flows) > 0 {
		o := order{settled: func(p *db.RunsAmongParams) { p.Flows = nil }}
		for _, name := range ask.Flows {
			o.sources = append(o.sources, func(ctx context.Context, after, before uuid.UUID, skip, most int) ([]uuid.UUID, error) {
				return s.q.RunsOfFlow(ctx, db.RunsOfFlowParams{Namespace: s.namespace, Flow: name, After: after, Before: before, Skip: int32(skip), Most: int32(most)})
			})
		}
		s.orders = append(s.orders, o)
	}
	if len(s.orders) == 0 {
		s.orders = []order{{sources: []source{func(ctx context.Context, after, before uuid.UUID, skip, most int) ([]uuid.UUID, error) {
			return s.q.RecentRuns(ctx, db.RecentRunsParams{Namespace: s.namespace, After: after, Before: before, Skip: int32(skip), Most: int32(most)})
		}}}}
	}
}

// page finds up to most runs. goOn is where the next page begins, uuid.Nil after the last.
func (s *search) page(ctx context.Context, most int) (found []uuid.UUID, goOn uuid.UUID, err error) {
	if s.nothing {
		return nil, uuid.Nil, nil
	}
	o, err := s.shortest(ctx)
	if err != nil {
		return nil, uuid.Nil, err
	}
	rest := s.rest
	if o.settled != nil {
		o.settled(&rest)
	}
	at, chunk := s.before, min(most+1, mostAtOnce)
	for sought := 0; sought < mostSought; {
		ids, last, err := o.read(ctx, s.after, at, chunk)
		if err != nil {
			return nil, uuid.Nil, fmt.Errorf("looking for runs: %w", err)
		}
		holding, err := s.among(ctx, rest, ids)
		if err != nil {
			return nil, uuid.Nil, err
		}
		found = append(found, holding...)
		switch {
		case len(found) > most || len(found) == most && !last:
			return found[:most], found[most-1], nil
		case last:
			return found, uuid.Nil, nil
		}
		sought += len(ids)
		at, chunk = ids[len(ids)-1], min(4*chunk, mostAtOnce)
	}
	return found, at, nil
}

// shortest is the order that comes to its end first, or if all go beyond what is looked at, the one that gets furthest back.
func (s *search) shortest(ctx context.Context) (order, error) {
	best := s.orders[0]
	if len(s.orders) == 1 {
		return best, nil
	}
	furthest := uuid.Max
	for _, o := range s.orders {
		reaches, err := o.reaches(ctx, s.after, s.before)
		if err != nil {
			return order{}, fmt.Errorf("looking for the shortest way to runs: %w", err)
		}
		if reaches == uuid.Nil {
			return o, nil
		}
		if older(reaches, furthest) {
			best, furthest = o, reaches
		}
	}
	return best, nil
}

// among are those of ids for which the rest holds.
func (s *search) among(ctx context.Context, rest db.RunsAmongParams, ids []uuid.UUID) ([]uuid.UUID, error) {
	bare := rest.Flows == nil && rest.States == nil && rest.Queues == nil && rest.Triggers == nil && rest.Levels == nil && rest.VersionIds == nil &&
		rest.Since == nil && rest.Until == nil && rest.Tags == nil && len(rest.Labels) == 0
	if bare || len(ids) == 0 {
		return ids, nil
	}
	if len(rest.Labels) == 0 {
		rest.Labels = nil
	}
	rest.Ids = ids
	holding, err := s.q.RunsAmong(ctx, rest)
	if err != nil {
		return nil, fmt.Errorf("looking at %d runs: %w", len(ids), err)
	}
	return holding, nil
}

// reaches is the id down to which one search can look, uuid.Nil if that is the end.
func (o *order) reaches(ctx context.Context, after, before uuid.UUID) (uuid.UUID, error) {
	var down uuid.UUID
	for _, read := range o.sources {
		ids, err := read(ctx, after, before, mostSought/len(o.sources)-1, 1)
		if err != nil {
			return uuid.Nil, err
		}
		if len(ids) > 0 && older(down, ids[0]) {
			down = ids[0]
		}
	}
	return down, nil
}

// read reads about most ids before at. last tells that there are no more.
func (o *order) read(ctx context.Context, after, at uuid.UUID, most int) (ids []uuid.UUID, last bool, err error) {
	var down uuid.UUID
	share := max(1, int(math.Ceil(float64(most)/float64(len(o.sources)))))
	for _, read := range o.sources {
		some, err := read(ctx, after, at, 0, share)
		if err != nil {
			return nil, false, err
		}
		// Below the end of a source that has more nobody knows whether an id is missing.
		if end := len(some); end == share && older(down, some[end-1]) {
			down = some[end-1]
		}
		ids = append(ids, some...)
	}
	if len(o.sources) > 1 {
		ids = slices.DeleteFunc(ids, func(id uuid.UUID) bool { return older(id, down) })
		slices.SortFunc(ids, func(a, b uuid.UUID) int { return bytes.Compare(b[:], a[:]) })
		ids = slices.Compact(ids) // a run that changed its state meanwhile is in two
	}
	return ids, down == uuid.Nil, nil
}

// idAt is the least id that may be minted at t.
func idAt(t time.Time) uuid.UUID { return axsql.DayBound(time.UnixMilli(max(0, t.UnixMilli()))) }

// next is the id after id.
func next(id uuid.UUID) uuid.UUID {
	for i := len(id) - 1; i >= 0; i-- {
		if id[i]++; id[i] != 0 {
			return id
		}
	}
	return uuid.Max
}

// older tells whether a was minted before b.
func older(a, b uuid.UUID) bool { return bytes.Compare(a[:], b[:]) < 0 }

func least(a, b uuid.UUID) uuid.UUID {
	if older(a, b) {
		return a
	}
	return b
}
