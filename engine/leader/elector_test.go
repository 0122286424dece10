package leader_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"axflow/engine/leader"
	"axflow/internal/pgtest"
	"axflow/sql/db"
)

// slow makes everything but a notice of resignation slower than a test's patience.
func slow(cfg *leader.Config) { cfg.TTL, cfg.Renew = 10*time.Minute, 2*time.Minute }

func TestResigningHandsOverAtOnce(t *testing.T) {
	t.Parallel()
	pg := pgtest.New(t)
	engines := map[string]*engine{}
	terms := make(chan reign, 100)
	var holders []string
	for _, h := range []string{"a", "b", "c"} {
		engines[h] = start(t, pg, h, func(cfg *leader.Config) {
			slow(cfg)
			lead := cfg.Lead
			cfg.Lead = func(ctx context.Context, term leader.Term) error {
				terms <- reign{Term: term, ctx: ctx}
				return lead(ctx, term)
			}
		})
	}
	for epoch := int64(1); epoch <= 3; epoch++ {
		r := within(t, terms, "a leader")
		holder := query[string](t, pg, "SELECT holder FROM ax.lease WHERE epoch = $1", epoch)
		if r.Epoch != epoch || r.ApplicationName != "ax-leader-main-"+string(rune('0'+epoch)) || slices.Contains(holders, holder) {
			t.Fatalf("term %+v of %s, want a new leader's of epoch %d", r.Term, holder, epoch)
		}
		holders = append(holders, holder)
		if len(terms) > 0 {
			t.Fatalf("two lead at a time")
		}
		engines[holder].stop()
		within(t, engines[holder].ended, "the end of "+holder)
		if r.ctx.Err() == nil {
			t.Fatalf("%s has ended, its term has not", holder)
		}
	}
	if n := query[int](t, pg, "SELECT count(*) FROM ax.lease_term WHERE name = 'main' AND epoch BETWEEN 1 AND 3"); n != 3 {
		t.Fatalf("%d terms recorded, want 3", n)
	}
}

