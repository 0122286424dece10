package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
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
	mostSought = 4_000
	// mostAtOnce is how many runs one statement looks at.
	mostAtOnce = 1_000
)

// search finds runs. It goes through one order of them (see sql/queries/search.sql) and looks whether the rest holds.
type search struct {
	q             *db.Queries
	namespace     string
	after, before uuid.UUID // ids from after on, before before
	orders        []order
	rest          db.SeekRunsParams
	nothing       bool // no run can hold to it
}

// order is one way through runs, the newest first: that of several sources together, which do not overlap.
type order struct {
	sources []source
	// settled takes what every run of the order holds to out of the rest.
	settled func(*db.SeekRunsParams)
}

// source is what an index gives in the order of ids: all runs of the namespace, or those with one value.
type source struct {
	by    string // recent, flow, state, label, parent
	value string
	state int16
}

// seen is a run that was looked at.
type seen struct {
	id    uuid.UUID
	holds bool
}

// newSearch prepares the search for a question that was checked. now is the database's time.
func newSearch(ctx context.Context, q *db.Queries, namespace string, ask *query.Query, before uuid.UUID, now time.Time) (*search, error) {
	s := &search{q: q, namespace: namespace, before: before, rest: db.SeekRunsParams{Namespace: namespace}}
	if err := s.filter(ctx, ask); err != nil {
		return nil, err
	}
	s.bounds(ask, now)
	s.choose(ask)
	return s, nil
}

