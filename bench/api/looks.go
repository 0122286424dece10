package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"text/tabwriter"
	"time"

	"github.com/jackc/pgx/v5"

	"axflow/bench/measure"
)

// warm is how many requests of each kind are not counted: connections, statements and buffers are then as in any server.
const warm = 20

// kind is one kind of request.
type kind struct {
	name  string
	group string // "list", "page" (a later one), "get"
	// path is the next request's. cursor is next_cursor of the answer before, "" for none.
	path func(r *rand.Rand, cursor string) string
	took []time.Duration
	hits int // answers that held something
}

// asker sends requests to a server.
type asker struct {
	base, token string
	client      *http.Client
}

// ask sends one request and reads all of its answer.
func (a *asker) ask(ctx context.Context, path string) (body []byte, took time.Duration, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, a.base+path, http.NoBody)
	if err != nil {
		return nil, 0, fmt.Errorf("asking for %s: %w", path, err)
	}
	req.Header.Set("Authorization", "Bearer "+a.token)
	began := time.Now()
	res, err := a.client.Do(req)
	if err != nil {
		return nil, 0, fmt.Errorf("asking for %s: %w", path, err)
	}
	body, err = io.ReadAll(res.Body)
	took = time.Since(began)
	if err := errors.Join(err, res.Body.Close()); err != nil {
		return nil, 0, fmt.Errorf("reading the answer of %s: %w", path, err)
	}
	if res.StatusCode != http.StatusOK {
		return nil, 0, fmt.Errorf("%s: %s: %.300s", path, res.Status, body)
	}
	return body, took, nil
}

// looks measures lists and looks beside the history.
func looks(ctx context.Context, out io.Writer, h *history, s size, fields map[string]float64) (err error) {
	srv, err := serve(ctx, h.url)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, srv.end()) }()
	a := &asker{srv.url, h.token, &http.Client{Transport: &http.Transport{DisableCompression: true}}}
	defer a.client.CloseIdleConnections()
	kinds, err := h.kinds(ctx, s)
	if err != nil {
		return err
	}
	for i := range kinds {
		if err := a.measure(ctx, &kinds[i], s.samples); err != nil {
			return err
		}
	}
	all := make(map[string][]time.Duration)
	worst := time.Duration(0)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	say(w, "p50 ms\tp99 ms\tmax ms\tnot empty\t request\n")
	for _, k := range kinds {
		p99 := measure.Percentile(k.took, 99)
		say(w, "%.2f\t%.2f\t%.2f\t%d/%d\t %s\n", measure.Milliseconds(measure.Percentile(k.took, 50)), measure.Milliseconds(p99),
			measure.Milliseconds(measure.Percentile(k.took, 100)), k.hits, len(k.took), k.name)
		all[k.group] = append(all[k.group], k.took...)
		if k.group != "get" {
			worst = max(worst, p99)
		}
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("printing: %w", err)
	}
	for _, group := range []string{"list", "get"} {
		fields[group+"_p50_ms"] = measure.Milliseconds(measure.Percentile(all[group], 50))
		fields[group+"_p99_ms"] = measure.Milliseconds(measure.Percentile(all[group], 99))
	}
	fields["list_worst_p99_ms"] = measure.Milliseconds(worst)
	return nil
}

// measure sends the requests of a kind.
func (a *asker) measure(ctx context.Context, k *kind, samples int) error {
	r := rand.New(rand.NewPCG(1, uint64(len(k.name)))) // the same questions in every invocation
	cursor := ""
	for i := range warm + samples {
		body, took, err := a.ask(ctx, k.path(r, cursor))
		if err != nil {
			return fmt.Errorf("%s: %w", k.name, err)
		}
		var page struct {
			Items []json.RawMessage `json:"items"`
			Next  string            `json:"next_cursor"`
		}
		if err := json.Unmarshal(body, &page); err != nil {
			return fmt.Errorf("%s: reading the answer: %w", k.name, err)
		}
		cursor = page.Next
		if i < warm {
			continue
		}
		k.took = append(k.took, took)
		if len(page.Items) > 0 || k.group == "get" {
			k.hits++
		}
	}
	return nil
}

