package dispatch

import (
	"context"
	"fmt"

	"axflow/engine/wheel"
	"axflow/sql/db"
	"axflow/sql/hint"
	"axflow/sql/span"
)

// expiries are the overall budgets that run out within the horizon.
type expiries struct {
	timers map[span.StageKey]expiryTimer
	stale  bool // a stage with a budget was met that is not among them
	due    []span.Expiry
}

type expiryTimer struct {
	handle wheel.Handle
	span.Expiry
}

// mostExpiries bounds how many budgets are read at once; those that run out first come first.
const mostExpiries = 10_000

// expireAtOnce is how many stages one transaction expires.
const expireAtOnce = 128

// meet notes that a stage with a budget runs.
func (e *expiries) meet(k span.StageKey) {
	if _, known := e.timers[k]; !known {
		e.stale = true
	}
}

// loadExpiries compares the budgets with the database. Without the wheel only what is over is read.
func (l *Loop) loadExpiries(ctx context.Context) error {
	e := &l.expiries
	e.stale = false
	rows, err := l.q.DueExpiries(ctx, db.DueExpiriesParams{HorizonS: l.horizon().Seconds(), Most: mostExpiries})
	if err != nil {
		return fmt.Errorf("looking for budgets that run out: %w", err)
	}
	there := make(map[span.StageKey]struct{}, len(rows))
	e.due = e.due[:0]
	now := l.cfg.Now()
	for _, row := range rows {
		x := span.Expiry{StageKey: span.StageKey{Run: row.RunID, Ord: row.Ord}, Generation: row.Generation, At: row.ExpiresAt}
		there[x.StageKey] = struct{}{}
		if t, known := e.timers[x.StageKey]; known {
			if t.Generation == x.Generation && t.At.Equal(x.At) {
				continue
			}
			l.wheel.Cancel(t.handle)
			delete(e.timers, x.StageKey)
		}
		if !x.At.After(now) || !l.policies.off.On(SwitchWheel) {
			e.due = append(e.due, x)
			continue
		}
		e.timers[x.StageKey] = expiryTimer{l.wheel.Add(x.At, timer{expiry: &x}), x}
	}
	for k, t := range e.timers {
		if _, ok := there[k]; !ok {
			l.wheel.Cancel(t.handle)
			delete(e.timers, k)
		}
	}
	return nil
}

// expire carries out what is due.
func (l *Loop) expire(ctx context.Context) error {
	e := &l.expiries
	for len(e.due) > 0 {
		n := min(len(e.due), expireAtOnce)
		receipt, err := span.Expire(ctx, l.cfg.Conn, l.cfg.Fence, e.due[:n])
		if err != nil {
			return err
		}
		l.cfg.Stats.Expired.Add(uint64(n))
		over := make(map[span.StageKey]bool, n)
		for _, x := range e.due[:n] {
			over[x.StageKey] = true
		}
		for id, p := range l.known {
			if over[span.StageKey{Run: p.run, Ord: p.lane.key.ord}] {
				l.drop(id)
			}
		}
		e.due = e.due[n:]
		if err := l.receive(ctx, &receipt); err != nil {
			return err
		}
	}
	return nil
}

// receive takes in what a transaction of the leader's did.
func (l *Loop) receive(ctx context.Context, receipt *span.Receipt) error {
	for _, r := range receipt.Ready {
		if err := l.admit(ctx, r); err != nil {
			return err
		}
	}
	for _, d := range receipt.Decided {
		l.news.Stages = append(l.news.Stages, d.StageKey)
	}
	for _, w := range receipt.Asked {
		l.cfg.Bus.ToWorker(w, hint.Worker{Asks: true})
	}
	return nil
}

// forget empties the timers: the wheel has been emptied.
func (e *expiries) forget() {
	clear(e.timers)
	e.stale = true
}

func newExpiries() expiries { return expiries{timers: make(map[span.StageKey]expiryTimer)} }
