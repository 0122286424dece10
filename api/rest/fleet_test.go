package rest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"

	"axflow/api/gen"
)

func TestQueues(t *testing.T) {
	s := newStand(t)
	const path = "/api/v1/queues/etl"
	fresh := good[gen.Queue](s, http.StatusOK, "GET", path, "")
	want(t, "configured", fresh.Configured, false)
	want(t, "version", fresh.Version, 0)
	want(t, "refuse_at", fresh.RefuseAt, 0.8)
	dry := s.act("PUT", path, `{"capacity":100,"dry_run":true}`)
	want(t, "touches of a question", len(dry), 1)
	want(t, "rows", s.count(`SELECT count(*) FROM ax.queue`), 0)
	body := `{"capacity":100,"concurrency":4,"weights":[60,20,10,5,3,2],"decay":0.5,"alert_at":0.5,"core_level":"P0","low_level":"P2","reason":"r"}`
	want(t, "touches", len(s.act("PUT", path, body)), 1)
	want(t, "touches of the second", len(s.act("PUT", path, body)), 0)
	q := good[gen.Queue](s, http.StatusOK, "GET", path, "")
	want(t, "capacity", q.Capacity, 100)
	want(t, "concurrency", q.Concurrency, 4)
	want(t, "weights", len(q.Weights), 6)
	want(t, "decay", *q.Decay, 0.5)
	want(t, "alert_at", q.AlertAt, 0.5)
	want(t, "resume_at", q.ResumeAt, 0.4)
	want(t, "core", q.CoreLevel, gen.LevelP0)
	want(t, "low", q.LowLevel, gen.LevelP2)
	want(t, "version", q.Version, 1)
	want(t, "pressure", q.Pressure, gen.QueuePressureNormal)
	want(t, "touches", len(s.act("PUT", path, `{"capacity":200,"version":1}`)), 1)
	s.refused(409, gen.ProblemCodeConflict, "PUT", path, `{"capacity":300,"version":1}`)
	want(t, "what is left out is the default", good[gen.Queue](s, http.StatusOK, "GET", path, "").Concurrency, 0)
	want(t, "touches", len(s.act("POST", path+"/pause", `{"reason":"night"}`)), 1)
	want(t, "touches of the second", len(s.act("POST", path+"/pause", ``)), 0)
	list := good[gen.QueueList](s, http.StatusOK, "GET", "/api/v1/queues", "")
	want(t, "queues", len(list.Items), 1)
	want(t, "hold", *list.Items[0].Hold.Reason, "night")
	want(t, "touches", len(s.act("POST", path+"/resume", ``)), 1)
	want(t, "touches of the second", len(s.act("POST", path+"/resume", ``)), 0)
	want(t, "touches of a question", len(s.act("DELETE", path+"?dry_run=true", ``)), 1)
	want(t, "touches", len(s.act("DELETE", path+"?reason=clean", ``)), 1)
	want(t, "touches of the second", len(s.act("DELETE", path, ``)), 0)
	want(t, "audit", s.count(`SELECT count(*) FROM ax.audit WHERE verb = 'clear_queue' AND reason = 'clean'`), 1)
	s.refused(409, gen.ProblemCodeConflict, "PUT", path, `{"capacity":300,"version":2}`)
	run := s.running()
	s.handOut(run)
	list = good[gen.QueueList](s, http.StatusOK, "GET", "/api/v1/queues", "")
	want(t, "queue", list.Items[0].Name, "default")
	want(t, "in flight", list.Items[0].InFlight, 4)
}