// kinds are all kinds of requests.
func (h *history) kinds(ctx context.Context, s size) ([]kind, error) {
	some, err := h.ids(ctx, `SELECT run_id::text FROM ax.run TABLESAMPLE BERNOULLI (least(100, 100 * 1000 / $1::float8)) REPEATABLE (1) WHERE namespace = 'default' ORDER BY run_id`, s.runs)
	if err != nil {
		return nil, err
	}
	large, err := h.ids(ctx, `SELECT s.run_id::text FROM ax.stage s JOIN ax.run r USING (run_id) WHERE s.ord = 1 AND s.shard_total = $1 AND r.namespace = 'default' ORDER BY 1`, s.large)
	if err != nil {
		return nil, err
	}
	find := func(name string, q func(r *rand.Rand) string) kind {
		return kind{name: "list " + name, group: "list", path: func(r *rand.Rand, _ string) string { return "/api/v1/runs?limit=50&q=" + url.QueryEscape(q(r)) }}
	}
	// on follows a list page by page, so that most are deep; at its end it begins with another question.
	on := func(name string, q func(r *rand.Rand) string) kind {
		asked := ""
		return kind{name: "page on " + name, group: "page", path: func(r *rand.Rand, cursor string) string {
			if cursor == "" {
				asked = "/api/v1/runs?limit=50&q=" + url.QueryEscape(q(r))
				return asked
			}
			return asked + "&cursor=" + url.QueryEscape(cursor)
		}}
	}
	get := func(name string, ids []string, path string) kind {
		return kind{name: "get " + name, group: "get", path: func(r *rand.Rand, _ string) string { return "/api/v1/runs/" + ids[r.IntN(len(ids))] + path }}
	}
	flow := func(r *rand.Rand) string { return "flow:" + flowName(r.IntN(12)) }
	team := func(r *rand.Rand) string { return fmt.Sprintf("tag:team=team-%d", r.IntN(40)) }
	region := func(r *rand.Rand) string { return fmt.Sprintf("param.region:region-%d", r.IntN(20)) }
	customer := func(r *rand.Rand) string { return fmt.Sprintf("param.customer:customer-%d", r.IntN(5000)) }
	day := func(r *rand.Rand) string { return h.newest.AddDate(0, 0, -r.IntN(s.days)).Format(time.DateOnly) }
	since := func(r *rand.Rand) string { return "since:" + day(r) }
	until := func(r *rand.Rand) string { return "until:" + day(r) }
	with := func(terms ...any) func(r *rand.Rand) string {
		return func(r *rand.Rand) string {
			q := ""
			for _, t := range terms {
				switch t := t.(type) {
				case string:
					q += t + " "
				case func(*rand.Rand) string:
					q += t(r) + " "
				}
			}
			return q
		}
	}
	return []kind{
		find("the newest", with("")),
		find("flow", with(flow)),
		find("state:failed", with("state:failed")),
		find("state:open", with("state:open")),
		find("state:succeeded", with("state:succeeded")),
		find("tag, 1 in 40", with(team)),
		find("tag, 100 runs", with(func(r *rand.Rand) string { return fmt.Sprintf("tag:ticket=T-%d", r.IntN(max(1, s.runs/100))) })),
		find("tag that nothing has", with("tag:team=none")),
		find("param, 1 in 20", with(region)),
		find("param, 1 in 5000", with(customer)),
		find("since", with(since)),
		find("until", with(until)),
		find("flow, state:failed", with(flow, "state:failed")),
		find("flow, tag", with(flow, team)),
		find("flow, param 1 in 5000", with(flow, customer)),
		find("tag, param", with(team, region)),
		find("two params", with(region, customer)),
		find("flow, state:cancelled, tag, until", with(flow, "state:cancelled", team, until)),
		find("two flows, two states, since", with("flow:flow-03,flow-07", "state:failed,cancelled", since)),
		find("flow, level that nothing has", with(flow, "level:P5")),
		on("the newest", with("")),
		on("flow", with(flow)),
		on("state:failed", with("state:failed")),
		on("tag, param", with(team, region)),
		on("two flows, trigger", with("flow:flow-03,flow-07", "trigger:api")),
		get("run", some, ""),
		get("params", some, "/params"),
		get("failures", some, "/failures"),
		get("stage", some, "/stages/load"),
		get("shard", some, "/stages/load/shards/0"),
		get("shards, a page", some, "/stages/load/shards?limit=50"),
		get(fmt.Sprintf("shards, a page of %d", s.large), large, "/stages/load/shards?limit=50"),
		get(fmt.Sprintf("%d packed states", s.large), large, "/stages/load/shards/packed"),
	}, nil
}

func (h *history) ids(ctx context.Context, query string, arg int) ([]string, error) {
	rows, err := h.pool.Query(ctx, query, arg)
	if err != nil {
		return nil, fmt.Errorf("choosing runs: %w", err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("choosing runs: %w", err)
	}
	if len(ids) == 0 {
		return nil, errors.New("the history has no runs to ask for")
	}
	return ids, nil
}
