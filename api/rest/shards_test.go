package rest_test

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
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
	"axflow/shard"
)

// modelShard is where a shard stands, as the test knows it.
type modelShard struct {
	state   gen.ShardState
	attempt int // of its row; 0: none
	tried   int // attempts that ended
	worker  uuid.UUID
}

// scattered is a stage of total shards whose shards stand anywhere.
type scattered struct {
	*stand
	run    uuid.UUID
	shards []modelShard
	from   time.Time
}

// fates are the rows that a shard may be in.
var fates = []struct {
	state gen.ShardState
	table string
	with  string // its columns besides those that all rows have
}{
	{gen.ShardStateReady, "ready", "now() - interval '1 second'"},
	{gen.ShardStateRetrying, "ready", "now() + interval '1 hour'"},
	{gen.ShardStateDelayed, "ready", "now() + interval '1 hour'"},
	{gen.ShardStateInFlight, "flight", ""},
	{gen.ShardStateDead, "parked", "1"}, {gen.ShardStateCancelled, "parked", "2"}, {gen.ShardStateSkipped, "parked", "3"},
	{gen.ShardStateAligned, "parked", "4"}, {gen.ShardStateUpstreamFailed, "parked", "5"}, {gen.ShardStateDead, "parked", "6"},
	{gen.ShardStateChild, "parked", "7"}, {gen.ShardStateExpired, "parked", "8"}, {gen.ShardStateDiscarded, "parked", "9"},
}

// scatter puts the shards of a new run's first stage into random rows, in pieces of at most most, and lets the rest succeed.
func scatter(s *stand, seed uint64, total, most int) *scattered {
	s.t.Helper()
	x := &scattered{stand: s, run: s.start(), shards: make([]modelShard, total), from: time.Now().Add(-time.Minute).Truncate(time.Millisecond)}
	random := rand.New(rand.NewPCG(seed, 1))
	s.exec(`DELETE FROM ax.ready WHERE run_id = $1`, x.run)
	s.exec(`UPDATE ax.run SET created_at = $2 WHERE run_id = $1`, x.run, x.from)
	s.exec(`UPDATE ax.stage SET state = 2, shard_total = $2 WHERE run_id = $1 AND ord = 0`, x.run, total)
	version := s.count(`SELECT version_id FROM ax.run WHERE run_id = $1`, x.run)
	for i := range x.shards {
		x.shards[i] = modelShard{state: gen.ShardStateSucceeded, tried: 1}
	}
	for at := 0; at < total; {
		piece := min(1+random.IntN(most), total-at)
		if random.IntN(3) == 0 { // these have succeeded
			at += piece
			continue
		}
		f := fates[random.IntN(len(fates))]
		attempt := 1 + random.IntN(3)
		switch f.state {
		case gen.ShardStateRetrying:
			attempt = 2
		case gen.ShardStateDelayed:
			attempt = 1
		}
		id, todo := uuid.Must(uuid.NewV7()), shard.Span(at, at+piece).String()
		const columns = "id, run_id, ready_at, version_id, ord, generation, kind, attempt, delivery, losses, level, namespace, queue, todo"
		values := fmt.Sprintf("'%s', '%s', now(), %d, 0, 1, 0, %d, 1, 0, 2, 'default', 'default', '%s'", id, x.run, version, attempt, todo)
		switch f.table {
		case "ready":
			s.exec(fmt.Sprintf("INSERT INTO ax.ready (%s, n, not_before) VALUES (%s, %d, %s)", columns, values, piece, f.with))
		case "flight":
			s.exec(fmt.Sprintf("INSERT INTO ax.flight (%s, worker_id, dispatched_at, epoch, par) VALUES (%s, '%s', now(), 1, 1)", columns, values, s.worker))
		default:
			s.exec(fmt.Sprintf("INSERT INTO ax.parked (%s, n, parked_at, reason) VALUES (%s, %d, now(), %s)", columns, values, piece, f.with))
		}
		tried := attempt // parked rows have ended as often as they were tried, the others once less
		if f.table != "parked" {
			tried--
		}
		for i := at; i < at+piece; i++ {
			x.shards[i] = modelShard{state: f.state, attempt: attempt, tried: tried}
			if f.table == "flight" {
				x.shards[i].worker = s.worker
			}
		}
		at += piece
	}
	// Attempt n of shard i started i ms after the run and n seconds, and took n times 10 ms.
	tries := make([]int32, total)
	for i, m := range x.shards {
		tries[i] = int32(m.tried)
	}
	s.exec(`INSERT INTO ax.result (run_id, worker_id, execution_id, ready_at, dispatched_at, started_at, finished_at, shard, epoch, ord, generation, attempt, delivery, outcome)
		SELECT $1::uuid, $2::uuid, gen_random_uuid(), $3::timestamptz, $3::timestamptz, $3::timestamptz + make_interval(secs => n + i * 0.001),
		       $3::timestamptz + make_interval(secs => n + i * 0.001 + n * 0.01), i, 1, 0, 1, n, 1, CASE WHEN n < tries OR NOT won THEN 11 ELSE 10 END
		FROM (SELECT i - 1 AS i, t AS tries, w AS won FROM unnest($4::int[], $5::bool[]) WITH ORDINALITY AS x(t, w, i)) x, generate_series(1, tries) n`,
		x.run, s.worker, x.from, tries, x.won())
	return x
}

