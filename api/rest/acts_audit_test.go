package rest_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/uuid"

	"axflow/api"
)

// deed is one operation that acts, in a form that does something.
type deed struct {
	method, path string         // with {x} for the id of what make makes
	body         map[string]any // with reason and dry_run where they are taken
	make         func(*stand) uuid.UUID
	verb, target string // of the audit, with {x}
	bad          string // a body that is refused; "": none is
	silent       bool   // it takes no reason
	inQuery      bool   // reason and dry_run are parameters
}

func nothing(*stand) uuid.UUID { return uuid.Nil }

func held(s *stand) uuid.UUID {
	run := s.running()
	s.exec(`INSERT INTO ax.hold (namespace, kind, name, actor) VALUES ('default', 'run', $1, 'x')`, run.String())
	return run
}

// deeds are all operations that act but those of access and webhooks, by operation; those with verbs once a verb.
func deeds() map[string][]deed {
	type body = map[string]any
	onRun := func(verb, named string, b body, bad string, prepare func(*stand) uuid.UUID) deed {
		return deed{method: "POST", path: runs + "/{x}/acts/" + verb, body: b, make: prepare, verb: named, target: "run/{x}", bad: bad}
	}
	onStage := func(verb, named, stageName string, b body, bad string, prepare func(*stand) uuid.UUID) deed {
		return deed{method: "POST", path: runs + "/{x}/stages/" + stageName + "/acts/" + verb, body: b, make: prepare, verb: named, target: "run/{x}/" + stageName, bad: bad}
	}
	bulk := func(verb, named string, b body, bad string, prepare func(*stand) uuid.UUID) deed {
		if b == nil {
			b = body{}
		}
		b["filter"] = body{"runs": []string{"{x}"}}
		target := "run/{x}"
		if b["stage"] != nil {
			target += "/" + b["stage"].(string)
		}
		return deed{method: "POST", path: "/api/v1/bulk/" + verb, body: b, make: prepare, verb: named, target: target, bad: bad}
	}
	put := func(path string, b body, bad, verb, target string) deed {
		return deed{method: "PUT", path: path, body: b, make: nothing, verb: verb, target: target, bad: bad}
	}
	post := func(path string, b body, prepare func(*stand) uuid.UUID, verb, target, bad string) deed {
		return deed{method: "POST", path: path, body: b, make: prepare, verb: verb, target: target, bad: bad}
	}
	gone := func(path, verb, target, setUp string) deed {
		return deed{method: "DELETE", path: path, make: func(s *stand) uuid.UUID { s.exec(setUp); return uuid.Nil }, verb: verb, target: target, inQuery: true}
	}
	running, failed := (*stand).running, (*stand).failed
	const wrongForce = `{"force":true}`
	return map[string][]deed{
		"startRun": {{method: "POST", path: runs, body: body{"flow": "recon", "params": body{"date": "2026-11-29"}}, make: nothing, verb: "start", target: "run/%",
			bad: `{"flow":"recon"}`, silent: true}},
		"actOnRun": {
			onRun("cancel", "cancel", nil, `{"level":"P1"}`, running), onRun("pause", "pause", nil, wrongForce, running), onRun("resume", "resume", nil, wrongForce, held),
			onRun("retry", "retry", nil, wrongForce, failed), onRun("level", "set_level", body{"level": "P0"}, `{}`, running),
			onRun("expedite", "expedite", nil, wrongForce, running), onRun("demote", "demote", nil, wrongForce, running),
		},
		"actOnStage": {
			onStage("retry", "retry", "parts", nil, `{"shards":"0"}`, failed), onStage("rerun", "rerun", "parts", nil, `{"output":1}`, failed),
			onStage("rerun", "rerun_shards", "parts", body{"shards": "0"}, `{"shards":"2"}`, failed), onStage("skip", "skip", "report", nil, `{"shards":"9"}`, running),
			onStage("skip", "skip_shards", "parts", body{"shards": "0"}, `{"shards":"9"}`, running),
			onStage("mark-success", "mark_success", "parts", body{"output": 1}, `{"shards":"9"}`, running),
			onStage("replay", "replay", "parts", nil, `{"shards":"0"}`, failed), onStage("discard", "discard", "parts", nil, `{"shards":"0"}`, failed),
			onStage("level", "set_level", "parts", body{"level": "P0"}, `{}`, running), onStage("expedite", "expedite", "parts", nil, `{"shards":"0"}`, running),
			onStage("demote", "demote", "parts", nil, `{"shards":"0"}`, running),
		},
		"actOnRuns": {
			bulk("cancel", "cancel", nil, `{"filter":{}}`, running), bulk("pause", "pause", nil, `{"filter":{}}`, running), bulk("resume", "resume", nil, `{"filter":{}}`, held),
			bulk("retry", "retry", nil, `{"filter":{}}`, failed), bulk("rerun", "rerun", body{"stage": "parts"}, `{"filter":{}}`, failed),
			bulk("skip", "skip", body{"stage": "report"}, `{"filter":{}}`, running), bulk("mark-success", "mark_success", body{"stage": "parts"}, `{"filter":{}}`, running),
			bulk("level", "set_level", body{"level": "P0"}, `{"filter":{}}`, running), bulk("expedite", "expedite", nil, `{"filter":{}}`, running),
			bulk("demote", "demote", nil, `{"filter":{}}`, running),
		},
		"holdFlow": {
			post("/api/v1/flows/recon/pause", nil, nothing, "pause", "flow/recon", `{"force":true}`),
			post("/api/v1/flows/recon/resume", nil, func(s *stand) uuid.UUID {
				s.exec(`INSERT INTO ax.hold (namespace, kind, name, actor) VALUES ('default', 'flow', 'recon', 'x') ON CONFLICT DO NOTHING`)
				return uuid.Nil
			}, "resume", "flow/recon", ""),
		},
		"holdQueue": {
			post("/api/v1/queues/etl/pause", nil, nothing, "pause", "queue/etl", ""),
			post("/api/v1/queues/etl/resume", nil, func(s *stand) uuid.UUID {
				s.exec(`INSERT INTO ax.hold (namespace, kind, name, actor) VALUES ('default', 'queue', 'etl', 'x') ON CONFLICT DO NOTHING`)
				return uuid.Nil
			}, "resume", "queue/etl", ""),
		},
		"setQueue":   {put("/api/v1/queues/new", body{"capacity": 7}, `{"alert_at":0.99}`, "set_queue", "queue/new")},
		"clearQueue": {gone("/api/v1/queues/old", "clear_queue", "queue/old", `INSERT INTO ax.queue (namespace, name) VALUES ('default', 'old')`)},
		"setPool":    {put("/api/v1/pools/recon/parts", body{"slots": 3}, `{"slots":0}`, "set_pool", "pool/recon/parts")},
		"clearPool":  {gone("/api/v1/pools/recon/report", "clear_pool", "pool/recon/report", `INSERT INTO ax.pool (namespace, handler, slots, actor) VALUES ('default', 'recon/report', 3, 'x')`)},
		"drainWorker": {post("/api/v1/workers/{x}/drain", nil, func(s *stand) uuid.UUID {
			id := uuid.Must(uuid.NewV7())
			s.register(id, "default")
			return id
		}, "drain", "worker/{x}", `{"force":true}`)},
		"moveCircuit": {
			post("/api/v1/circuits/open", body{"kind": "downstream", "name": "lake"}, nothing, "open_circuit", "circuit/downstream/lake", `{"kind":"handler","name":"lake"}`),
			post("/api/v1/circuits/close", body{"kind": "downstream", "name": "sea"}, func(s *stand) uuid.UUID {
				s.exec(`INSERT INTO ax.circuit (namespace, kind, name, state, actor) VALUES ('default', 'downstream', 'sea', 1, 'x')`)
				return uuid.Nil
			}, "close_circuit", "circuit/downstream/sea", `{"kind":"handler","name":"sea"}`),
		},
		"setSetting": {put("/api/v1/settings/wheel", body{"on": false}, `{}`, "set_setting", "setting/wheel")},
		"replayDeadLetters": {{method: "POST", path: deadLetters + "/replay", body: body{"filter": body{"run": "{x}"}}, make: failed, verb: "replay", target: "replay/%",
			bad: `{"filter":{}}`}},
		"discardDeadLetters": {post(deadLetters+"/discard", body{"filter": body{"run": "{x}"}}, failed, "discard", "run/{x}", `{"filter":{}}`)},
		"cancelReplay": {post("/api/v1/replays/{x}/cancel", nil, func(s *stand) uuid.UUID {
			id := uuid.Must(uuid.NewV7())
			s.exec(`INSERT INTO ax.replay (id, namespace, state, filter, total, actor) VALUES ($1, 'default', 'running', '{}', 1, 'x')`, id)
			return id
		}, "cancel_replay", "replay/{x}", `{"force":true}`)},
	}
}

