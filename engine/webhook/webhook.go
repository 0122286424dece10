// Package webhook delivers what webhooks are to be told. The deliveries are rows (ax.delivery) that the transaction writes that ends
// a run or notes that it is late; the leader sends them, each until the receiver has taken it, so at least once.
package webhook

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"axflow/sql/db"
	"axflow/sql/payload"
)

const (
	// Timeout bounds one attempt, from the look-up of the name to the last byte of the answer.
	Timeout = 10 * time.Second
	// lease is how long an attempt may take with all that belongs to it; after that it counts as lost.
	lease = 3 * Timeout
	// atOnce, perHook and failingAtOnce bound the attempts that run at once: in all, to one webhook, and to webhooks that take
	// nothing at present. So dead receivers, however many, keep nobody waiting.
	atOnce, perHook, failingAtOnce = 16, 2, 8
	// maxAnswer is how much of an answer is read; none of it is kept.
	maxAnswer = 4 << 10
	// Keep is how long settled deliveries are kept.
	Keep = 30 * 24 * time.Hour
	// dropEvery is how often, and dropAtOnce how many at a time, old deliveries are deleted.
	dropEvery, dropAtOnce = time.Hour, 5000
)

// Conn is the leader's database: a pool, because attempts end whenever they do. No connection is held while something is sent.
type Conn interface {
	db.DBTX
	Begin(ctx context.Context) (pgx.Tx, error)
}

// Config is what a Loop needs; Conn, Now, Actor and Logger are required.
type Config struct {
	Conn  Conn
	Rules Rules
	// Codec opens the secrets of webhooks, where they were sealed. nil: they were not.
	Codec payload.Codec
	// Now is the database's time.
	Now func() time.Time
	// Wake says that there is something to deliver. nil: the loop looks by itself.
	Wake <-chan struct{}
	// Every is how often the loop looks by itself. Default 2 s.
	Every time.Duration
	// RunURL is the address of the page of runs, to which a run's id is added; "": deliveries name no page.
	RunURL string
	// RootCAs and the like of https. nil: the system's.
	TLS *tls.Config
	// UserAgent of requests. Default "ax".
	UserAgent string
	// Actor is who the audit says has disabled a webhook.
	Actor  string
	Logger *slog.Logger
}

// Loop delivers.
type Loop struct {
	cfg     Config
	clients map[string]*http.Client // by scheme
	ended   chan struct{}           // an attempt has ended
	dropped time.Time

	mu      sync.Mutex
	running map[uuid.UUID]int // attempts by webhook
	total   int
	failing int // attempts to webhooks that take nothing at present
}

// New makes a Loop.
func New(cfg Config) *Loop {
	if cfg.Every == 0 {
		cfg.Every = 2 * time.Second
	}
	if cfg.UserAgent == "" {
		cfg.UserAgent = "ax"
	}
	l := &Loop{cfg: cfg, clients: make(map[string]*http.Client), ended: make(chan struct{}, 1), running: make(map[uuid.UUID]int)}
	for _, scheme := range []string{"https", "http"} {
		l.clients[scheme] = cfg.Rules.client(scheme, cfg.TLS)
	}
	return l
}

// Run delivers until ctx ends. Attempts that run then are broken off; they count as lost and are made again.
func (l *Loop) Run(ctx context.Context) error {
	var attempts sync.WaitGroup
	defer func() {
		attempts.Wait()
		for _, c := range l.clients {
			c.CloseIdleConnections()
		}
	}()
	for {
		wait, err := l.round(ctx, &attempts)
		if err != nil && ctx.Err() == nil {
			l.cfg.Logger.Error("looking for deliveries failed; it is tried again", "err", err)
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-timer.C:
		case <-l.ended:
		case <-l.cfg.Wake:
		}
		timer.Stop()
	}
}

// round starts what is due and tells how long there is nothing to do.
func (l *Loop) round(ctx context.Context, attempts *sync.WaitGroup) (time.Duration, error) {
	q := db.New(l.cfg.Conn)
	if time.Since(l.dropped) > dropEvery {
		if err := l.drop(ctx, q); err != nil {
			return l.cfg.Every, err
		}
		l.dropped = time.Now()
	}
	in, err := q.NextDelivery(ctx)
	if err != nil {
		return l.cfg.Every, fmt.Errorf("looking for the next delivery: %w", err)
	}
	if in > 0 {
		return wait(in, l.cfg.Every), nil
	}
	for _, failing := range []bool{false, true} {
		for {
			n, err := l.start(ctx, q, failing, attempts)
			if err != nil {
				return l.cfg.Every, err
			}
			if n == 0 {
				break
			}
		}
	}
	if in, err = q.NextDelivery(ctx); err != nil {
		return l.cfg.Every, fmt.Errorf("looking for the next delivery: %w", err)
	}
	if in <= 0 { // of webhooks that are busy; the end of an attempt wakes the loop
		return l.cfg.Every, nil
	}
	return wait(in, l.cfg.Every), nil
}

func wait(s float64, most time.Duration) time.Duration {
	if s >= most.Seconds() || math.IsInf(s, 1) {
		return most
	}
	return time.Duration(s * float64(time.Second))
}