func (x *scattered) won() []bool {
	won := make([]bool, len(x.shards))
	for i, m := range x.shards {
		won[i] = m.state == gen.ShardStateSucceeded
	}
	return won
}

func (x *scattered) path(rest string) string {
	return "/api/v1/runs/" + x.run.String() + "/stages/parts/shards" + rest
}

// list lists shards to the last page.
func (x *scattered) list(query url.Values) []gen.ShardItem {
	x.t.Helper()
	var items []gen.ShardItem
	for {
		p := good[gen.ShardList](x.stand, http.StatusOK, "GET", x.path("?"+query.Encode()), "")
		if p.Total != len(x.shards) || p.Generation != 1 {
			x.t.Errorf("total %d, generation %d; want %d, 1", p.Total, p.Generation, len(x.shards))
		}
		items = append(items, p.Items...)
		if p.NextCursor == nil {
			return items
		}
		query.Set("cursor", *p.NextCursor)
	}
}

// check compares items with the model.
func (x *scattered) check(items []gen.ShardItem) {
	x.t.Helper()
	for _, item := range items {
		m := x.shards[item.Index]
		attempt := m.attempt
		if attempt == 0 {
			attempt = m.tried
		}
		switch {
		case item.State != m.state || item.Attempt == nil || *item.Attempt != attempt:
			x.t.Fatalf("shard %d: %+v, want %+v", item.Index, item, m)
		case (item.NotBefore != nil) != (m.state == gen.ShardStateRetrying || m.state == gen.ShardStateDelayed):
			x.t.Fatalf("shard %d, %s: not before %v", item.Index, m.state, item.NotBefore)
		case (item.Worker != nil) != (m.worker != uuid.Nil):
			x.t.Fatalf("shard %d, %s: worker %v", item.Index, m.state, item.Worker)
		case (item.Last != nil) != (m.tried > 0) || item.Last != nil && (item.Last.Attempt != m.tried || item.Last.Shard != item.Index || item.Last.Stage != "parts"):
			x.t.Fatalf("shard %d: last attempt %+v, want attempt %d", item.Index, item.Last, m.tried)
		}
	}
}

func TestListShardsTellsWhereEachStands(t *testing.T) {
	s := newStand(t)
	for seed := range uint64(4) {
		x := scatter(s, seed, 300, 20)
		items := x.list(url.Values{"limit": {"37"}})
		if len(items) != 300 {
			t.Fatalf("%d shards, want 300", len(items))
		}
		x.check(items)
		for _, filter := range []string{"dead", "succeeded", "ready,retrying,delayed", "in_flight", "waiting"} {
			asked := shard.Span(20, 150).Union(shard.Of(0, 299, 5000))
			var want []int
			for i, m := range x.shards {
				if slices.Contains(strings.Split(filter, ","), string(m.state)) && asked.Contains(i) {
					want = append(want, i)
				}
			}
			var got []int
			filtered := x.list(url.Values{"state": {filter}, "indices": {"20-149,0,299,5000"}, "limit": {"7"}})
			x.check(filtered)
			for _, item := range filtered {
				got = append(got, item.Index)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: shards %v, want %v", filter, got, want)
			}
		}
	}
}