// filter is what is asked, as SeekRuns asks it.
func (s *search) filter(ctx context.Context, ask *query.Query) error {
	p := &s.rest
	p.Flows, p.Queues, p.Triggers = ask.Flows, ask.Queues, ask.Triggers
	for _, state := range ask.States {
		p.States = append(p.States, int16(state))
	}
	for _, l := range ask.Levels {
		p.Levels = append(p.Levels, int16(l))
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
	if ask.Parent != uuid.Nil {
		p.Parent, p.ChildOf = ask.Parent, &ask.Parent
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

// bounds narrows the ids: by the time that they were minted at, which is when their runs were created, and by their beginning.
func (s *search) bounds(ask *query.Query, now time.Time) {
	if !ask.Since.IsZero() {
		s.after = idAt(ask.Since.Time(now))
	}
	if !ask.Until.IsZero() {
		s.before = least(s.before, idAt(ask.Until.Time(now)))
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
	labelled := func(label string, settled func(*db.SeekRunsParams)) {
		if len(label) <= control.MaxLabel {
			s.orders = append(s.orders, order{sources: []source{{by: "label", value: label}}, settled: settled})
		}
	}
	if ask.Parent != uuid.Nil {
		s.orders = append(s.orders, order{sources: []source{{by: "parent"}}, settled: func(p *db.SeekRunsParams) { p.ChildOf = nil }})
	}
	for _, p := range ask.Params {
		label := control.ParamLabel(p.Name, p.Value)
		labelled(label, func(p *db.SeekRunsParams) {
			if p.Labels = slices.DeleteFunc(slices.Clone(p.Labels), func(l string) bool { return l == label }); len(p.Labels) == 0 {
				p.Labels = nil
			}
		})
	}
	for _, t := range ask.Tags {
		// A tag's label leaves open where its name ends; that it holds is looked at.
		labelled(control.TagLabel(t.Name, t.Value), func(*db.SeekRunsParams) {})
	}
	if len(ask.States) > 0 && !slices.Contains(ask.States, stage.RunSucceeded) {
		o := order{settled: func(p *db.SeekRunsParams) { p.States = nil }}
		for _, state := range ask.States {
			o.sources = append(o.sources, source{by: "state", state: int16(state)})
		}
		s.orders = append(s.orders, o)
	}
	if len(ask.Flows) > 0 {
		o := order{settled: func(p *db.SeekRunsParams) { p.Flows = nil }}
		for _, name := range ask.Flows {
			o.sources = append(o.sources, source{by: "flow", value: name})
		}
		s.orders = append(s.orders, o)
	}
	if len(s.orders) == 0 {
		s.orders = []order{{sources: []source{{by: "recent"}}, settled: func(*db.SeekRunsParams) {}}}
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
	o.settled(&rest)
	at, chunk := s.before, min(most+1, mostAtOnce)
	for sought := 0; sought < mostSought; {
		runs, last, err := s.read(ctx, o, rest, at, chunk)
		if err != nil {
			return nil, uuid.Nil, fmt.Errorf("looking for runs: %w", err)
		}
		for _, r := range runs {
			if r.holds {
				found = append(found, r.id)
			}
		}
		switch {
		case len(found) > most || len(found) == most && !last:
			return found[:most], found[most-1], nil
		case last:
			return found, uuid.Nil, nil
		}
		sought += len(runs)
		at, chunk = runs[len(runs)-1].id, min(4*chunk, mostAtOnce)
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
		reaches, err := s.reaches(ctx, o)
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

// reaches is the id down to which one search can look, uuid.Nil if that is the end.
func (s *search) reaches(ctx context.Context, o order) (uuid.UUID, error) {
	var down uuid.UUID
	for _, from := range o.sources {
		ids, err := s.ids(ctx, from, s.before, mostSought/len(o.sources)-1, 1)
		if err != nil {
			return uuid.Nil, err
		}
		if len(ids) > 0 && older(down, ids[0]) {
			down = ids[0]
		}
	}
	return down, nil
}

// read looks at about most runs before at. last tells that there are no more.
func (s *search) read(ctx context.Context, o order, rest db.SeekRunsParams, at uuid.UUID, most int) (runs []seen, last bool, err error) {
	var down uuid.UUID
	share := (most + len(o.sources) - 1) / len(o.sources)
	for _, from := range o.sources {
		some, err := s.seek(ctx, from, rest, at, share)
		if err != nil {
			return nil, false, err
		}
		// Below the end of a source that has more nobody knows whether a run is missing.
		if end := len(some); end == share && older(down, some[end-1].id) {
			down = some[end-1].id
		}
		runs = append(runs, some...)
	}
	if len(o.sources) > 1 {
		runs = slices.DeleteFunc(runs, func(r seen) bool { return older(r.id, down) })
		slices.SortStableFunc(runs, func(a, b seen) int { return bytes.Compare(b.id[:], a.id[:]) })
		runs = slices.CompactFunc(runs, func(a, b seen) bool { return a.id == b.id }) // one that changed its state meanwhile is in two
	}
	return runs, down == uuid.Nil, nil
}

// seek looks at runs of a source. Where nothing else is asked, the index alone is read.
func (s *search) seek(ctx context.Context, from source, rest db.SeekRunsParams, at uuid.UUID, most int) ([]seen, error) {
	bare := rest.Flows == nil && rest.States == nil && rest.Queues == nil && rest.Triggers == nil && rest.Levels == nil && rest.VersionIds == nil &&
		rest.Tags == nil && rest.Labels == nil && rest.ChildOf == nil
	if bare {
		ids, err := s.ids(ctx, from, at, 0, most)
		runs := make([]seen, len(ids))
		for i, id := range ids {
			runs[i] = seen{id, true}
		}
		return runs, err
	}
	rest.By, rest.Value, rest.State, rest.After, rest.Before, rest.Most = from.by, from.value, from.state, s.after, at, int32(most)
	rows, err := s.q.SeekRuns(ctx, rest)
	if err != nil {
		return nil, err
	}
	runs := make([]seen, len(rows))
	for i, r := range rows {
		runs[i] = seen{r.RunID, r.Holds}
	}
	return runs, nil
}

// ids are those of a source's runs before at, the newest first, from the skip-th on.
func (s *search) ids(ctx context.Context, from source, at uuid.UUID, skip, most int) ([]uuid.UUID, error) {
	switch from.by {
	case "flow":
		return s.q.RunsOfFlow(ctx, db.RunsOfFlowParams{Namespace: s.namespace, Flow: from.value, After: s.after, Before: at, Skip: int32(skip), Most: int32(most)})
	case "state":
		return s.q.RunsInState(ctx, db.RunsInStateParams{Namespace: s.namespace, State: from.state, After: s.after, Before: at, Skip: int32(skip), Most: int32(most)})
	case "label":
		return s.q.RunsLabelled(ctx, db.RunsLabelledParams{Namespace: s.namespace, Label: from.value, After: s.after, Before: at, Skip: int32(skip), Most: int32(most)})
	case "parent":
		return s.q.RunsOfParent(ctx, db.RunsOfParentParams{Parent: s.rest.Parent, Namespace: s.namespace, After: s.after, Before: at, Skip: int32(skip), Most: int32(most)})
	default:
		return s.q.RecentRuns(ctx, db.RecentRunsParams{Namespace: s.namespace, After: s.after, Before: at, Skip: int32(skip), Most: int32(most)})
	}
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