// start claims at most one delivery of each webhook and begins the attempts.
func (l *Loop) start(ctx context.Context, q *db.Queries, failing bool, attempts *sync.WaitGroup) (int, error) {
	p := db.ClaimDeliveriesParams{Failing: failing, Each: 1, LeaseS: lease.Seconds(), Busy: []uuid.UUID{}}
	l.mu.Lock()
	room, most := atOnce-l.total, perHook
	if failing {
		room, most = min(room, failingAtOnce-l.failing), 1
	}
	for id, n := range l.running {
		if n >= most {
			p.Busy = append(p.Busy, id)
		}
	}
	l.mu.Unlock()
	if room < 1 {
		return 0, nil
	}
	p.Most = int32(room)
	rows, err := q.ClaimDeliveries(ctx, p)
	if err != nil {
		return 0, fmt.Errorf("claiming deliveries: %w", err)
	}
	for _, row := range rows {
		l.count(row.WebhookID, failing, 1)
		attempts.Go(func() {
			defer func() {
				l.count(row.WebhookID, failing, -1)
				select {
				case l.ended <- struct{}{}:
				default:
				}
			}()
			l.attempt(ctx, row)
		})
	}
	return len(rows), nil
}

func (l *Loop) count(webhook uuid.UUID, failing bool, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running[webhook] += n; l.running[webhook] == 0 {
		delete(l.running, webhook)
	}
	l.total += n
	if failing {
		l.failing += n
	}
}

// attempt makes one attempt and writes down how it has ended.
func (l *Loop) attempt(ctx context.Context, row db.ClaimDeliveriesRow) {
	log := l.cfg.Logger.With("webhook", row.WebhookID, "delivery", row.ID, "attempt", row.Attempts)
	out := l.send(ctx, row)
	if ctx.Err() != nil {
		return // the next leader makes it again
	}
	if out.err != nil {
		log.Warn("a webhook took no delivery", "status", out.status, "err", out.err)
	}
	if err := l.settle(ctx, row, out); err != nil && ctx.Err() == nil {
		log.Error("writing down how a delivery ended failed; it is made again", "err", err)
	}
}

// settle writes down how an attempt has ended.
func (l *Loop) settle(ctx context.Context, row db.ClaimDeliveriesRow, out outcome) error {
	p := db.SettleDeliveryParams{ID: row.ID, Attempts: row.Attempts, State: "delivered", Gone: out.status == http.StatusGone}
	if out.status != 0 {
		status := int32(out.status)
		p.Status = &status
	}
	if out.err != nil {
		text := out.err.Error()
		p.Error, p.State = &text, "pending"
		pause, again := pauseAfter(int(row.Tried), time.Duration(row.AgeS*float64(time.Second)), out.retryAfter, jitter(row.ID))
		if p.PauseS = pause.Seconds(); !again || p.Gone {
			p.State = "failed"
		}
	}
	if !p.Gone {
		_, err := db.New(l.cfg.Conn).SettleDelivery(ctx, p)
		return err
	}
	return pgx.BeginFunc(ctx, l.cfg.Conn, func(tx pgx.Tx) error { return l.disable(ctx, db.New(tx), row, p) })
}

// disable takes the receiver by its word: status 410 means that it is gone.
func (l *Loop) disable(ctx context.Context, q *db.Queries, row db.ClaimDeliveriesRow, p db.SettleDeliveryParams) error {
	n, err := q.SettleDelivery(ctx, p)
	if err != nil || n == 0 {
		return err
	}
	text := "the webhook is disabled: its receiver has answered with status 410"
	if _, err := q.FailDeliveriesOf(ctx, db.FailDeliveriesOfParams{WebhookID: row.WebhookID, Error: text}); err != nil {
		return err
	}
	return q.InsertAudit(ctx, db.InsertAuditParams{Namespace: row.Namespace, ID: uuid.Must(uuid.NewV7()), Actor: l.cfg.Actor, Verb: "disable_webhook",
		Target: "webhook/" + row.WebhookID.String(), Reason: text})
}

// jitter is a number of [0, 1) by which the pauses of one delivery differ from those of another: ids are random.
func jitter(id uuid.UUID) float64 { return float64(id[15]) / 256 }

// drop deletes old deliveries, and those of webhooks that are gone.
func (l *Loop) drop(ctx context.Context, q *db.Queries) error {
	for {
		old, err := q.DropOldDeliveries(ctx, db.DropOldDeliveriesParams{KeepS: Keep.Seconds(), Most: dropAtOnce})
		if err != nil {
			return fmt.Errorf("deleting old deliveries: %w", err)
		}
		lost, err := q.DropLostDeliveries(ctx, dropAtOnce)
		if err != nil {
			return fmt.Errorf("deleting the deliveries of deleted webhooks: %w", err)
		}
		if old < dropAtOnce && lost < dropAtOnce {
			return nil
		}
	}
}

// outcome is how an attempt has ended.
type outcome struct {
	status     int           // 0: there was no answer
	retryAfter time.Duration // that the receiver asks for; 0: it does not
	err        error         // nil: taken
}

var errNoSecret = errors.New("its secret could not be opened: this server lacks the key that it was sealed with")
