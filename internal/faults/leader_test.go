package faults

import (
	"math/rand/v2"
	"testing"
	"time"

	"axflow/internal/pgtest"
)

// The leader of two engines is killed again and again under load, each time after its term has moved work: every
// acknowledged run ends.
func TestLeaderKilledAgainAndAgain(t *testing.T) {
	s := newSite(t, pgtest.New(t, pgtest.Pool(ownSessions)), nil)
	const kills = 5
	const seed = 7
	rnd := rand.New(rand.NewPCG(seed, seed))
	engines := map[string]*process{"x": s.engine("x"), "y": s.engine("y")}
	s.worker("a")
	s.worker("b")
	stop := s.stream()
	seen := int64(0)
	for range kills {
		var holder string
		pgtest.Eventually(t, patience, func() (bool, string) {
			var epoch int64
			holder, epoch = s.lease()
			if holder == "" || epoch <= seen {
				return false, "no new term"
			}
			seen = epoch
			return true, ""
		})
		// At a different moment of its work each time.
		s.progress(20+rnd.IntN(150), "the term of "+holder)
		engines[holder].kill()
		engines[holder] = s.engine(holder)
	}
	s.progress(20, "the last term")
	stop()
	s.settled()
	if n := query[int](s, "SELECT count(*) FROM ax.lease_term"); n < kills+1 {
		t.Errorf("%d terms after %d kills", n, kills)
	}
	if n := query[int](s, "SELECT count(DISTINCT epoch) FROM ax.result"); n < kills+1 {
		t.Errorf("%d terms have handed work out, want %d", n, kills+1)
	}
}

// takeover bounds how long a standby may take: the leader's term has to run out first.
const takeover = engineTTL + 5*time.Second

// standby starts two engines, of which the first leads and the second stands by.
func (s *site) standby() (x, y *process) {
	s.t.Helper()
	x = s.engine("x")
	s.leads(x)
	y = s.engine("y")
	s.until("y stands by", "SELECT count(*) = 2 FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'ax-elector-leader'")
	return x, y
}

// succeeds waits until y leads after x was stopped, and bounds how long that takes.
func (s *site) succeeds(y *process, stopped time.Time) {
	s.t.Helper()
	if epoch := s.leads(y); epoch != 2 {
		s.t.Errorf("%s leads in epoch %d, want 2", y.name, epoch)
	}
	took := time.Since(stopped)
	if took > takeover {
		s.t.Errorf("%s leads after %v, want at most %v", y.name, took, takeover)
	}
	s.t.Logf("%s leads after %v", y.name, took.Round(time.Millisecond))
}

// wakes continues the old leader: it finds that its term is over, and leads again when the other resigns.
func (s *site) wakes(x, y *process) {
	s.t.Helper()
	x.cont()
	x.said("no longer leading")
	s.ended(s.begin(s.work, params{Shards: 10}))
	if holder, epoch := s.lease(); holder != y.name || epoch != 2 {
		s.t.Errorf("%s leads in epoch %d after %s woke up, want %s in 2", holder, epoch, x.name, y.name)
	}
	y.terminate()
	y.leaves()
	if epoch := s.leads(x); epoch != 3 {
		s.t.Errorf("%s leads in epoch %d, want 3", x.name, epoch)
	}
	s.ended(s.begin(s.work, params{Shards: 10}))
}

// leaderWaits says whether a statement of the first term's leader waits for a lock.
const leaderWaits = "SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'ax-leader-leader-1' AND wait_event_type = 'Lock' AND query LIKE '%'||$1||'%')"

// A leader is stopped for three TTLs while it has nothing to do. The standby leads, and the old leader, when it is
// continued, stands by: it leads again when the other resigns.
func TestLeaderStoppedIdle(t *testing.T) {
	t.Parallel()
	s := newSite(t, pgtest.New(t, pgtest.Pool(ownSessions)), nil)
	x, y := s.standby()
	s.worker("a")
	s.ended(s.begin(s.work, params{Shards: 10}))
	x.stop()
	begun, before := time.Now(), query[time.Time](s, "SELECT clock_timestamp()")
	s.succeeds(y, begun)
	s.ended(s.begin(s.work, params{Shards: 10}))
	s.until("three TTLs", "SELECT clock_timestamp() > $1::timestamptz + 3 * $2::interval", before, engineTTL)
	s.wakes(x, y)
	s.settled()
}

// A leader is stopped in the middle of a transaction that holds the fence: it has taken a dead worker's flight and
// has not yet said where the work goes. Nothing of that is written; the standby leads in time all the same, and does it.
func TestLeaderStoppedInTransaction(t *testing.T) {
	t.Parallel()
	s := newSite(t, pgtest.New(t, pgtest.Pool(ownSessions)), nil)
	x, y := s.standby()
	a := s.worker("a")
	run := s.begin(s.work, params{Shards: 5, Gates: []string{gateMany}})
	s.gates.await(5, "shards", at("a", gateMany))
	release := s.hold("SELECT FROM ax.flight WHERE run_id = $1 FOR UPDATE", run)
	a.kill()
	s.until("x waits for the flight", leaderWaits, "SeizeOrphans")
	x.stop()
	begun := time.Now()
	release()
	s.until("x's transaction is open", "SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'ax-leader-leader-1' AND state = 'idle in transaction')")
	s.gates.open()
	s.succeeds(y, begun)
	s.worker("b")
	s.ended(run)
	if n := query[int](s, "SELECT count(*) FROM ax.journal WHERE kind = 'seized' AND actor <> 'leader/2'"); n != 0 {
		t.Errorf("%d seizures are of another term than the second", n)
	}
	if n := query[int](s, "SELECT count(*) FROM ax.journal WHERE kind = 'seized' AND run_id = $1", run); n != 1 {
		t.Errorf("%d seizures, want 1", n)
	}
	s.wakes(x, y)
	s.settled()
}

// A leader is stopped while its statement holds the fence and waits for a row, for longer than its term. The standby
// leads in time, and the stale term hands nothing out when the row is free.
func TestLeaderStoppedInStatement(t *testing.T) {
	t.Parallel()
	s := newSite(t, pgtest.New(t, pgtest.Pool(ownSessions)), nil)
	x, y := s.standby()
	run := s.begin(s.work, params{Shards: 5})
	release := s.hold("SELECT FROM ax.ready WHERE run_id = $1 FOR UPDATE", run)
	s.worker("a")
	s.until("x waits for the ready row", leaderWaits, "CutSpans")
	x.stop()
	s.succeeds(y, time.Now())
	release()
	s.ended(run)
	if n := query[int](s, "SELECT count(*) FROM ax.result WHERE run_id = $1 AND epoch <> 2", run); n != 0 {
		t.Errorf("%d results were handed out in another term than the second", n)
	}
	s.wakes(x, y)
	s.settled()
}
