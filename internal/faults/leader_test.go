package faults

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/uuid"

	"axflow/internal/pgtest"
)

// The leader of two engines is killed again and again under load, each time after its term has moved work: every
// acknowledged run ends.
func TestLeaderKilledAgainAndAgain(t *testing.T) {
	s := newSite(t, pgtest.New(t, pgtest.Pool(ownSessions)), nil)
	s.shortLeases()
	const kills = 5
	const seed = 7
	rnd := rand.New(rand.NewPCG(seed, seed))
	s.engine("x")
	s.engine("y")
	s.worker("a")
	s.worker("b")
	stop := s.stream()
	seen := int64(0)
	next := func() (holder string) {
		pgtest.Eventually(t, patience, func() (bool, string) {
			var epoch int64
			if holder, epoch = s.lease(); holder == "" || epoch <= seen {
				return false, "no new term"
			}
			seen = epoch
			return true, ""
		})
		return holder
	}
	for killed := 0; killed < kills; {
		holder := next()
		// At a different moment of its work each time.
		s.progress(20+rnd.IntN(150), "the term of "+holder)
		if _, epoch := s.term(); epoch != seen {
			t.Logf("the term of epoch %d has ended by itself", seen)
			continue
		}
		s.engines[holder].kill()
		s.engine(holder)
		killed++
	}
	s.progress(20, "the last term, that of "+next())
	stop()
	s.settled()
	if n := query[int](s, "SELECT count(*) FROM ax.lease_term"); n < kills+1 {
		t.Errorf("%d terms after %d kills", n, kills)
	}
	if n := query[int](s, "SELECT count(DISTINCT epoch) FROM ax.result"); n < kills+1 {
		t.Errorf("%d terms have handed work out, want %d", n, kills+1)
	}
}

// standby starts two engines, of which one leads and the other stands by. Which is which may change until one is stopped.
func (s *site) standby() {
	s.t.Helper()
	s.shortLeases()
	s.leads(s.engine("x"))
	s.engine("y")
	s.until("y stands by", "SELECT count(*) = 2 FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'ax-elector-leader'")
}

// stoppedLeader is a leader that was stopped in its term, and the process that stands by.
type stoppedLeader struct {
	*process
	epoch   int64
	standby *process
	session int               // the backend that serves the statement in which it was stopped
	stopped *pgtest.Stopwatch // started when it was
}

// stopLeader stops the process that leads; if a statement is named, while it waits for a lock in that. Who has lost the lease
// before it has stopped, or has left the statement, is continued, and the one who leads then is stopped.
func (s *site) stopLeader(statement string) *stoppedLeader {
	s.t.Helper()
	l := new(stoppedLeader)
	_, first := s.term()
	pgtest.Eventually(s.t, patience, func() (bool, string) {
		var holder string
		holder, l.epoch = s.term()
		if l.epoch > first+1 { // nobody leads for long enough to get to the statement
			s.void("%d terms have ended by themselves", l.epoch-first)
		}
		if l.process = s.engines[holder]; !s.waitsIn(l, statement) {
			return false, holder + ", which leads, does not wait in " + statement
		}
		l.stop()
		if _, epoch := s.term(); epoch == l.epoch && s.waitsIn(l, statement) {
			return true, ""
		}
		l.cont()
		s.t.Logf("%s was stopped too late for its term of epoch %d", holder, l.epoch)
		return false, holder + ", which leads, is not stopped in time"
	})
	l.stopped = s.db.Stopwatch(s.t)
	for _, p := range s.engines {
		if p != l.process {
			l.standby = p
		}
	}
	return l
}

// waitsIn says whether the leader waits for a lock in a statement, and remembers its session.
func (s *site) waitsIn(l *stoppedLeader, statement string) bool {
	s.t.Helper()
	if statement == "" {
		return true
	}
	l.session = query[int](s, `SELECT coalesce(min(pid), 0) FROM pg_stat_activity WHERE datname = current_database()
		AND application_name = 'ax-leader-leader-' || $1::bigint AND wait_event_type = 'Lock' AND query LIKE '%' || $2 || '%'`, l.epoch, statement)
	return l.session != 0
}

// succeeded waits until the standby leads in the next term, bounds how long that takes, and presumes that the term goes on
// until enough is called.
func (s *site) succeeded(l *stoppedLeader) (enough func()) {
	s.t.Helper()
	s.until("a term after that of "+l.name, "SELECT epoch > $1 FROM ax.lease WHERE name = 'leader'", l.epoch)
	took, most := l.stopped.Elapsed(), s.ttl+5*time.Second // the leader's term has to run out first
	if took > most {
		s.t.Errorf("%s leads after %v, want at most %v", l.standby.name, took, most)
	}
	s.t.Logf("%s leads after %v", l.standby.name, took.Round(time.Millisecond))
	s.ledBy(l.standby, l.epoch+1)
	return s.reigns(l.standby, l.epoch+1)
}

// ledBy checks whose a term was.
func (s *site) ledBy(p *process, epoch int64) {
	s.t.Helper()
	if holder := query[string](s, "SELECT holder FROM ax.lease_term WHERE name = 'leader' AND epoch = $1", epoch); holder != p.name {
		s.t.Errorf("%s leads in epoch %d, want %s", holder, epoch, p.name)
	}
}

