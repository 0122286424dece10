package faults

import (
	"testing"
	"time"

	"axflow/internal/pgtest"
)

// A worker is killed with results that it has not written down: its work is done again, nothing is lost and nothing
// finishes twice, although the commit that was under way when it died may take place after its death.
func TestWorkerKilledWithUnflushedResults(t *testing.T) {
	t.Parallel()
	attempts(t, func(s *site) {
		s.shortLives()
		s.engine("engine")
		a := s.worker("a")
		_, enough := s.registered(a)
		const shards = 400
		run := s.begin(s.work, params{Shards: shards, Gates: []string{gateMany}})
		s.gates.await(1, "the first shard", at("a", gateMany))
		// From here on no result is written; first and plan have been.
		release := s.hold("LOCK TABLE ax.result IN SHARE MODE")
		s.gates.open()
		s.gates.await(shards, "shards that have run", at("a", gateMany))
		s.until("a commit that waits", "SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%FinishSpans%')")
		a.kill()
		enough()
		release()
		_, enough = s.registered(s.worker("b"))
		s.ended(run)
		enough()
		again := len(s.gates.seen(at("b", gateMany)))
		if again == 0 {
			s.t.Error("no shard was run again: the killed worker's results were not unflushed, or were lost without a trace")
		}
		if n := query[int](s, "SELECT count(*) FROM ax.result WHERE run_id = $1 AND delivery > 1 AND attempt = 1 AND outcome = 10", run); n != again {
			s.t.Errorf("%d shards ran again and %d results are of a second delivery in the first attempt", again, n)
		}
		s.t.Logf("%d of %d shards ran again", again, shards)
		s.settled()
	})
}

// A worker is stopped beyond its TTL, in the middle of its handlers, and continued: its late reports are refused, the
// effects of its transactions are not doubled, and it registers anew and works on.
func TestWorkerStoppedBeyondItsTTL(t *testing.T) {
	for _, point := range []string{gateCompute, gateInserted} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			attempts(t, func(s *site) {
				s.shortLives()
				s.engine("engine")
				a := s.worker("a")
				_, enough := s.registered(a)
				const shards = 3
				run := s.begin(s.effects, params{Shards: shards, Gates: []string{point, gatePlain}})
				first := append(s.gates.await(shards, "effects", at("a", point)), s.gates.await(shards, "plain shards", at("a", gatePlain))...)
				a.stop()
				enough()
				s.until("a is buried", "SELECT NOT EXISTS (SELECT 1 FROM ax.worker)")
				b := s.worker("b")
				s.gates.await(shards, "effects again", at("b", point))
				s.gates.await(shards, "plain shards again", at("b", gatePlain))
				s.gates.keep(func(x *arrival) bool { return x.Process == "a" })
				s.ended(run)
				if n := query[int](s, "SELECT count(*) FROM effect"); n != shards {
					s.t.Errorf("%d effects, want %d", n, shards)
				}
				s.gates.open() // what a has done late
				a.cont()
				s.until("a registers anew", "SELECT EXISTS (SELECT 1 FROM ax.worker WHERE pid = $1 AND id <> $2)", a.pid(), first[0].Worker)
				b.terminate()
				b.leaves()
				again := s.begin(s.effects, params{Shards: shards})
				s.ended(again)
				a.terminate()
				a.leaves() // its late reports have been made
				if n := query[int](s, "SELECT count(*) FROM ax.result WHERE worker_id = $1 AND shard >= 0", first[0].Worker); n != 0 {
					s.t.Errorf("%d late results were taken", n)
				}
				if n := query[int](s, "SELECT count(*) FROM effect"); n != 2*shards {
					s.t.Errorf("%d effects, want %d", n, 2*shards)
				}
				s.settled()
			})
		})
	}
}

// Work is handed to a worker that dies before it starts any of it.
func TestHandedToWorkerThatDies(t *testing.T) {
	t.Parallel()
	attempts(t, func(s *site) {
		s.shortLives()
		s.engine("engine")
		a := s.worker("a")
		_, enough := s.registered(a)
		s.ended(s.begin(s.single, params{})) // the leader knows a
		a.stop()
		runs, err := s.start(s.single, 5, params{})
		if err != nil {
			s.t.Fatal(err)
		}
		s.until("the hand-out to a", "SELECT count(*) = 5 FROM ax.flight WHERE run_id = ANY($1)", runs)
		enough()
		a.kill()
		_, enough = s.registered(s.worker("b"))
		s.ended(runs...)
		enough()
		if n := query[int](s, "SELECT count(*) FROM ax.result WHERE run_id = ANY($1) AND attempt = 1 AND delivery = 2", runs); n != len(runs) {
			s.t.Errorf("%d of %d runs have a first attempt in a second delivery", n, len(runs))
		}
		s.settled()
	})
}

