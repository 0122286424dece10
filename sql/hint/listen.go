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

var (
	errProbe = errors.New("the probe did not come back")
	errStale = errors.New("the subscriptions changed")
	errQuiet = errors.New("nothing was heard") // not context.DeadlineExceeded, which may be the end of Run
)

// listen receives from other processes, and connects again for ever.
func (b *Bus) listen(ctx context.Context) {
	retry := backoff{rand: b.cfg.Rand}
	for {
		began, listened := time.Now(), b.stats.Listening.Load()
		err := b.session(ctx)
		if ctx.Err() != nil {
			return
		}
		if time.Since(began) > 2*maxRetry { // one that breaks again and again must not have everybody look each time
			retry.reset()
		}
		if retry.step == 0 || b.stats.Listening.Load() > listened {
			b.cfg.Logger.Warn("the listener is not connected; trying again", "err", err)
		}
		b.stats.Reconnects.Add(1)
		if !sleep(ctx, retry.next()) {
			return
		}
	}
}

// session is one connection's life. Once it listens, the subscribers are told that hints may have been lost. What
// it hears proves its way; when it hears nothing for Probe, the notifier, on its own connection, sends it a probe.
func (b *Bus) session(ctx context.Context) error {
	conn, err := b.connect(ctx, "ax-listen")
	if err != nil {
		return fmt.Errorf("connecting the listener: %w", err)
	}
	defer hangUp(conn)
	probe := channelOf(probePrefix, uuid.New())
	if err := run(ctx, conn, "SET idle_session_timeout = 0; LISTEN "+probe); err != nil {
		return fmt.Errorf("setting the listener up: %w", err)
	}
	heard := make(map[string]bool)
	if _, err := b.subscribe(ctx, conn, heard, true); err != nil {
		return err
	}
	b.stats.Listening.Add(1)
	b.gap()
	b.cfg.Logger.Debug("listening", "channels", len(heard))
	asked, until := false, b.nextProbe()
	for {
		n, err := b.wait(ctx, conn, until)
		switch {
		case n != nil:
			asked, until = false, b.nextProbe()
			if n.Channel != probe {
				b.receive(n)
			}
		case errors.Is(err, errStale):
			if err := b.resubscribe(ctx, conn, heard, false); err != nil {
				return err
			}
		case !errors.Is(err, errQuiet):
			return err
		case asked:
			return errProbe
		case b.cfg.Probe > 0:
			if err := b.resubscribe(ctx, conn, heard, true); err != nil {
				return err
			}
			asked, until = true, time.Now().Add(b.answer)
			b.mu.Lock()
			b.queue(func(o *outbox) { o.probe = probe })
			b.mu.Unlock()
		default:
			until = b.nextProbe()
		}
	}
}

func (b *Bus) nextProbe() time.Time {
	if b.cfg.Probe < 0 {
		return time.Now().Add(time.Hour)
	}
	return time.Now().Add(b.cfg.Probe)
}

// wait returns the next notification, errStale when the subscriptions changed, errQuiet when nothing
// came until then, or what broke the connection.
func (b *Bus) wait(ctx context.Context, conn *pgx.Conn, until time.Time) (*pgconn.Notification, error) {
	wctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	b.mu.Lock()
	if b.stale {
		b.mu.Unlock()
		return nil, errStale
	}
	b.interrupt = cancel
	b.mu.Unlock()
	n, err := conn.WaitForNotification(wctx)
	b.mu.Lock()
	b.interrupt = nil
	stale := b.stale
	b.mu.Unlock()
	switch {
	case n != nil:
		return n, nil // an error beside it comes again
	case ctx.Err() != nil || conn.IsClosed() || wctx.Err() == nil:
		return nil, fmt.Errorf("waiting for notifications: %w", err)
	case stale:
		return nil, errStale
	default:
		return nil, errQuiet
	}
}

// resubscribe adapts to changed subscriptions. Who is new is told to look: what was sent before the LISTEN is gone.
func (b *Bus) resubscribe(ctx context.Context, conn *pgx.Conn, heard map[string]bool, strict bool) error {
	added, err := b.subscribe(ctx, conn, heard, strict)
	if err != nil || b.muted.Load() {
		return err
	}
	for _, channel := range added {
		b.deliver(channel, garbage)
	}
	return nil
}

// subscribe makes the connection listen to what is subscribed now, and returns the channels that are new. Waiters for
// runs come and go with every run, so that only a strict call leaves their one channel.
func (b *Bus) subscribe(ctx context.Context, conn *pgx.Conn, heard map[string]bool, strict bool) (added []string, err error) {
	want := make(map[string]bool)
	b.mu.Lock()
	b.stale = false
	if b.engine != nil {
		want[engineChannel] = true
	}
	if len(b.runs) > 0 || heard[runChannel] && !strict {
		want[runChannel] = true
	}
	for id := range b.workers {
		want[channelOf(workerPrefix, id)] = true
	}
	b.mu.Unlock()
	var statements []string
	for channel := range heard {
		if !want[channel] {
			statements = append(statements, "UNLISTEN "+channel)
			delete(heard, channel)
		}
	}
	for channel := range want {
		if !heard[channel] {
			statements = append(statements, "LISTEN "+channel)
			added = append(added, channel)
			heard[channel] = true
		}
	}
	if len(statements) == 0 {
		return nil, nil
	}
	if err := run(ctx, conn, strings.Join(statements, "; ")); err != nil {
		return nil, fmt.Errorf("changing what is listened to: %w", err)
	}
	return added, nil
}

// run executes statements without arguments.
func run(ctx context.Context, conn *pgx.Conn, statements string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	_, err := conn.Exec(ctx, statements)
	return err
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

// deliver puts a message into the boxes of those who subscribed to its channel.
func (b *Bus) deliver(channel string, m message) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch channel {
	case engineChannel:
		if b.engine != nil {
			b.engine.Put(m.toEngine())
		}
	case runChannel:
		ended := ids(m.Runs)
		if m.Look {
			ended = nil
		}
		for box := range b.runs {
			box.Put(ended)
		}
	default:
		id, err := uuid.Parse(strings.TrimPrefix(channel, workerPrefix))
		if box := b.workers[id]; err == nil && box != nil {
			box.Put(Worker{IDs: ids(m.Flights), Asks: m.Asks || m.Look})
		}
	}
}