func TestPolling(t *testing.T) {
	t.Parallel()
	pg := pgtest.New(t)
	poll := func(cfg *leader.Config) { slow(cfg); cfg.PollOnly, cfg.Renew = true, 200*time.Millisecond }
	a := start(t, pg, "a", poll)
	within(t, a.terms, "a's term")
	b := start(t, pg, "b", poll)
	eventually(t, "b looks", func() bool {
		return query[int](t, pg, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'ax-elector-main'") == 2
	})
	a.stop()
	within(t, b.terms, "b's term")
}

func TestLeadReturns(t *testing.T) {
	t.Parallel()
	pg := pgtest.New(t)
	a := start(t, pg, "a", func(cfg *leader.Config) { cfg.TTL, cfg.Renew = 10*time.Minute, time.Second })
	ra := within(t, a.terms, "a's term")
	b := start(t, pg, "b", slow)
	for range 2 { // a contends again after a pause
		ra.quit <- errors.New("cannot lead")
		rb := within(t, b.terms, "b's term")
		if rb.Epoch != ra.Epoch+1 {
			t.Fatalf("epoch %d follows %d", rb.Epoch, ra.Epoch)
		}
		eventually(t, "a contends again", func() bool {
			return query[int](t, pg, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'ax-elector-main'") == 2
		})
		// b pauses for two minutes after it returns, so a is next.
		rb.quit <- nil
		ra = within(t, a.terms, "a's term")
		b.stop()
		within(t, b.ended, "b's end")
		b = start(t, pg, "b", slow)
	}
}

func TestKilledBackendKeepsTheTerm(t *testing.T) {
	t.Parallel()
	pg := pgtest.New(t)
	a := start(t, pg, "a", func(cfg *leader.Config) { cfg.TTL, cfg.Renew = time.Minute, 100*time.Millisecond })
	r := within(t, a.terms, "a's term")
	eventually(t, "first renewals", func() bool { return r.Renewals() >= 2 })
	if r.Failures() > 0 {
		t.Fatalf("%d failures before any fault", r.Failures())
	}
	exec(t, pg, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'ax-elector-main'")
	eventually(t, "a failure", func() bool { return r.Failures() >= 1 })
	n := r.Renewals()
	eventually(t, "renewals after it", func() bool { return r.Renewals() >= n+2 })
	if epoch := query[int64](t, pg, "SELECT epoch FROM ax.lease"); epoch != r.Epoch || r.ctx.Err() != nil {
		t.Fatalf("epoch %d after %d, term's ctx: %v", epoch, r.Epoch, r.ctx.Err())
	}
}

func TestBlockedRenewal(t *testing.T) {
	t.Parallel()
	pg := pgtest.New(t)
	a := start(t, pg, "a", func(cfg *leader.Config) { cfg.TTL, cfg.Renew = 20*time.Second, 100*time.Millisecond })
	r := within(t, a.terms, "a's term")
	tx, err := pg.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "SELECT FROM ax.lease WHERE name = 'main' FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a failure", func() bool { return r.Failures() >= 1 })
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	n := r.Renewals()
	eventually(t, "a renewal after it", func() bool { return r.Renewals() > n })
	if r.ctx.Err() != nil || r.Epoch != 1 {
		t.Fatalf("the term has ended: %v", context.Cause(r.ctx))
	}
}

// TestFencePassesRenewals: a transaction of the leader that lasts longer than the TTL does not cost it the
// lease.
func TestFencePassesRenewals(t *testing.T) {
	t.Parallel()
	pg := pgtest.New(t)
	a := start(t, pg, "a", func(cfg *leader.Config) { cfg.TTL, cfg.Renew = 20*time.Second, 50*time.Millisecond })
	r := within(t, a.terms, "a's term")
	tx, err := pg.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }()
	if err := db.New(tx).Fence(t.Context(), db.FenceParams{Name: r.Name, Epoch: r.Epoch}); err != nil {
		t.Fatal(err)
	}
	n := r.Renewals()
	eventually(t, "renewals beside the fence", func() bool { return r.Renewals() >= n+5 })
	if r.Failures() > 0 {
		t.Fatalf("%d renewals failed beside the fence", r.Failures())
	}
}

// TestCutOff: a leader that cannot reach the database ends its term before the lease expires, and
// another takes over; then it may lead again.
func TestCutOff(t *testing.T) {
	t.Parallel()
	pgtest.Attempts(t, func(t *testing.T, at *pgtest.Attempt) {
		pg := pgtest.New(t)
		watch := pg.Stopwatch(t)
		ttl := time.Duration(min(at.N, 3)) * 4 * time.Second
		set := func(cfg *leader.Config) { cfg.TTL, cfg.Renew = ttl, ttl/5 }
		a := start(t, pg, "a", set)
		ra := within(t, a.terms, "a's term")
		b := start(t, pg, "b", set)
		a.set(true)
		within(t, ra.ctx.Done(), "the end of a's term")
		if !query[bool](t, pg, "SELECT epoch = 1 AND expires_at > clock_timestamp() FROM ax.lease") {
			if stood := watch.Stood(); stood > ttl/20 { // a quarter of what is left of the lease
				at.Void("the machine stood still for %v while a's term ended", stood)
			}
			t.Error("a's term ended after its lease")
		}
		if cause := context.Cause(ra.ctx); !errors.Is(cause, leader.ErrLost) {
			t.Errorf("a's term ended for %v, want ErrLost", cause)
		}
		if now := time.Now(); now.Before(ra.TrustedUntil()) {
			t.Errorf("a's term ended %v early", ra.TrustedUntil().Sub(now))
		}
		rb := within(t, b.terms, "b's term")
		if rb.Epoch != 2 {
			t.Errorf("b's epoch %d, want 2", rb.Epoch)
		}
		a.set(false)
		eventually(t, "a contends again", func() bool {
			return query[int](t, pg, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'ax-elector-main'") == 2
		})
		b.stop()
		ra = within(t, a.terms, "a's second term")
		if cause := context.Cause(rb.ctx); cause != nil && strings.HasSuffix(cause.Error(), lateRenewal) {
			at.Void("b has lost its lease by itself")
		}
		if ra.Epoch != 3 {
			t.Errorf("a's epoch %d, want 3", ra.Epoch)
		}
	})
}

// TestClockGoneBack: a dead leader's lease runs for another hour, since the database's clock was set back
// by one. A contender takes it after it has watched it for its whole time, not before.
func TestClockGoneBack(t *testing.T) {
	t.Parallel()
	pg := pgtest.New(t)
	exec(t, pg, `INSERT INTO ax.lease VALUES ('main', 7, 'dead', now() + interval '1 hour', now() + interval '1 hour' - interval '1500 ms')`)
	begin := time.Now()
	a := start(t, pg, "a", func(cfg *leader.Config) { cfg.TTL, cfg.Renew = time.Minute, 100*time.Millisecond })
	r := within(t, a.terms, "a's term")
	if took := time.Since(begin); r.Epoch != 8 || took < 1500*time.Millisecond {
		t.Fatalf("took epoch %d after %v, want 8 after 1.5 s", r.Epoch, took)
	}
	eventually(t, "renewals", func() bool { return r.Renewals() >= 2 })
}

// TestEpochsNeverStepBack lets four engines fight while leaders are cut off, killed and sent home. Every
// leader writes through the fence as fast as it can, also beyond its term; in the order of the writes,
// epochs only rise.
func TestEpochsNeverStepBack(t *testing.T) {
	t.Parallel()
	pg := pgtest.New(t)
	exec(t, pg, "CREATE TABLE written (at bigserial PRIMARY KEY, epoch bigint NOT NULL)")
	stop := make(chan struct{})
	terms := make(chan reign, 1000)
	var engines []*engine
	for _, h := range []string{"a", "b", "c", "d"} {
		engines = append(engines, start(t, pg, h, func(cfg *leader.Config) {
			cfg.TTL, cfg.Renew = 500*time.Millisecond, 100*time.Millisecond
			cfg.Lead = func(ctx context.Context, term leader.Term) error {
				r := reign{term, ctx, make(chan error, 1)}
				terms <- r
				for {
					select {
					case <-stop:
						return nil
					case err := <-r.quit:
						return err
					default:
					}
					err := pgx.BeginFunc(context.Background(), pg.Pool, func(tx pgx.Tx) error {
						if err := db.New(tx).Fence(context.Background(), db.FenceParams{Name: term.Name, Epoch: term.Epoch}); err != nil {
							return err
						}
						_, err := tx.Exec(context.Background(), "INSERT INTO written (epoch) VALUES ($1)", term.Epoch)
						return err
					})
					if err != nil {
						return err // fenced: the only way in which this leader notices
					}
				}
			}
		}))
	}
	rnd := rand.New(rand.NewPCG(5, 6))
	for range 12 {
		r := within(t, terms, "the next leader")
		switch rnd.IntN(3) {
		case 0:
			r.quit <- nil
		case 1:
			exec(t, pg, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'ax-elector-main'")
			r.quit <- nil
		case 2:
			for _, e := range engines {
				e.set(true)
			}
			within(t, r.ctx.Done(), "the end of a term without a network")
			for _, e := range engines {
				e.set(false)
			}
		}
	}
	close(stop)
	for _, e := range engines {
		e.stop()
		within(t, e.ended, "the end of Run")
	}
	if n := query[int](t, pg, "SELECT count(*) FROM (SELECT epoch < lag(epoch) OVER (ORDER BY at) AS back FROM written) w WHERE back"); n > 0 {
		t.Errorf("the epoch stepped back %d times", n)
	}
	if n := query[int](t, pg, "SELECT count(DISTINCT epoch) FROM written"); n < 6 {
		t.Errorf("only %d epochs wrote anything: the test has lost its point", n)
	}
	if ok := query[bool](t, pg, "SELECT count(*) = max(epoch) AND min(epoch) = 1 FROM ax.lease_term"); !ok {
		t.Error("the recorded terms have holes")
	}
}
