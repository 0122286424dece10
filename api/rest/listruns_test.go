package rest_test

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"axflow/api/gen"
	"axflow/engine/control"
	"axflow/flow"
	"axflow/internal/uuid7"
	"axflow/sql/versions"
	"axflow/stage"
)

// modelRun is a run as the test knows it.
type modelRun struct {
	id                         uuid.UUID
	flow, queue, trigger, hash string
	state                      stage.RunState
	level                      stage.Level
	team, date                 string
	parent                     uuid.UUID
}

// shelf is runs that differ in everything that they are found by.
type shelf struct {
	*stand
	random   *rand.Rand
	versions []*versions.Version
	runs     []modelRun // the newest first
	minter   *uuid7.Minter
	at       time.Time
}

func newShelf(t *testing.T, runs int) *shelf {
	s := &shelf{stand: newStand(t), random: rand.New(rand.NewPCG(7, 11)), at: time.Now().Add(-10 * time.Hour)}
	s.minter = uuid7.New(func() time.Time { return s.at }, nil)
	s.versions = []*versions.Version{s.registered("default", searched()), s.registered("default", plainFlow("plain"))}
	for range runs {
		s.add()
	}
	return s
}

// plainFlow is a flow whose params cannot be searched.
func plainFlow(name string) *flow.Flow[daily] { return flow.New(name, stage.New("only", once)) }

// add starts a run a minute after the one before.
func (s *shelf) add() {
	pick := func(of ...string) string { return of[s.random.IntN(len(of))] }
	s.at = s.at.Add(time.Minute)
	v := s.versions[s.random.IntN(2)]
	r := modelRun{id: s.minter.Mint(), flow: v.Flow, hash: v.Hash, queue: pick("default", "nightly"), trigger: pick("api", "cli", "schedule"),
		state: stage.RunStates()[s.random.IntN(5)], level: stage.Level(s.random.IntN(6)), team: pick("", "etl", "fin ops"), date: pick("2026-11-28", "2026-11-29")}
	start := control.Start{Version: v, ID: r.id, Queue: r.queue, Level: &r.level, Params: []byte(`{"date":"` + r.date + `"}`)}
	if r.team != "" {
		start.Tags = map[string]string{"team": r.team, "n": "1"}
	}
	s.begin("default", r.trigger, start)
	s.exec(`UPDATE ax.run SET state = $2::smallint, finished_at = CASE WHEN $2::smallint >= 10 THEN now() END WHERE run_id = $1`, r.id, int(r.state))
	if len(s.runs) > 0 && s.random.IntN(3) == 0 {
		r.parent = s.runs[len(s.runs)-1].id
		s.exec(`INSERT INTO ax.child (parent_run, ord, generation, shard, attempt, child_run) VALUES ($1, 0, 1, $2, 1, $3)`, r.parent, len(s.runs), r.id)
	}
	s.runs = slices.Insert(s.runs, 0, r)
}

// term is a random term, and what it asks.
func (s *shelf) term() (string, func(modelRun) bool) {
	some := s.runs[s.random.IntN(len(s.runs))]
	other := s.runs[s.random.IntN(len(s.runs))]
	switch s.random.IntN(13) {
	case 12:
		of := s.runs[len(s.runs)-1-s.random.IntN(2)] // the oldest has children, the next has none
		return "parent:" + of.id.String(), func(r modelRun) bool { return r.parent == of.id }
	case 0:
		return "flow:" + some.flow, func(r modelRun) bool { return r.flow == some.flow }
	case 1:
		return "flow:plain,found,none", func(r modelRun) bool { return true }
	case 2:
		return "state:" + some.state.String() + "," + other.state.String(), func(r modelRun) bool { return r.state == some.state || r.state == other.state }
	case 3:
		return "state:open", func(r modelRun) bool { return !r.state.Ended() }
	case 4:
		return "queue:" + some.queue, func(r modelRun) bool { return r.queue == some.queue }
	case 5:
		return "trigger:" + some.trigger + "," + other.trigger, func(r modelRun) bool { return r.trigger == some.trigger || r.trigger == other.trigger }
	case 6:
		return "level:" + some.level.String(), func(r modelRun) bool { return r.level == some.level }
	case 7:
		return "version:" + some.hash[:6], func(r modelRun) bool { return r.hash == some.hash }
	case 8:
		return `tag:team="` + some.team + `"`, func(r modelRun) bool { return r.team == some.team && r.team != "" }
	case 9:
		at := uuid7.Time(some.id)
		return "since:" + at.Format(time.RFC3339Nano), func(r modelRun) bool { return !uuid7.Time(r.id).Before(at) }
	case 10:
		at := uuid7.Time(some.id)
		return "until:" + at.Format(time.RFC3339Nano), func(r modelRun) bool { return uuid7.Time(r.id).Before(at) }
	default:
		return some.id.String()[:9+s.random.IntN(9)], func(r modelRun) bool { return false } // told apart below
	}
}

