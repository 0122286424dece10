package hint

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// probeAnswer is how long the listener waits for its own notification.
const probeAnswer = 5 * time.Second

var errProbe = errors.New("the probe did not come back")

// listen receives from other processes, and connects again for ever. After every connect the subscribers are told
// that hints may have been lost.
func (b *Bus) listen(ctx context.Context) {
	for first := true; ctx.Err() == nil; first = false {
		err := b.session(ctx)
		if ctx.Err() != nil {
			return
		}
		b.stats.Reconnects.Add(1)
		b.cfg.Logger.Warn("the listener lost its connection", "err", err, "first", first)
		select {
		case <-ctx.Done():
		case <-time.After(retryAfter):
		}
	}
}

// session is one connection's life.
func (b *Bus) session(ctx context.Context) error {
	conn, err := b.connect(ctx, "ax-listen")
	if err != nil {
		return fmt.Errorf("connecting the listener: %w", err)
	}
	defer b.hangUp(conn)
	probe := "ax_p_" + strings.ReplaceAll(uuid.New().String(), "-", "")
	if _, err := conn.Exec(ctx, "LISTEN "+probe); err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	heard := make(map[string]bool)
	if err := b.subscribe(ctx, conn, heard); err != nil {
		return err
	}
	b.gap()
	next := time.Now().Add(b.cfg.Probe)
	waiting := false
	for {
		until := next
		if b.cfg.Probe < 0 {
			until = time.Now().Add(time.Hour)
		}
		n, err := b.wait(ctx, conn, until)
		switch {
		case err == nil && n == nil: // subscriptions changed
			if err := b.subscribe(ctx, conn, heard); err != nil {
				return err
			}
		case err == nil && n.Channel == probe:
			waiting, next = false, time.Now().Add(b.cfg.Probe)
		case err == nil:
			b.receive(n)
		case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil && !conn.IsClosed():
			if waiting {
				return errProbe
			}
			if b.cfg.Probe < 0 {
				continue
			}
			if _, err := conn.Exec(ctx, "SELECT pg_notify($1, '')", probe); err != nil {
				return fmt.Errorf("probing: %w", err)
			}
			waiting, next = true, time.Now().Add(probeAnswer)
		default:
			return err
		}
	}
}

// wait returns the next notification, nil when the subscriptions changed, or context.DeadlineExceeded.
func (b *Bus) wait(ctx context.Context, conn *pgx.Conn, until time.Time) (*pgconn.Notification, error) {
	wctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	stirred := make(chan struct{})
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-b.changed:
			close(stirred)
			cancel()
		case <-stop:
		}
	}()
	n, err := conn.WaitForNotification(wctx)
	close(stop)
	<-done
	select {
	case <-stirred:
		if err != nil && ctx.Err() == nil && !conn.IsClosed() {
			return nil, nil
		}
		b.adapt() // a notification came at the same moment: the change is for the next wait
	default:
	}
	if err != nil && wctx.Err() != nil && ctx.Err() == nil && !conn.IsClosed() {
		return nil, context.DeadlineExceeded
	}
	return n, err
}

// subscribe makes the connection listen to what is subscribed now.
func (b *Bus) subscribe(ctx context.Context, conn *pgx.Conn, heard map[string]bool) error {
	want := make(map[string]bool)
	b.mu.Lock()
	if b.engine != nil {
		want[engineChannel] = true
	}
	if len(b.runs) > 0 {
		want[runChannel] = true
	}
	for id := range b.workers {
		want[workerChannel(id)] = true
	}
	b.mu.Unlock()
	for ch := range heard {
		// Waiters come and go with every run: the one channel that they share stays.
		if !want[ch] && ch != runChannel {
			if _, err := conn.Exec(ctx, "UNLISTEN "+ch); err != nil {
				return fmt.Errorf("unlistening %s: %w", ch, err)
			}
			delete(heard, ch)
		}
	}
	for ch := range want {
		if heard[ch] {
			continue
		}
		if _, err := conn.Exec(ctx, "LISTEN "+ch); err != nil {
			return fmt.Errorf("listening to %s: %w", ch, err)
		}
		heard[ch] = true
		b.missed(ch)
	}
	return nil
}

// missed tells a channel's subscribers to look: what was sent before the LISTEN is gone.
func (b *Bus) missed(channel string) {
	b.deliver(channel, message{Look: true, Asks: true})
}

func (b *Bus) receive(n *pgconn.Notification) {
	if b.dropped() {
		return
	}
	b.stats.Received.Add(1)
	m, ok := decode(n.Payload)
	if !ok {
		b.stats.Garbage.Add(1)
	}
	b.deliver(n.Channel, m)
}

func (b *Bus) deliver(channel string, m message) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case channel == engineChannel && b.engine != nil:
		b.engine.Put(m.toEngine())
	case channel == runChannel:
		for box := range b.runs {
			box.Put(ids(m.Runs))
		}
	case strings.HasPrefix(channel, workerPrefix):
		for id, box := range b.workers {
			if workerChannel(id) == channel {
				box.Put(Worker{IDs: ids(m.Flights), Asks: m.Asks})
			}
		}
	}
}