func TestQueuesRefuseWhatIsWrong(t *testing.T) {
	s := newStand(t)
	for body, fields := range map[string]string{
		`{"alert_at":0.9}`:                     "/resume_at",
		`{"resume_at":0}`:                      "/resume_at",
		`{"core_level":"P4"}`:                  "/core_level",
		`{"core_level":"P2","low_level":"P2"}`: "/core_level",
		`{"reason":"a\u0000b"}`:                "/reason",
	} {
		s.refused(422, gen.ProblemCodeInvalid, "PUT", "/api/v1/queues/etl", body, strings.Fields(fields)...)
	}
	for _, body := range []string{`{"capacity":-1}`, `{"weights":[1,2,3]}`, `{"weights":[0,1,1,1,1,1]}`, `{"decay":11}`, `{"version":0}`, `{"colour":"red"}`, `{"pause_at":1.5}`, `{"core_level":"P7"}`, `7`} {
		if status, text := s.call("PUT", "/api/v1/queues/etl", body); status < 400 || status >= 500 {
			t.Errorf("%s: %d %s, want a refusal", body, status, text)
		}
	}
	for _, x := range [][2]string{{"GET", "/api/v1/queues/a%20b"}, {"PUT", "/api/v1/queues/a%00b"}, {"DELETE", "/api/v1/queues/a%00b"}, {"POST", "/api/v1/queues/a%00b/pause"}, {"POST", "/api/v1/queues/a%00b/resume"}} {
		body := ""
		if x[0] == "PUT" {
			body = "{}"
		}
		if status, text := s.call(x[0], x[1], body); status < 400 || status >= 500 {
			t.Errorf("%v: %d %s, want a refusal", x, status, text)
		}
	}
	s.refused(400, gen.ProblemCodeInvalid, "DELETE", "/api/v1/queues/etl?reason=a%00b", "", "reason")
	want(t, "audit", s.count(`SELECT count(*) FROM ax.audit`), 0)
}

func TestPools(t *testing.T) {
	s := newStand(t)
	const path = "/api/v1/pools/recon/parts"
	want(t, "touches of a question", len(s.act("PUT", path, `{"slots":7,"dry_run":true}`)), 1)
	want(t, "touches", len(s.act("PUT", path, `{"slots":7,"reason":"r"}`)), 1)
	want(t, "touches of the second", len(s.act("PUT", path, `{"slots":7}`)), 0)
	list := good[gen.PoolList](s, http.StatusOK, "GET", "/api/v1/pools", "")
	want(t, "pools", len(list.Items), 1)
	p := list.Items[0]
	want(t, "pool", p.Flow+"/"+p.Stage, "recon/parts")
	want(t, "set", *p.Set, 7)
	want(t, "by", *p.SetBy, "local:ada")
	want(t, "workers", p.Workers, 1)
	want(t, "slots", p.Slots, 4)
	theirs, err := s.theirs.ListPoolsWithResponse(s.ctx)
	if err != nil || len(theirs.JSON200.Items) != 0 {
		t.Errorf("pools of another namespace: %v, %s", err, theirs.Body)
	}
	for _, body := range []string{`{"slots":0}`, `{"slots":10001}`, `{}`} {
		if status, text := s.call("PUT", path, body); status < 400 || status >= 500 {
			t.Errorf("%s: %d %s, want a refusal", body, status, text)
		}
	}
	s.refused(422, gen.ProblemCodeInvalid, "PUT", "/api/v1/pools/re%2Fcon/parts", `{"slots":1}`)
	want(t, "touches", len(s.act("DELETE", path, ``)), 1)
	want(t, "touches of the second", len(s.act("DELETE", path, ``)), 0)
}