// An InTx handler holds its transaction open: its siblings, and everything else, keep their speed.
func TestSlowTransactionHoldsNobodyUp(t *testing.T) {
	s := newSite(t, pgtest.New(t, pgtest.Pool(ownSessions)), nil)
	s.engine("engine")
	s.worker("a")
	watch := s.db.Stopwatch(t)
	load := func() time.Duration {
		watch.Reset()
		singles, err := s.start(s.single, 300, params{})
		if err != nil {
			t.Fatal(err)
		}
		works, err := s.start(s.work, 5, params{Shards: 300})
		if err != nil {
			t.Fatal(err)
		}
		effects, err := s.start(s.effects, 1, params{Shards: 50})
		if err != nil {
			t.Fatal(err)
		}
		s.ended(append(append(singles, works...), effects...)...)
		return watch.Elapsed()
	}
	load() // warm-up
	alone := load()

	const shards = 4
	s.gates.keep(func(x *arrival) bool { return x.Index == 0 })
	slow := s.begin(s.effects, params{Shards: shards, Gates: []string{gateInserted}})
	s.gates.await(shards, "transactions", at("a", gateInserted))
	s.until("the siblings' end", "SELECT count(*) = $2 FROM effect WHERE run = $1", slow, shards-1)
	beside := load()
	if n := query[int](s, "SELECT count(*) FROM ax.run WHERE run_id = $1 AND finished_at IS NULL", slow); n != 1 {
		t.Error("the slow run has ended: nothing was measured")
	}
	t.Logf("the load took %v alone and %v beside a transaction that is open", alone, beside)
	if beside > 3*alone+2*time.Second {
		t.Errorf("the load took %v alone and %v beside a transaction that is open", alone, beside)
	}
	s.gates.open()
	s.settled()
}

// SIGTERM: what has not started is handed back and runs elsewhere in the same attempt and delivery, what runs ends
// where it is, and the worker is off the list and leaves with exit code 0.
func TestDrain(t *testing.T) {
	t.Parallel()
	s := newSite(t, pgtest.New(t, pgtest.Pool(ownSessions)), nil)
	s.engine("engine")
	const shards, running = 20, 2
	a := s.spawn(role{Name: "a", Worker: true, Slots: running})
	run := s.begin(s.work, params{Shards: shards, Gates: []string{gateMany}})
	mine := s.gates.await(running, "running shards", at("a", gateMany))
	s.until("the hand-out of everything", "SELECT count(*) = 0 FROM ax.ready WHERE run_id = $1", run)
	a.terminate()
	s.until("what has not started is back", "SELECT coalesce(sum(n), 0) = $2 FROM ax.ready WHERE run_id = $1", run, shards-running)
	s.gates.keep(func(x *arrival) bool { return x.Process == "a" })
	s.worker("b")
	s.gates.await(shards-running, "shards that were handed back", at("b", gateMany))
	s.until("the results of b", "SELECT count(*) = $2 FROM ax.result WHERE run_id = $1 AND ord = $3 AND shard >= 0", run, shards-running, s.ord(s.work, "many"))
	if a.ended() {
		t.Fatal("the worker has not waited for its running shards")
	}
	s.gates.open()
	a.leaves()
	if n := query[int](s, "SELECT count(*) FROM ax.worker WHERE id = $1", mine[0].Worker); n != 0 {
		t.Error("the worker is still on the list")
	}
	s.ended(run)
	if n := query[int](s, "SELECT count(*) FROM ax.result WHERE run_id = $1 AND ord = $2 AND shard >= 0 AND attempt = 1 AND delivery = 1 AND outcome = 10",
		run, s.ord(s.work, "many")); n != shards {
		t.Errorf("%d of %d shards succeeded in their first attempt and delivery", n, shards)
	}
	if n := query[int](s, "SELECT count(*) FROM ax.result WHERE run_id = $1 AND worker_id = $2 AND ord = $3 AND shard >= 0", run, mine[0].Worker, s.ord(s.work, "many")); n != running {
		t.Errorf("the drained worker has finished %d shards, want the %d that ran", n, running)
	}
	for _, x := range s.gates.seen(at("b", gateMany)) {
		if x.Attempt != 1 || x.Delivery != 1 {
			t.Errorf("shard %d ran again in attempt %d, delivery %d, want 1 and 1", x.Index, x.Attempt, x.Delivery)
		}
	}
	if n := len(s.gates.seen(func(*arrival) bool { return true })); n != shards {
		t.Errorf("%d starts of %d shards", n, shards)
	}
	s.settled()
}