func TestListRunsFindsWhatHoldsAndNothingElse(t *testing.T) {
	s := newShelf(t, 120)
	for range 80 {
		var terms []string
		holds := []func(modelRun) bool{}
		keys := map[string]bool{}
		for range 1 + s.random.IntN(3) {
			text, hold := s.term()
			key, _, isTerm := strings.Cut(text, ":")
			if !isTerm {
				key, hold = "", func(r modelRun) bool {
					return strings.HasPrefix(strings.ReplaceAll(r.id.String(), "-", ""), strings.ReplaceAll(text, "-", ""))
				}
			}
			if !keys[key] {
				keys[key] = true
				terms, holds = append(terms, text), append(holds, hold)
			}
		}
		var want []uuid.UUID
		for _, r := range s.runs {
			if !slices.ContainsFunc(holds, func(hold func(modelRun) bool) bool { return !hold(r) }) {
				want = append(want, r.id)
			}
		}
		q := strings.Join(terms, " ")
		if got := s.pages(q, fmt.Sprint(1+s.random.IntN(40))); !slices.Equal(got, want) {
			t.Errorf("%q: %d runs, want %d", q, len(got), len(want))
		}
	}
}

// Whoever knows the id of another namespace's run learns nothing of its children, even of one that would be their own.
func TestChildrenAreOfOnesNamespace(t *testing.T) {
	s := newStand(t)
	run, child := s.start(), s.start()
	s.exec(`INSERT INTO ax.child (parent_run, ord, generation, shard, attempt, child_run) VALUES ($1, 0, 1, 3, 1, $2)`, run, child)
	q := "parent:" + run.String()
	for _, also := range []string{"", " state:open", " queue:default trigger:test"} {
		if got := s.pages(q+also, ""); !slices.Equal(got, []uuid.UUID{child}) {
			t.Errorf("%q: %v, want the child", q+also, got)
		}
	}
	s.exec(`UPDATE ax.run SET namespace = 'other' WHERE run_id = $1`, child)
	for _, also := range []string{"", " state:open"} {
		if got := s.pages(q+also, ""); len(got) != 0 {
			t.Errorf("%q: %v of another namespace", q+also, got)
		}
	}
}

func TestListRunsByParamsThatFlowsDeclareSearchable(t *testing.T) {
	s := newShelf(t, 40)
	var want []uuid.UUID
	for _, r := range s.runs {
		if r.flow == "found" && r.date == "2026-11-29" {
			want = append(want, r.id)
		}
	}
	for _, q := range []string{"param.date:2026-11-29", "flow:found param.date:2026-11-29"} {
		if got := s.pages(q, "7"); !slices.Equal(got, want) {
			t.Errorf("%q: %d runs, want %d", q, len(got), len(want))
		}
	}
	if got := s.pages("param.date:2026-11-29 param.customer:7", ""); len(got) != 0 {
		t.Errorf("no run has both: %v", got)
	}
	for q, says := range map[string]string{
		"flow:plain param.date:x":   `flow "plain" does not declare it searchable; nothing is`,
		"param.rows:1":              "no flow declares it searchable; these are: param.customer, param.date",
		"flow:missing param.date:x": `flow "missing" does not declare it searchable`,
	} {
		p := s.refused(http.StatusUnprocessableEntity, gen.ProblemCodeInvalid, "GET", "/api/v1/runs?q="+url.QueryEscape(q), "", "q")
		if p.Detail == nil || !strings.Contains(*p.Detail, says) {
			t.Errorf("%q: %+v, want it to say %q", q, p, says)
		}
	}
	if n := s.count(`SELECT count(*) FROM ax.run_label l JOIN ax.run r USING (run_id) WHERE r.flow = 'plain' AND r.tags IS NULL`); n != 0 {
		t.Errorf("%d labels of runs that have nothing to be found by", n)
	}
}

