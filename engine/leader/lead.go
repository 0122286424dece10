package leader

import (
	"context"
	"errors"
	"fmt"
	"time"

	"axflow/sql/db"
)

// reign is one term of this elector as leader.
type reign struct {
	*Elector
	term Term
	s    *session                // nil while there is no connection
	end  context.CancelCauseFunc // ends Lead's ctx
	// trust fires when the lease is no longer trusted, whatever the renewals are waiting for.
	trust *time.Timer
	lost  bool // the row says so: the lease is another's, or has expired
}

// lead calls Lead for a term that was won and renews its lease, until Lead returns, the lease is lost or ctx
// ends; then it gives the lease away. It takes over s.
func (e *Elector) lead(ctx context.Context, s *session, epoch int64, sent time.Time) {
	leadCtx, end := context.WithCancelCause(ctx)
	defer end(nil)
	r := &reign{Elector: e, term: newTerm(e.cfg, epoch, sent), s: s, end: end}
	defer r.drop()
	until := sent.Add(e.cfg.TTL - e.cfg.margin())
	r.term.trustUntil(until)
	r.trust = time.AfterFunc(time.Until(until), func() {
		end(fmt.Errorf("%w: not renewed in time", ErrLost))
	})
	defer r.trust.Stop()

	log := e.cfg.Logger.With("lease", e.cfg.Name, "epoch", epoch)
	log.Info("leading", "holder", e.cfg.Holder)
	done := make(chan error, 1)
	go func() { done <- e.cfg.Lead(leadCtx, r.term) }()

	returned, err := r.renewUntilDone(leadCtx, sent, done)
	if !returned {
		log.Info("no longer leading", "cause", context.Cause(leadCtx))
		// What Lead has in flight may still be written; so it is let finish before another leads.
		grace := time.NewTimer(e.cfg.margin())
		defer grace.Stop()
		select {
		case err = <-done:
			returned = true
		case <-grace.C:
			log.Warn("Lead has not returned in time; giving the lease away without it")
		}
	}
	// The trust timer must not report a loss to a Lead that has returned, nor run on while resigning.
	r.trust.Stop()
	if err := r.resign(ctx); err != nil {
		log.Warn("could not give the lease away; it expires by itself", "error", err)
	}
	if !returned {
		err = <-done
	}
	switch {
	case leadCtx.Err() != nil: // it was asked to
	case err != nil:
		log.Error("Lead failed; another may lead", "error", err)
	default:
		log.Info("Lead has returned; another may lead")
	}
	if leadCtx.Err() == nil {
		r.drop()
		sleep(ctx, e.cfg.Renew)
	}
}

// renewUntilDone renews every Renew, and sooner after a failure, until ctx ends or Lead returns.
func (r *reign) renewUntilDone(ctx context.Context, sent time.Time, done <-chan error) (returned bool, err error) {
	next := time.NewTimer(time.Until(sent.Add(r.cfg.Renew)))
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return false, nil
		case err = <-done:
			return true, err
		case <-next.C:
		}
		sent := time.Now()
		if err := r.renew(ctx); err != nil && ctx.Err() == nil {
			r.cfg.Logger.Warn("renewing the lease failed; trying again", "lease", r.cfg.Name, "epoch", r.term.Epoch,
				"trusted_for", time.Until(r.term.TrustedUntil()), "error", err)
			next.Reset(min(r.cfg.Renew/8, 250*time.Millisecond))
			continue
		}
		next.Reset(time.Until(sent.Add(r.cfg.Renew)))
	}
}

// renew tries once. An attempt gets half of the trust that is left, so that another one always fits.
func (r *reign) renew(ctx context.Context) error {
	attempt, cancel := context.WithTimeout(ctx, time.Until(r.term.TrustedUntil())/2)
	defer cancel()
	if r.s == nil {
		s, err := connect(attempt, r.cfg)
		if err != nil {
			r.term.state.failures.Add(1)
			return fmt.Errorf("connecting: %w", err)
		}
		r.s = s
	}
	sent := time.Now()
	rows, err := r.s.LeaseRenew(attempt, db.LeaseRenewParams{Name: r.cfg.Name, Epoch: r.term.Epoch, TtlUs: r.cfg.TTL.Microseconds()})
	switch {
	case err != nil:
		r.term.state.failures.Add(1)
		r.drop()
		return err
	case rows == 0:
		r.lost = true
		r.end(fmt.Errorf("%w: taken or expired", ErrLost))
		return nil
	}
	until := sent.Add(r.cfg.TTL - r.cfg.margin())
	r.term.trustUntil(until)
	r.term.state.renewals.Add(1)
	r.trust.Reset(time.Until(until)) // has it fired meanwhile, then ctx has ended for good
	return nil
}

// resign expires the lease and wakes the contenders. It works also after ctx has ended.
func (r *reign) resign(ctx context.Context) error {
	if r.lost {
		return nil
	}
	var errs []error
	for range 2 { // the connection may have broken, or been cut off inside a renewal
		attempt, cancel := context.WithTimeout(context.WithoutCancel(ctx), max(time.Second, r.cfg.margin()/2))
		err := r.resignOnce(attempt)
		cancel()
		if err == nil {
			return nil
		}
		r.drop()
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (r *reign) resignOnce(ctx context.Context) error {
	if r.s == nil {
		s, err := connect(ctx, r.cfg)
		if err != nil {
			return fmt.Errorf("connecting: %w", err)
		}
		r.s = s
	}
	_, err := r.s.LeaseResign(ctx, db.LeaseResignParams{Name: r.cfg.Name, Epoch: r.term.Epoch})
	return err
}

// drop closes the connection in the background: a dead one must not eat up the trust.
func (r *reign) drop() {
	if r.s != nil {
		r.closing.Go(r.s.close)
		r.s = nil
	}
}