// packed is an answer with its arrays read.
type packed struct {
	gen.PackedShards
	durations, started []uint32
	workers            []uint16
}

func (x *scattered) pack(fields string) packed {
	x.t.Helper()
	path := x.path("/packed")
	if fields != "" {
		path += "?fields=" + fields
	}
	p := packed{PackedShards: good[gen.PackedShards](x.stand, http.StatusOK, "GET", path, "")}
	for b := p.Durations; len(b) > 0; b = b[4:] {
		p.durations = append(p.durations, binary.LittleEndian.Uint32(b))
	}
	for b := p.Started; len(b) > 0; b = b[4:] {
		p.started = append(p.started, binary.LittleEndian.Uint32(b))
	}
	for b := p.Workers; len(b) > 0; b = b[2:] {
		p.workers = append(p.workers, binary.LittleEndian.Uint16(b))
	}
	return p
}

// checkPacked compares packed arrays with the model.
func (x *scattered) checkPacked(p packed) {
	x.t.Helper()
	n := len(x.shards)
	if p.Total != n || len(p.States) != n || len(p.Attempts) != n || len(p.durations) != n || len(p.started) != n || len(p.workers) != n {
		x.t.Fatalf("total %d, arrays of %d, %d, %d, %d, %d; want %d", p.Total, len(p.States), len(p.Attempts), len(p.durations), len(p.started), len(p.workers), n)
	}
	for i, m := range x.shards {
		attempt := m.attempt
		if attempt == 0 {
			attempt = m.tried
		}
		duration, started, worker := uint32(4294967295), uint32(4294967295), uuid.Nil
		if m.tried > 0 {
			duration, started, worker = uint32(10*m.tried), uint32(1000*m.tried+i), x.worker
		}
		if m.worker != uuid.Nil {
			worker = m.worker
		}
		of := uuid.Nil
		if w := p.workers[i]; w != 65535 {
			of = p.WorkerIds[w]
		}
		if state := p.StateNames[p.States[i]]; state != m.state || int(p.Attempts[i]) != attempt || p.durations[i] != duration || p.started[i] != started || of != worker {
			x.t.Fatalf("shard %d: %s, attempt %d, %d ms, started %d, worker %s; want %s, %d, %d, %d, %s", i, state, p.Attempts[i], p.durations[i], p.started[i], of,
				m.state, attempt, duration, started, worker)
		}
	}
	if !p.StartedFrom.Equal(x.from) {
		x.t.Errorf("started from %v, want %v", p.StartedFrom, x.from)
	}
}

func TestPackedShardsAreTheListedOnes(t *testing.T) {
	s := newStand(t)
	for seed := range uint64(4) {
		x := scatter(s, 10+seed, 700, 30)
		x.checkPacked(x.pack("attempts,durations,started,workers"))
		bare := x.pack("")
		if len(bare.States) != 700 || bare.Attempts != nil || bare.Durations != nil || bare.Started != nil || bare.Workers != nil || bare.StartedFrom != nil {
			t.Errorf("without fields: %d states and more: %+v", len(bare.States), bare)
		}
		for _, item := range x.list(url.Values{"limit": {"100"}}) {
			if packed := bare.StateNames[bare.States[item.Index]]; packed != item.State {
				t.Errorf("shard %d is packed as %s and listed as %s", item.Index, packed, item.State)
			}
		}
	}
}

func TestPackedShardsOfALargeStage(t *testing.T) {
	s := newStand(t)
	x := scatter(s, 99, 100_000, 2_000)
	x.checkPacked(x.pack("attempts,durations,started,workers"))
	items := x.list(url.Values{"limit": {"1000"}, "indices": {"99500-99999,49999-50500"}})
	if len(items) != 1002 {
		t.Errorf("%d shards, want 1002", len(items))
	}
	x.check(items)
}

