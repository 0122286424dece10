// Package leader elects one leader among any number of engines by a lease row in the database.
//
// The row carries an epoch. A contender takes an expired lease by compare-and-set, in the database's time,
// and raises the epoch; the leader renews it. Every transaction of the leader begins with the fence (package
// sql), which holds the row FOR KEY SHARE under the leader's epoch: renewals touch no key and pass, a
// take-over raises a key and waits for the write in flight, and after it the old epoch's fence fails. So two
// leaders never write, whatever clocks, pauses and networks do; the rest of this package only makes that the
// right one leads soon.
//
// The leader trusts its lease for four fifths of the TTL, on its machine's monotonic clock, counted from
// before the renewal was sent: its context ends before the lease does. (On a machine that slept the clock
// stood still; the fence is what holds then.) A leader that ends gives the lease away and says so by NOTIFY.
// One that froze inside a transaction holds the row: a contender waits for it for min(1 s, TTL/5) beyond the
// expiry, then ends the sessions that bear the old terms' application_name.
package leader

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"axflow/sql/db"
)

// ErrLost is the cause of a Lead context that ended because the lease was lost, or could not be renewed in
// time to trust it.
var ErrLost = errors.New("the lease is lost")

// Elector contends for one lease. Make it with New and call Run once.
type Elector struct {
	cfg     Config
	watched watch
	closing sync.WaitGroup
}

// watch is how long a contender has seen the lease without a renewal, on its own monotonic clock.
type watch struct {
	epoch     int64
	renewedAt time.Time
	since     time.Time
}

// New checks the config; its error names every fault at once.
func New(cfg Config) (*Elector, error) {
	cfg, err := cfg.checked()
	if err != nil {
		return nil, fmt.Errorf("leader elector: %w", err)
	}
	return &Elector{cfg: cfg}, nil
}

// Run contends, leads and contends again until ctx ends; then it gives a held lease away and returns nil.
// What goes wrong meanwhile is logged and tried again. Every goroutine that it starts, Lead's included, has
// ended when it returns; only pgx's clean-up of a connection whose server does not answer may take longer.
func (e *Elector) Run(ctx context.Context) error {
	defer e.closing.Wait()
	failed := 0 // in a row
	for ctx.Err() == nil {
		led, err := e.contend(ctx)
		if led {
			failed = 0
		}
		if err == nil || ctx.Err() != nil {
			continue
		}
		failed++
		e.cfg.Logger.Warn("contending for the lease failed; trying again", "lease", e.cfg.Name, "failed", failed, "error", err)
		sleep(ctx, min(e.cfg.Renew, 50*time.Millisecond<<min(failed, 10)))
	}
	return nil
}

// contend opens a session, waits for a term and leads it. It returns at the end of the term, or with what
// broke the session before.
func (e *Elector) contend(ctx context.Context) (led bool, err error) {
	s, err := e.connect(ctx)
	if err != nil {
		return false, fmt.Errorf("connecting: %w", err)
	}
	for {
		epoch, sent, err := e.campaign(ctx, s)
		switch {
		case err != nil:
			s.close()
			return false, err
		case epoch > 0:
			e.lead(ctx, s, epoch, sent)
			return true, nil
		}
	}
}

// campaign looks at the lease once, and takes it if it may or else waits until looking again makes sense.
// It returns the epoch taken, if any, and the time before the request for it was sent.
func (e *Elector) campaign(ctx context.Context, s *session) (epoch int64, sent time.Time, err error) {
	opctx, cancel := e.limit(ctx)
	defer cancel()
	look, err := s.LeaseLook(opctx, e.cfg.Name)
	if errors.Is(err, pgx.ErrNoRows) {
		if err := s.LeaseSeed(opctx, e.cfg.Name); err != nil {
			return 0, sent, fmt.Errorf("creating the lease row: %w", err)
		}
		return 0, sent, nil
	}
	if err != nil {
		return 0, sent, fmt.Errorf("looking at the lease: %w", err)
	}
	left := time.Duration(look.LeftUs) * time.Microsecond
	unrenewed := e.unrenewed(look, time.Now())
	if left > 0 && unrenewed == nil {
		cancel()
		if err := s.wait(ctx, min(left+time.Millisecond, e.cfg.Renew)); err != nil {
			return 0, sent, fmt.Errorf("waiting for the lease: %w", err)
		}
		return 0, sent, nil
	}
	sent = time.Now()
	epoch, err = s.LeaseTake(opctx, db.LeaseTakeParams{
		Name: e.cfg.Name, Seen: look.Epoch, Unrenewed: unrenewed, Holder: e.cfg.Holder, TtlUs: e.cfg.TTL.Microseconds(),
	})
	switch {
	case err == nil:
		return epoch, sent, nil
	case errors.Is(err, pgx.ErrNoRows): // somebody else was faster, or the leader is back
		return 0, sent, nil
	case !isLockTimeout(err):
		return 0, sent, fmt.Errorf("taking the lease: %w", err)
	}
	opctx, cancel = e.limit(ctx)
	defer cancel()
	ended, err := s.evict(opctx, e.cfg.Name, look.Epoch, unrenewed)
	if err != nil {
		return 0, sent, fmt.Errorf("ending the sessions of the expired term: %w", err)
	}
	e.cfg.Logger.Warn("a transaction outlives its expired lease; ended the sessions of its term",
		"lease", e.cfg.Name, "epoch", look.Epoch, "holder", look.Holder, "sessions", ended)
	return 0, sent, nil
}

// unrenewed returns the last renewal of a lease that this elector has seen unrenewed for the lease's whole
// time, else nil. It matters only when the database's clock has gone back: the expiry is far ahead then, and
// a dead leader's lease would be kept until the clock gets there.
func (e *Elector) unrenewed(look db.LeaseLookRow, now time.Time) *time.Time {
	if w := e.watched; w.since.IsZero() || w.epoch != look.Epoch || !w.renewedAt.Equal(look.RenewedAt) {
		e.watched = watch{look.Epoch, look.RenewedAt, now}
		return nil
	}
	if now.Sub(e.watched.since) < time.Duration(look.TtlUs)*time.Microsecond {
		return nil
	}
	return &look.RenewedAt
}

func (e *Elector) connect(ctx context.Context) (*session, error) {
	opctx, cancel := e.limit(ctx)
	defer cancel()
	return connect(opctx, e.cfg)
}

// limit bounds one step of a contender.
func (e *Elector) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, max(2*time.Second, e.cfg.TTL/3))
}

func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}