func TestWorkers(t *testing.T) {
	s := newStand(t)
	other := uuid.Must(uuid.NewV7())
	s.register(other, "other")
	s.handOut(s.running())
	list := good[gen.WorkerList](s, http.StatusOK, "GET", "/api/v1/workers", "")
	want(t, "workers", len(list.Items), 1)
	w := list.Items[0]
	want(t, "id", w.Id, s.worker)
	want(t, "state", w.State, gen.WorkerStateActive)
	want(t, "flights", w.Flights, 1)
	want(t, "tasks", w.Tasks, 4)
	want(t, "label", w.Labels[0], "gpu")
	want(t, "slots", w.Handlers["recon/parts@x"], 4)

	drain := "/api/v1/workers/" + s.worker.String() + "/drain"
	want(t, "touches of a question", len(s.act("POST", drain, `{"dry_run":true}`)), 1)
	want(t, "asked", s.count(`SELECT count(*) FROM ax.worker WHERE drain_asked_at IS NOT NULL`), 0)
	touched := s.act("POST", drain, `{"reason":"kernel"}`)
	want(t, "what", touched[0].What, "worker "+s.worker.String()+" (box, pid 42) drains and ends")
	want(t, "touches of the second", len(s.act("POST", drain, ``)), 0)
	want(t, "state", good[gen.WorkerList](s, http.StatusOK, "GET", "/api/v1/workers", "").Items[0].State, gen.WorkerStateDraining)
	want(t, "audit", s.count(`SELECT count(*) FROM ax.audit WHERE verb = 'drain' AND target = 'worker/' || $1 AND reason = 'kernel'`, s.worker.String()), 1)
	for _, id := range []uuid.UUID{other, uuid.New()} {
		s.refused(404, gen.ProblemCodeNotFound, "POST", "/api/v1/workers/"+id.String()+"/drain", ``)
	}
	want(t, "asked in another namespace", s.count(`SELECT count(*) FROM ax.worker WHERE namespace = 'other' AND drain_asked_at IS NOT NULL`), 0)
}

func TestCircuits(t *testing.T) {
	s := newStand(t)
	move := func(how, body string) []gen.Touch { return s.act("POST", "/api/v1/circuits/"+how, body) }
	const warehouse = `{"kind":"downstream","name":"warehouse","reason":"night"}`
	want(t, "touches of a question", len(move("open", `{"kind":"downstream","name":"warehouse","dry_run":true}`)), 1)
	want(t, "touches", len(move("open", warehouse)), 1)
	want(t, "touches of the second", len(move("open", warehouse)), 0)
	want(t, "touches", len(move("open", `{"kind":"handler","name":"recon/parts"}`)), 1)
	list := good[gen.CircuitList](s, http.StatusOK, "GET", "/api/v1/circuits", "")
	want(t, "circuits", len(list.Items), 2)
	c := list.Items[0]
	want(t, "name", c.Name, "warehouse")
	want(t, "state", c.State, gen.CircuitStateOpen)
	want(t, "manual", c.Manual, true)
	want(t, "actor", *c.Actor, "local:ada")
	want(t, "reason", *c.Reason, "night")
	theirs, err := s.theirs.ListCircuitsWithResponse(s.ctx)
	if err != nil || len(theirs.JSON200.Items) != 0 {
		t.Errorf("circuits of another namespace: %v, %s", err, theirs.Body)
	}
	want(t, "touches", len(move("close", warehouse)), 1)
	want(t, "touches of the second", len(move("close", warehouse)), 0)
	for _, body := range []string{`{"kind":"handler","name":"recon"}`, `{"kind":"handler","name":"a/b/c"}`, `{"kind":"downstream","name":"a\u0000b"}`, `{"kind":"downstream","name":"a b"}`} {
		s.refused(422, gen.ProblemCodeInvalid, "POST", "/api/v1/circuits/open", body, "/name")
	}
}

func TestSettings(t *testing.T) {
	s := newStand(t)
	want(t, "touches of a question", len(s.act("PUT", "/api/v1/settings/aging", `{"on":false,"dry_run":true}`)), 1)
	want(t, "touches", len(s.act("PUT", "/api/v1/settings/aging", `{"on":false,"reason":"r"}`)), 1)
	want(t, "touches of the second", len(s.act("PUT", "/api/v1/settings/aging", `{"on":false}`)), 0)
	for _, x := range good[gen.SettingList](s, http.StatusOK, "GET", "/api/v1/settings", "").Items {
		want(t, x.Name, x.On, x.Name != "aging")
		want(t, x.Name+" by default", x.Default, x.Name != "aging")
	}
	s.refused(404, gen.ProblemCodeNotFound, "PUT", "/api/v1/settings/gravity", `{"on":true}`)
	if status, text := s.call("PUT", "/api/v1/settings/aging", `{}`); status < 400 || status >= 500 {
		t.Errorf("nothing said: %d %s", status, text)
	}
}