func TestPagesOfRunsStandStillWhileRunsCome(t *testing.T) {
	s := newShelf(t, 60)
	want := make([]uuid.UUID, len(s.runs))
	for i, r := range s.runs {
		want[i] = r.id
	}
	for _, q := range []string{"", "flow:found,plain", "state:open,ended"} {
		want := want
		if len(s.runs) > len(want) {
			want = nil
			for _, r := range s.runs {
				want = append(want, r.id)
			}
		}
		var got []uuid.UUID
		for cursor := ""; ; {
			p := s.page(q, cursor, "7")
			for _, r := range p.Items {
				got = append(got, r.Id)
			}
			s.add()
			if p.NextCursor == nil {
				break
			}
			cursor = *p.NextCursor
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %d runs in all pages, want the %d that were there at first, each once", q, len(got), len(want))
		}
	}
}

func TestACursorThatIsNotOfTheListIsRefused(t *testing.T) {
	s := newShelf(t, 5)
	next := s.page("flow:found,plain", "", "1").NextCursor
	if next == nil {
		t.Fatal("no cursor after the first of five runs")
	}
	b, err := base64.RawURLEncoding.DecodeString(*next)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)-1] ^= 1
	get := func(path, cursor string) {
		t.Helper()
		s.refused(http.StatusUnprocessableEntity, gen.ProblemCodeInvalid, "GET", path+"cursor="+url.QueryEscape(cursor), "", "cursor")
	}
	get("/api/v1/runs?q=flow:found,plain&", base64.RawURLEncoding.EncodeToString(b)) // another place
	get("/api/v1/runs?q=flow:found&", *next)                                         // another question
	get("/api/v1/runs?q=flow:found,plain&", "x")
	get("/api/v1/runs?q=flow:found,plain&", "%%%")
	get("/api/v1/runs?q=flow:found,plain&", strings.Repeat("A", 400))
	get("/api/v1/flows?", *next)
	get("/api/v1/runs/"+s.runs[0].id.String()+"/failures?", *next)
	if p := s.page("flow:plain,found", *next, "1"); len(p.Items) != 1 {
		t.Errorf("the same question in another spelling: %d runs, want 1", len(p.Items))
	}
}

func TestASearchThatFindsLittleLooksAtABoundedNumberOfRuns(t *testing.T) {
	s := newStand(t)
	v := s.registered("default", searched())
	urgent := stage.P0
	needle := s.begin("default", "api", control.Start{Version: v, Level: &urgent, Params: []byte(`{"date":"x"}`)})
	s.exec(`INSERT INTO ax.run (run_id, version_id, state, level, created_at, finished_at, namespace, flow, queue, trigger, params, tags)
		SELECT overlay(gen_random_uuid()::text placing left($1::text, 13) from 1 for 13)::uuid, $2, 10, 2, now(), now(), 'default', 'found', 'default', 'api', '{}', '{"team":"etl"}'
		FROM generate_series(1, 9000)`, uuid7.New(func() time.Time { return time.Now().Add(time.Second) }, nil).Mint(), v.ID)
	s.exec(`INSERT INTO ax.run_label SELECT run_id, 'default', 'tag:team=etl' FROM ax.run WHERE tags IS NOT NULL`)
	pages, found, cursor := 0, []uuid.UUID(nil), ""
	for {
		p := s.page("flow:found level:P0", cursor, "")
		pages++
		if (p.SearchedTo == nil) != (p.NextCursor == nil) {
			t.Errorf("page %d says that it looked back to %v, with cursor %v: it says so while there is more", pages, p.SearchedTo, p.NextCursor)
		}
		if p.SearchedTo != nil && time.Since(*p.SearchedTo).Abs() > time.Hour {
			t.Errorf("page %d looked back to %v, want now: all runs are of now", pages, p.SearchedTo)
		}
		for _, r := range p.Items {
			found = append(found, r.Id)
		}
		if p.NextCursor == nil {
			break
		}
		cursor = *p.NextCursor
	}
	if !slices.Equal(found, []uuid.UUID{needle}) || pages < 3 || pages > 5 {
		t.Errorf("%v after %d pages, want %s after 3 or so: one page looks at 4,000 runs", found, pages, needle)
	}
	// With a term that few runs hold to, the first page is the last, however many hold to the others.
	if p := s.page("flow:found state:open tag:team=etl", "", ""); len(p.Items) != 0 || p.NextCursor != nil {
		t.Errorf("%d runs and cursor %v, want none and the end: one run is open", len(p.Items), p.NextCursor)
	}
	if p := s.page("flow:found state:open", "", ""); len(p.Items) != 1 || p.NextCursor != nil {
		t.Errorf("%d runs and cursor %v, want the one that is open, and the end", len(p.Items), p.NextCursor)
	}
}