// elsewhere are the operations that act and are tested with their own parts.
var elsewhere = []string{"createToken", "revokeToken", "createWebhook", "deleteWebhook", "testWebhook", "redeliver"}

// Every act writes who did what, once and in its own transaction: what cannot be audited is not done. A question and a refusal
// write nothing, and nor does anybody of another namespace.
func TestEveryActIsAudited(t *testing.T) {
	s := newStand(t)
	doc, err := openapi3.NewLoader().LoadFromData(api.Spec)
	if err != nil {
		t.Fatal(err)
	}
	all := deeds()
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			if method != http.MethodGet && all[op.OperationID] == nil && !slices.Contains(elsewhere, op.OperationID) {
				t.Errorf("%s %s (%s) acts, and nobody looks whether it is audited", method, path, op.OperationID)
			}
		}
	}
	_, theirs := s.serve("other", "local:bob")
	for _, name := range slices.Sorted(maps.Keys(all)) {
		for _, d := range all[name] {
			s.audited(theirs, d)
		}
	}
}

func (s *stand) audited(theirs http.RoundTripper, d deed) {
	s.t.Helper()
	id := d.make(s).String()
	of := func(text string) string { return strings.ReplaceAll(text, "{x}", id) }
	send := func(trip http.RoundTripper, text string, more ...string) (int, []byte) {
		path := of(d.path)
		if d.inQuery {
			path, text = path+"?"+strings.Join(more, "&"), ""
		}
		return s.callOn(trip, d.method, path, of(text))
	}
	lines := func() int { return s.count(`SELECT count(*) FROM ax.audit`) }
	before := lines()
	shape := d.method + " " + of(d.path)
	if status, body := send(s.raw, d.text("dry_run", true), "dry_run=true"); status != http.StatusOK || lines() != before {
		s.t.Errorf("%s as a question: %d %s, %d lines in the audit, want 200 and none", shape, status, body, lines()-before)
	}
	if d.bad != "" {
		if status, body := send(s.raw, d.bad); status < 400 || status >= 500 || lines() != before {
			s.t.Errorf("%s, wrong: %d %s, %d lines in the audit, want a refusal and none", shape, status, body, lines()-before)
		}
	}
	if strings.Contains(d.path+d.text("", nil), "{x}") {
		if status, body := send(theirs, d.text("", nil)); status != http.StatusNotFound && !strings.Contains(string(body), `"runs":[]`) || lines() != before {
			s.t.Errorf("%s, from another namespace: %d %s, %d lines in the audit, want nothing done and none", shape, status, body, lines()-before)
		}
	}
	reason := "because"
	if d.silent {
		reason = ""
	}
	text := d.text("reason", reason)
	if d.silent {
		text = d.text("", nil)
	}
	s.exec(`ALTER TABLE ax.audit ADD CONSTRAINT full_disk CHECK (false) NOT VALID`)
	if status, body := send(s.raw, text, "reason="+reason); status != http.StatusInternalServerError {
		s.t.Errorf("%s, which cannot be audited: %d %s, want 500", shape, status, body)
	}
	s.exec(`ALTER TABLE ax.audit DROP CONSTRAINT full_disk`)
	status, body := send(s.raw, text, "reason="+reason) // as if it had never been tried
	if status != http.StatusOK && status != http.StatusCreated {
		s.t.Errorf("%s: %d %s", shape, status, body)
		return
	}
	if n := s.count(`SELECT count(*) FROM ax.audit WHERE namespace = 'default' AND actor = 'local:ada' AND verb = $1 AND target LIKE $2 AND reason = $3`,
		d.verb, of(d.target), reason); n != 1 || lines() != before+1 {
		s.t.Errorf("%s: %d lines of %s on %s, and %d in all, want 1 (%s)", shape, n, d.verb, of(d.target), lines()-before, body)
	}
	s.exec(`DELETE FROM ax.audit`)
}

// text is the body with one more field.
func (d deed) text(field string, value any) string {
	if field == "" && d.body == nil {
		return ""
	}
	b := maps.Clone(d.body)
	if b == nil {
		b = make(map[string]any)
	}
	if field != "" {
		b[field] = value
	}
	text, err := json.Marshal(b)
	if err != nil {
		panic(err)
	}
	return string(text)
}
