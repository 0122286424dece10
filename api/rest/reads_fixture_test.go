package rest_test

import (
	"context"
	"net/http"
	"net/url"

	"github.com/google/uuid"

	"axflow/api/gen"
	"axflow/engine/control"
	"axflow/flow"
	"axflow/sql/versions"
	"axflow/stage"
)

// found is a flow whose runs are found by their date and customer.
type found struct {
	Date     string `json:"date"`
	Customer int    `json:"customer,omitempty"`
}

func searched() *flow.Flow[found] {
	return flow.New("found", stage.New("only", func(context.Context, found) (struct{}, error) { return struct{}{}, nil })).
		With(flow.Searchable("date", "customer"), flow.Owner("team blue"), flow.Describe("what is found"))
}

// registered registers a flow in a namespace.
func (s *stand) registered(namespace string, f flow.Definition) *versions.Version {
	s.t.Helper()
	v, err := s.client.In(namespace).Register(s.ctx, f)
	if err != nil {
		s.t.Fatal(err)
	}
	return v
}

// begin starts a run as it is told.
func (s *stand) begin(namespace, trigger string, start control.Start) uuid.UUID {
	s.t.Helper()
	started, err := s.client.In(namespace).Start(s.ctx, control.Batch{Trigger: trigger}, []control.Start{start})
	if err != nil {
		s.t.Fatal(err)
	}
	return started[0].Run
}

// page lists runs.
func (s *stand) page(q, cursor string, limit string) gen.RunList {
	s.t.Helper()
	v := url.Values{}
	for name, value := range map[string]string{"q": q, "cursor": cursor, "limit": limit} {
		if value != "" {
			v.Set(name, value)
		}
	}
	return good[gen.RunList](s, http.StatusOK, "GET", "/api/v1/runs?"+v.Encode(), "")
}

// pages lists runs to the last page.
func (s *stand) pages(q, limit string) []uuid.UUID {
	s.t.Helper()
	var ids []uuid.UUID
	cursor := ""
	for range 1000 {
		p := s.page(q, cursor, limit)
		for _, r := range p.Items {
			ids = append(ids, r.Id)
		}
		if p.NextCursor == nil {
			return ids
		}
		cursor = *p.NextCursor
	}
	s.t.Fatalf("%q: the pages never end", q)
	return nil
}
