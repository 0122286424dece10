package hint

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

const (
	notifyText = `SELECT pg_notify(n.channel, n.payload) FROM unnest($1::text[], $2::text[]) AS n (channel, payload)`
	// flushText does not wait for the disk: set_config(…, true) is SET LOCAL, and the join has it run before the
	// statement's own transaction commits.
	flushText = `WITH s AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))
SELECT pg_notify(n.channel, n.payload) FROM s, unnest($1::text[], $2::text[]) AS n (channel, payload)`

	// maxUnsent is how many payloads wait for the next attempt before they collapse into looks.
	maxUnsent = 64
)

// notifier is the sending connection and what could not be sent yet.
type notifier struct {
	bus    *Bus
	conn   *pgx.Conn
	unsent []payload
}

// notify sends what is in the outbox: one small transaction, and not the next one before Flush has passed, because
// NOTIFY holds a cluster-wide lock while it commits. Nothing is sent while there is nothing to say.
func (b *Bus) notify(ctx context.Context) {
	n := &notifier{bus: b}
	defer func() { hangUp(n.conn) }()
	retry := backoff{rand: b.cfg.Rand}
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
			_ = n.flush(last) // whoever is not told will find it
			cancel()
			return
		case <-b.pending:
		}
		if ctx.Err() != nil {
			continue // the last flush has a context of its own
		}
		wait := b.cfg.Flush
		if err := n.flush(ctx); err == nil {
			if retry.step > 0 {
				b.cfg.Logger.Info("hints are sent again")
			}
			retry.reset()
		} else if ctx.Err() == nil {
			if retry.step == 0 {
				b.cfg.Logger.Warn("hints cannot be sent; trying again", "err", err)
			}
			b.stats.Failed.Add(1)
			wait = retry.next()
			b.wake()
		}
		sleep(ctx, wait)
	}
}

// flush sends the outbox once. What was perhaps not sent is kept for the next time: a hint may come twice.
func (n *notifier) flush(ctx context.Context) error {
	b := n.bus
	b.mu.Lock()
	n.unsent = append(n.unsent, b.out.take()...)
	b.mu.Unlock()
	n.mute()
	if len(n.unsent) == 0 {
		return nil
	}
	if err := n.send(ctx); err != nil {
		hangUp(n.conn)
		n.conn = nil
		if len(n.unsent) > maxUnsent {
			n.unsent = collapse(n.unsent)
		}
		return err
	}
	b.stats.Notifies.Add(1)
	b.stats.Payloads.Add(uint64(len(n.unsent)))
	clear(n.unsent)
	n.unsent = n.unsent[:0]
	return nil
}

// mute drops all but probes if the bus is muted.
func (n *notifier) mute() {
	if !n.bus.muted.Load() {
		return
	}
	kept := n.unsent[:0]
	for _, p := range n.unsent {
		if isProbe(p) {
			kept = append(kept, p)
		} else {
			n.bus.stats.Muted.Add(1)
		}
	}
	n.unsent = kept
}

func (n *notifier) send(ctx context.Context) error {
	if n.conn == nil || n.conn.IsClosed() {
		conn, err := n.bus.connect(ctx, "ax-notify")
		if err != nil {
			return fmt.Errorf("connecting the notifier: %w", err)
		}
		n.conn = conn
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	channels, texts := columns(n.unsent)
	if _, err := n.conn.Exec(ctx, flushText, channels, texts); err != nil {
		return fmt.Errorf("sending %d payloads: %w", len(n.unsent), err)
	}
	return nil
}

func columns(payloads []payload) (channels, texts []string) {
	channels, texts = make([]string, len(payloads)), make([]string, len(payloads))
	for i, p := range payloads {
		channels[i], texts[i] = p.channel, p.text
	}
	return channels, texts
}

// NotifyTx tells the leader, in whatever process, when the caller's transaction commits, and only then. It goes
// through the database even when this process leads, and so not at all to one that polls only.
func (b *Bus) NotifyTx(ctx context.Context, tx pgx.Tx, n Engine) error {
	if b.dropped() {
		return nil
	}
	var o outbox
	o.engine(n)
	payloads := o.take()
	if len(payloads) == 0 {
		return nil
	}
	channels, texts := columns(payloads)
	if _, err := tx.Exec(ctx, notifyText, channels, texts); err != nil {
		return fmt.Errorf("notifying within the transaction: %w", err)
	}
	return nil
}