func TestShardsOfStagesThatHaveNone(t *testing.T) {
	s := newStand(t)
	run := s.start() // parts is planning, report waits
	path := func(stage, rest string) string {
		return "/api/v1/runs/" + run.String() + "/stages/" + stage + "/shards" + rest
	}
	list := good[gen.ShardList](s, http.StatusOK, "GET", path("parts", ""), "")
	if list.Total != -1 || len(list.Items) != 0 {
		t.Errorf("while it is planned: %+v, want total -1 and none", list)
	}
	if p := good[gen.PackedShards](s, http.StatusOK, "GET", path("parts", "/packed"), ""); p.Total != -1 || len(p.States) != 0 {
		t.Errorf("packed: %+v, want total -1 and none", p)
	}
	list = good[gen.ShardList](s, http.StatusOK, "GET", path("report", ""), "")
	if list.Total != 1 || len(list.Items) != 1 || list.Items[0].State != gen.ShardStateWaiting || list.Items[0].Last != nil {
		t.Errorf("a stage that waits: %+v, want its one task, waiting", list)
	}
	plan := good[gen.ShardDetail](s, http.StatusOK, "GET", path("parts", "/-1"), "")
	want(t, "the plan", plan.State, gen.ShardStateReady)
	s.work(run, nil)
	plan = good[gen.ShardDetail](s, http.StatusOK, "GET", path("parts", "/-1"), "")
	want(t, "the plan, made", plan.State, gen.ShardStateSucceeded)
	want(t, "its attempts", len(plan.Attempts), 1)
	s.work(run, func(i int32) bool { return i == 2 })
	dead := good[gen.ShardDetail](s, http.StatusOK, "GET", path("parts", "/2"), "")
	want(t, "shard 2", dead.State, gen.ShardStateDead)
	if a := dead.Attempts; len(a) != 1 || a[0].Outcome != gen.OutcomeFailed || a[0].Failure == nil || a[0].Failure.Message != "boom 17" || a[0].Worker == nil {
		t.Errorf("attempts of shard 2: %+v, want one that failed with boom 17", a)
	}
	want(t, "shard 3", good[gen.ShardDetail](s, http.StatusOK, "GET", path("parts", "/3"), "").State, gen.ShardStateSucceeded)
	for _, rest := range []string{"/4", "/1000000"} {
		s.refused(http.StatusNotFound, gen.ProblemCodeNotFound, "GET", path("parts", rest), "")
	}
	s.refused(http.StatusNotFound, gen.ProblemCodeNotFound, "GET", path("report", "/-1"), "")
	s.refused(http.StatusNotFound, gen.ProblemCodeNotFound, "GET", path("report", "/1"), "")
	s.refused(http.StatusNotFound, gen.ProblemCodeNotFound, "GET", path("none", ""), "")
	for q, field := range map[string]string{"state=done": "state", "state=dead,,ready": "state", "indices=a": "indices", "indices=5-1": "indices", "indices=0-9999999": "indices", "cursor=AAAA": "cursor"} {
		s.refused(http.StatusUnprocessableEntity, gen.ProblemCodeInvalid, "GET", path("parts", "?"+q), "", field)
	}
}

func TestListedShardsHaveTheirKeys(t *testing.T) {
	s := newStand(t)
	x := scatter(s, 5, 600, 50)
	keys := make([]string, 600)
	for i := range keys {
		keys[i] = fmt.Sprintf("customer-%d", i)
	}
	for chunk := range 3 {
		s.exec(`INSERT INTO ax.shard_input (run_id, ord, generation, chunk, keys) VALUES ($1, 0, 1, $2, $3)`, x.run, chunk, keys[256*chunk:min(256*chunk+256, 600)])
	}
	for _, item := range x.list(url.Values{"indices": {"0,255-257,511-512,599"}}) {
		if item.Key == nil || *item.Key != keys[item.Index] {
			t.Errorf("shard %d has key %v, want %s", item.Index, item.Key, keys[item.Index])
		}
	}
	want(t, "the key of one", *good[gen.ShardDetail](s, http.StatusOK, "GET", x.path("/300"), "").Key, "customer-300")
}

func TestPackedArraysAreBase64(t *testing.T) {
	s := newStand(t)
	run := s.running()
	_, body := s.call("GET", "/api/v1/runs/"+run.String()+"/stages/parts/shards/packed", "")
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(body, &raw); err != nil {
		t.Fatal(err)
	}
	var text string
	if err := json.Unmarshal(raw["states"], &text); err != nil {
		t.Fatal(err)
	}
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(b) != 4 {
		t.Errorf("states %q: %v, want four bytes in base64", text, err)
	}
}
