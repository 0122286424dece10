package faults

import (
	"testing"

	"github.com/google/uuid"

	"axflow/engine/control"
	"axflow/internal/pgtest"
)

// drain has an operator drain a worker.
func (s *site) drain(worker uuid.UUID) {
	s.t.Helper()
	touched, err := s.client.DrainWorker(s.ctx, worker, control.Who{Actor: "tester", Reason: "a test"})
	if err != nil || len(touched) != 1 {
		s.t.Fatalf("draining worker %s: %v, %v", worker, touched, err)
	}
}

// An operator drains a worker: it is handed nothing more although it has free slots again, what it has not started runs elsewhere,
// what runs ends where it is, and its process leaves with exit code 0.
func TestDrainByAnOperator(t *testing.T) {
	t.Parallel()
	s := newSite(t, pgtest.New(t, pgtest.Pool(ownSessions)), nil)
	s.engine("engine")
	const shards, running = 20, 2
	a := s.spawn(role{Name: "a", Worker: true, Slots: running})
	run := s.begin(s.work, params{Shards: shards, Gates: []string{gateMany}})
	mine := s.gates.await(running, "running shards", at("a", gateMany))
	s.until("the hand-out of everything", "SELECT count(*) = 0 FROM ax.ready WHERE run_id = $1", run)
	s.drain(mine[0].Worker)
	s.until("what has not started is back", "SELECT coalesce(sum(n), 0) = $2 FROM ax.ready WHERE run_id = $1", run, shards-running)
	if touched, err := s.client.DrainWorker(s.ctx, mine[0].Worker, control.Who{}); err != nil || len(touched) != 0 {
		t.Errorf("draining it again: %v, %v, want nothing", touched, err)
	}
	s.gates.keep(func(x *arrival) bool { return x.Process == "a" })
	single := s.begin(s.single, params{}) // its pool is free
	s.worker("b")
	s.ended(single)
	s.gates.await(shards-running, "shards that were handed back", at("b", gateMany))
	if a.ended() {
		t.Fatal("the worker has not waited for its running shards")
	}
	s.gates.open()
	a.leaves()
	s.ended(run)
	if n := query[int](s, "SELECT count(*) FROM ax.result WHERE worker_id = $1 AND dispatched_at > (SELECT min(at) FROM ax.audit WHERE verb = 'drain')", mine[0].Worker); n != 0 {
		t.Errorf("%d tasks were handed to the worker after it was to drain, and it ran them", n)
	}
	if n := query[int](s, "SELECT count(*) FROM ax.worker WHERE id = $1", mine[0].Worker); n != 0 {
		t.Error("the worker is still on the list")
	}
	s.settled()
}

// A worker that drains is killed: its work is done again as that of any dead worker.
func TestDrainingWorkerKilled(t *testing.T) {
	t.Parallel()
	attempts(t, func(s *site) {
		s.shortLives()
		s.engine("engine")
		a := s.spawn(role{Name: "a", Worker: true, Slots: 2})
		id, enough := s.registered(a)
		run := s.begin(s.work, params{Shards: 6, Gates: []string{gateMany}})
		s.gates.await(2, "running shards", at("a", gateMany))
		s.drain(id)
		s.until("what has not started is back", "SELECT coalesce(sum(n), 0) = 4 FROM ax.ready WHERE run_id = $1", run)
		a.kill()
		enough()
		s.gates.open()
		_, enough = s.registered(s.worker("b"))
		s.ended(run)
		enough()
		if n := query[int](s, "SELECT count(*) FROM ax.result WHERE run_id = $1 AND delivery = 2 AND attempt = 1 AND outcome = 10", run); n != 2 {
			s.t.Errorf("%d shards ran again, want the 2 that ran when the worker was killed", n)
		}
		s.until("the dead worker is buried", "SELECT NOT EXISTS (SELECT 1 FROM ax.worker WHERE id = $1)", id)
		s.settled()
	})
}

// In a process that has an engine too only the worker ends: the engine goes on leading, for other workers.
func TestDrainOfAWorkerBesideAnEngine(t *testing.T) {
	t.Parallel()
	s := newSite(t, pgtest.New(t, pgtest.Pool(ownSessions)), nil)
	x := s.spawn(role{Name: "x", Engine: true, Worker: true})
	s.ended(s.begin(s.single, params{}))
	_, epoch := s.lease()
	s.drain(query[uuid.UUID](s, "SELECT id FROM ax.worker"))
	s.until("the worker leaves", "SELECT NOT EXISTS (SELECT 1 FROM ax.worker)")
	run := s.begin(s.single, params{})
	s.worker("b")
	s.ended(run)
	if holder, now := s.lease(); now != epoch || x.ended() {
		t.Errorf("%s leads in epoch %d, want x in epoch %d", holder, now, epoch)
	}
	x.terminate()
	x.leaves()
	s.settled()
}