// wakes continues the old leader: it finds that its term is over and leaves the new one's alone, and leads again when the other
// resigns.
func (s *site) wakes(l *stoppedLeader, enough func()) {
	s.t.Helper()
	l.cont()
	if cause := l.leftTerm(l.epoch); cause == "" {
		s.t.Errorf("%s has not said why its term of epoch %d has ended", l.name, l.epoch)
	}
	s.ended(s.begin(s.work, params{Shards: 10}))
	enough()
	l.standby.terminate()
	l.standby.leaves()
	if l.standby.leftTerm(l.epoch+1) == lateRenewal {
		s.void("%s lost its lease of epoch %d by itself before it was to leave", l.standby.name, l.epoch+1)
	}
	s.leads(l.process)
	s.ledBy(l.process, l.epoch+2)
	s.ended(s.begin(s.work, params{Shards: 10}))
}

// A leader is stopped for three TTLs while it has nothing to do. The standby leads, and the old leader, when it is
// continued, stands by: it leads again when the other resigns.
func TestLeaderStoppedIdle(t *testing.T) {
	t.Parallel()
	attempts(t, func(s *site) {
		s.standby()
		s.worker("a")
		s.ended(s.begin(s.work, params{Shards: 10}))
		x := s.stopLeader("")
		before := query[time.Time](s, "SELECT clock_timestamp()")
		enough := s.succeeded(x)
		s.ended(s.begin(s.work, params{Shards: 10}))
		s.until("three TTLs", "SELECT clock_timestamp() > $1::timestamptz + 3 * $2::interval", before, s.ttl)
		s.wakes(x, enough)
		s.settled()
	})
}

// A leader is stopped in the middle of a transaction that holds the fence: it has taken a dead worker's flight and
// has not yet said where the work goes. Nothing of that is written; the standby leads in time all the same, and does it.
func TestLeaderStoppedInTransaction(t *testing.T) {
	t.Parallel()
	attempts(t, func(s *site) {
		s.shortLives()
		s.standby()
		a := s.worker("a")
		run := s.begin(s.work, params{Shards: 5, Gates: []string{gateMany}})
		s.gates.await(5, "shards", at("a", gateMany))
		var flight uuid.UUID // a's, which may have been buried before, and have a new one
		var release func()
		pgtest.Eventually(s.t, patience, func() (bool, string) {
			release = s.hold("SELECT FROM ax.flight WHERE run_id = $1 FOR UPDATE", run)
			if err := s.pool.QueryRow(s.ctx, "SELECT id FROM ax.flight WHERE run_id = $1", run).Scan(&flight); err != nil {
				release()
				return false, "the shards' flight: " + err.Error()
			}
			return true, ""
		})
		a.kill()
		x := s.stopLeader("SeizeOrphans")
		release()
		s.opens(x)
		s.gates.open()
		enough := s.succeeded(x)
		s.worker("b")
		s.ended(run)
		if by := query[[]string](s, "SELECT coalesce(array_agg(actor), '{}') FROM ax.journal WHERE kind = 'seized' AND detail->>'execution' = $1", flight.String()); len(by) != 1 || by[0] != fmt.Sprintf("leader/%d", x.epoch+1) {
			s.t.Errorf("the dead worker's flight was seized by %q, want by the leader of epoch %d alone", by, x.epoch+1)
		}
		s.wakes(x, enough)
		s.settled()
	})
}

// opens waits until the statement in which a leader was stopped has ended and its transaction is open. The attempt is void
// if the statement was given up before its lock came free.
func (s *site) opens(l *stoppedLeader) {
	s.t.Helper()
	pgtest.Eventually(s.t, patience, func() (bool, string) {
		state := query[string](s, "SELECT coalesce((SELECT state FROM pg_stat_activity WHERE pid = $1), 'gone')", l.session)
		if state != "active" && state != "idle in transaction" {
			s.void("the session in which %s was stopped is %s", l.name, state)
		}
		return state == "idle in transaction", "the session in which " + l.name + " was stopped is " + state
	})
}

// A leader is stopped while its statement holds the fence and waits for a row, for longer than its term. The standby
// leads in time, and the stale term hands nothing out when the row is free.
func TestLeaderStoppedInStatement(t *testing.T) {
	t.Parallel()
	attempts(t, func(s *site) {
		s.standby()
		run := s.begin(s.work, params{Shards: 5})
		release := s.hold("SELECT FROM ax.ready WHERE run_id = $1 FOR UPDATE", run)
		s.worker("a")
		x := s.stopLeader("CutSpans")
		enough := s.succeeded(x)
		release()
		s.ended(run)
		if n := query[int](s, "SELECT count(*) FROM ax.result WHERE run_id = $1 AND epoch <> $2", run, x.epoch+1); n != 0 {
			s.t.Errorf("%d results were handed out in another term than that of epoch %d", n, x.epoch+1)
		}
		s.wakes(x, enough)
		s.settled()
	})
}
