package faults

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"axflow/internal/pgtest"
	"axflow/sql/hint"
)

// others are the sessions of everybody but the tests.
const others = "datname = current_database() AND application_name <> '" + testApp + "' AND pid <> pg_backend_pid()"

// workers are those of them that may be workers'.
const workers = others + " AND application_name NOT LIKE 'ax-leader-%' AND application_name NOT LIKE 'ax-elector-%'"

// cut ends sessions as soon as there are at least so many.
func (s *site) cut(least int, which string) {
	s.t.Helper()
	s.until(fmt.Sprintf("%d sessions to cut", least),
		"SELECT count(pg_terminate_backend(pid)) > 0 FROM (SELECT pid, count(*) OVER () AS n FROM pg_stat_activity WHERE "+which+") x WHERE n >= $1", least)
}

// Every session is ended, again and again under load; then only those that listen.
func TestSessionsTerminated(t *testing.T) {
	s := newSite(t, pgtest.New(t, pgtest.Pool(ownSessions)), nil)
	s.ttl = 3 * shortTTL // who leads resigns, unless it is cut off in that too
	s.engine("x")
	s.engine("y")
	s.worker("a")
	stop := s.stream()
	for range 4 {
		s.progress(60, "after the cut")
		s.cut(8, others) // two engines and a worker have more
	}
	for range 3 {
		s.progress(60, "after the cut of the listeners")
		// Those of three processes and two electors, and the test's.
		s.cut(6, "application_name IN ('ax-listen', 'ax-elector-leader') AND "+others)
	}
	s.progress(60, "after the last cut")
	stop()
	s.settled()
}

// PostgreSQL is stopped the hard way and started again, twice, under load: what it had acknowledged ends.
func TestDatabaseRestarted(t *testing.T) {
	s := newSite(t, pgtest.Own(t, pgtest.Pool(ownSessions)), nil)
	s.shortLeases() // who leads cannot resign, as the database is gone
	s.engine("x")
	s.engine("y")
	s.worker("a")
	stop := s.stream()
	for range 2 {
		s.progress(60, "after the restart")
		if err := s.db.Server.PG.ImmediateRestart(s.ctx); err != nil {
			t.Fatal(err)
		}
	}
	s.progress(60, "after the last restart")
	stop()
	s.settled()
}

// Nobody hears anything: heartbeats, reloads and scans alone bring the runs to their end.
func TestEveryHintDropped(t *testing.T) {
	t.Run("muted", func(t *testing.T) {
		t.Parallel()
		s := newSite(t, pgtest.New(t, pgtest.Pool(ownSessions)), nil)
		s.bus.Mute(true)
		heard := s.eavesdrop()
		s.unheard(role{Mute: true})
		if n := heard(); n > 0 {
			t.Errorf("%d hints were sent", n)
		}
	})
	t.Run("poll only", func(t *testing.T) {
		t.Parallel()
		s := newSite(t, pgtest.New(t, pgtest.Pool(ownSessions)), func(c *hint.Config) { c.PollOnly = true })
		s.unheard(role{PollOnly: true})
		if n := query[int](s, "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'ax-listen' AND "+others); n > 0 {
			t.Errorf("%d sessions listen", n)
		}
	})
}

// unheard brings runs to their end with an engine and a worker that play r.
func (s *site) unheard(r role) {
	s.t.Helper()
	r.Scan, r.Reload = 200*time.Millisecond, 200*time.Millisecond
	r.Name, r.Engine = "engine", true
	s.spawn(r)
	r.Name, r.Engine, r.Worker = "a", false, true
	s.spawn(r)
	for range 2 {
		if _, err := s.start(s.work, 2, params{Shards: 200}); err != nil {
			s.t.Fatal(err)
		}
		if _, err := s.start(s.effects, 1, params{Shards: 10}); err != nil {
			s.t.Fatal(err)
		}
	}
	s.settled()
}

// eavesdrop listens to what goes to the leader and to those who wait for runs; the returned function says how much
// has come.
func (s *site) eavesdrop() (heard func() int) {
	s.t.Helper()
	n := 0
	cfg := s.pool.Config().ConnConfig.Copy()
	cfg.OnNotification = func(*pgconn.PgConn, *pgconn.Notification) { n++ }
	conn, err := pgx.ConnectConfig(s.ctx, cfg)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(s.ctx)) })
	if _, err := conn.Exec(s.ctx, "LISTEN ax_engine; LISTEN ax_run"); err != nil {
		s.t.Fatal(err)
	}
	return func() int {
		if err := conn.Ping(s.ctx); err != nil { // what is pending comes with the answer
			s.t.Fatal(err)
		}
		return n
	}
}