func TestAListedRunTellsAllOfItself(t *testing.T) {
	s := newStand(t)
	run := s.failed()
	s.exec(`UPDATE ax.run SET deadline = created_at + interval '1 second', created_at = created_at - interval '1 hour' WHERE run_id = $1`, run)
	s.exec(`UPDATE ax.run SET deadline = created_at WHERE run_id = $1`, run)
	child := s.start()
	s.exec(`UPDATE ax.run SET trigger = 'child' WHERE run_id = $1`, child)
	s.exec(`INSERT INTO ax.child (parent_run, ord, generation, shard, attempt, child_run) VALUES ($1, 0, 1, 3, 1, $2)`, run, child)
	s.act("POST", "/api/v1/queues/default/pause", "{}")
	p := s.page("", "", "")
	if len(p.Items) != 2 {
		t.Fatalf("%d runs, want 2", len(p.Items))
	}
	c, r := p.Items[0], p.Items[1]
	want(t, "its parent", *c.Parent, gen.ParentTask{Run: run, Stage: "parts", Shard: 3})
	want(t, "flow", r.Flow, "recon")
	want(t, "state", r.State, gen.RunStateRunning) // nothing has decided it yet
	want(t, "level", r.Level, gen.LevelP2)
	want(t, "queue", r.Queue, "default")
	want(t, "trigger", r.Trigger, "test")
	want(t, "team", r.Tags["team"], "blue")
	want(t, "late", r.Late != nil && *r.Late, true)
	want(t, "the child is late", c.Late != nil, false)
	want(t, "paused", r.Paused != nil && *r.Paused, true)
	want(t, "stages", fmt.Sprint(*r.Stages), "map[failed:1 waiting:1]")
	detail := good[gen.RunDetail](s, http.StatusOK, "GET", "/api/v1/runs/"+run.String(), "")
	want(t, "one hold", len(detail.Holds), 1)
	want(t, "the hold", detail.Holds[0].Kind, gen.HoldKindQueue)
	want(t, "two stages", len(detail.Stages), 2)
	st := detail.Stages[0]
	want(t, "the stage", fmt.Sprint(st.Name, st.Kind, st.State, st.Generation, st.Total, st.Succeeded, st.Ready, st.InFlight, st.Dead, st.Parked), "partsshardedfailed1 4 3 0 0 1 0")
	want(t, "none of whose upstreams has failed", st.UpstreamFailed == nil, true)
	s.exec(`UPDATE ax.parked SET reason = 5 WHERE run_id = $1 AND reason = 1`, run)
	st = good[gen.RunDetail](s, http.StatusOK, "GET", "/api/v1/runs/"+run.String(), "").Stages[0]
	want(t, "the stage, of which one shard's upstream has failed", fmt.Sprint(st.Succeeded, st.Dead, *st.UpstreamFailed, st.Parked), "3 1 1 0")
	want(t, "the run", fmt.Sprintf("%s %v %v %v", detail.Run.Id, detail.Run.Tags, *detail.Run.Late, *detail.Run.Paused), run.String()+" map[team:blue] true true")
}
