package control

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"axflow/sql/db"
	"axflow/stage"
)

// The limits of a queue's settings.
const (
	MaxCapacity    = 1_000_000_000
	MaxConcurrency = 1_000_000
	MaxWeight      = 10_000
	MaxDecay       = 10.0
)

// A queue's settings where it says nothing.
const (
	DefaultAlertAt   = 0.60
	DefaultRefuseAt  = 0.80
	DefaultPauseAt   = 0.95
	DefaultResumeAt  = 0.40
	DefaultCoreLevel = stage.P1
	DefaultLowLevel  = stage.P3
)

// SetQueue configures a queue; what the settings leave out becomes the default. A Version that is not the stored one is
// CodeConflict; settings that are so already change nothing.
func (c *Client) SetQueue(ctx context.Context, q QueueConfig, who Who) ([]Touch, error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	q = q.normal()
	touched, err := c.admin(ctx, "set_queue", "queue/"+q.Name, who, func(ctx context.Context, tx *db.Queries) ([]Touch, map[string]any, error) {
		w := q.row(c.cfg.Namespace)
		for {
			if q.Version == 0 {
				n, err := tx.InsertQueue(ctx, w)
				if err != nil {
					return nil, nil, fmt.Errorf("configuring queue %s: %w", q.Name, err)
				}
				if n > 0 {
					break
				}
			}
			old, err := tx.LockQueue(ctx, db.LockQueueParams{Namespace: c.cfg.Namespace, Name: q.Name})
			switch {
			case errors.Is(err, pgx.ErrNoRows) && q.Version == 0: // somebody has cleared it between the two
				continue
			case errors.Is(err, pgx.ErrNoRows):
				return nil, nil, &Error{Code: CodeConflict, Text: fmt.Sprintf("queue %q is not configured any more: read it again, or leave the version out", q.Name)}
			case err != nil:
				return nil, nil, fmt.Errorf("locking queue %s: %w", q.Name, err)
			case q.Version != 0 && int(old.Version) != q.Version:
				return nil, nil, &Error{Code: CodeConflict, Text: fmt.Sprintf("queue %q is at version %d, not %d: somebody has changed it; read it again", q.Name, old.Version, q.Version)}
			case sameQueue(old, w):
				return nil, nil, nil
			}
			if err := tx.UpdateQueue(ctx, db.UpdateQueueParams{Namespace: w.Namespace, Name: w.Name, Capacity: w.Capacity, Concurrency: w.Concurrency,
				Weights: w.Weights, Decay: w.Decay, AlertAt: w.AlertAt, RefuseAt: w.RefuseAt, PauseAt: w.PauseAt, ResumeAt: w.ResumeAt,
				CoreLevel: w.CoreLevel, LowLevel: w.LowLevel}); err != nil {
				return nil, nil, fmt.Errorf("configuring queue %s: %w", q.Name, err)
			}
			break
		}
		return says(q.text()), map[string]any{"settings": q.detail()}, nil
	})
	return touched, err
}

// ClearQueue takes a queue's settings back to the defaults. One without settings changes nothing.
func (c *Client) ClearQueue(ctx context.Context, name string, who Who) ([]Touch, error) {
	if err := queueName(name); err != nil {
		return nil, err
	}
	return c.admin(ctx, "clear_queue", "queue/"+name, who, func(ctx context.Context, q *db.Queries) ([]Touch, map[string]any, error) {
		n, err := q.DeleteQueue(ctx, db.DeleteQueueParams{Namespace: c.cfg.Namespace, Name: name})
		if err != nil || n == 0 {
			return nil, nil, err
		}
		return says(fmt.Sprintf("queue %s: settings as by default", name)), nil, nil
	})
}

// Queues lists the queues that are configured, held, or hold work, by name.
func (c *Client) Queues(ctx context.Context) ([]Queue, error) {
	all := make(map[string]*Queue)
	at := func(name string) *Queue {
		if all[name] == nil {
			all[name] = &Queue{QueueConfig: QueueConfig{Name: name}.normal()}
		}
		return all[name]
	}
	configs, err := c.q.QueueConfigs(ctx, c.cfg.Namespace)
	if err != nil {
		return nil, fmt.Errorf("reading queues: %w", err)
	}
	for _, r := range configs {
		q := at(r.Name)
		q.QueueConfig, q.Configured = configOf(r), true
		q.Depth, q.Pressure, q.PublishedAt = int(r.Depth), int(r.Pressure), r.PublishedAt
	}
	ready, err := c.q.QueueReady(ctx, c.cfg.Namespace)
	if err != nil {
		return nil, fmt.Errorf("counting what waits in queues: %w", err)
	}
	for _, r := range ready {
		q := at(r.Queue)
		q.Ready, q.Oldest = int(r.Tasks), time.Duration(max(r.OldestS, 0)*float64(time.Second))
	}
	running, err := c.q.QueueRunning(ctx, c.cfg.Namespace)
	if err != nil {
		return nil, fmt.Errorf("counting what runs of queues: %w", err)
	}
	for _, r := range running {
		q := at(r.Queue)
		q.Running, q.InFlight = int(r.Running), int(r.Tasks)
	}
	holds, err := c.Holds(ctx)
	if err != nil {
		return nil, err
	}
	for _, h := range holds {
		if h.Kind == HoldQueue {
			at(h.Name).Held = &h
		}
	}
	queues := make([]Queue, 0, len(all))
	for _, q := range all {
		queues = append(queues, *q)
	}
	slices.SortFunc(queues, func(a, b Queue) int { return compare(a.Name, b.Name) })
	return queues, nil
}

// Queue is one queue; a name that nobody uses is a queue with the defaults and nothing in it.
func (c *Client) Queue(ctx context.Context, name string) (Queue, error) {
	if err := queueName(name); err != nil {
		return Queue{}, err
	}
	queues, err := c.Queues(ctx)
	if err != nil {
		return Queue{}, err
	}
	for _, q := range queues {
		if q.Name == name {
			return q, nil
		}
	}
	return Queue{QueueConfig: QueueConfig{Name: name}.normal()}, nil
}

func queueName(name string) error {
	if err := stage.CheckName("queue", name); err != nil {
		return &Error{Code: CodeInvalid, Text: err.Error()}
	}
	return nil
}

// normal fills the defaults in.
func (q QueueConfig) normal() QueueConfig {
	for _, f := range []struct {
		share *float64
		value float64
	}{{&q.AlertAt, DefaultAlertAt}, {&q.RefuseAt, DefaultRefuseAt}, {&q.PauseAt, DefaultPauseAt}, {&q.ResumeAt, DefaultResumeAt}} {
		if *f.share == 0 {
			*f.share = f.value
		}
	}
	if q.CoreLevel == nil {
		l := DefaultCoreLevel
		q.CoreLevel = &l
	}
	if q.LowLevel == nil {
		l := DefaultLowLevel
		q.LowLevel = &l
	}
	return q
}

// check names the first fault of the settings.
func (q QueueConfig) check() error {
	if err := queueName(q.Name); err != nil {
		return err
	}
	invalid := func(field, format string, args ...any) error {
		return &Error{Code: CodeInvalid, Field: field, Text: fmt.Sprintf("queue %q: ", q.Name) + fmt.Sprintf(format, args...)}
	}
	n := q.normal()
	switch {
	case q.Capacity < 0 || q.Capacity > MaxCapacity:
		return invalid("/capacity", "the capacity is %d: use 1 to %d, or 0 for none", q.Capacity, MaxCapacity)
	case q.Concurrency < 0 || q.Concurrency > MaxConcurrency:
		return invalid("/concurrency", "the concurrency is %d: use 1 to %d, or 0 for none", q.Concurrency, MaxConcurrency)
	case q.Weights != nil && len(q.Weights) != stage.Levels:
		return invalid("/weights", "%d weights were given: give %d, for P0 to P5, or none", len(q.Weights), stage.Levels)
	case q.Decay != nil && !(*q.Decay >= 0 && *q.Decay <= MaxDecay):
		return invalid("/decay", "the decay is %v levels a second: use 0 to %v", *q.Decay, MaxDecay)
	case !(n.ResumeAt > 0 && n.ResumeAt < n.AlertAt && n.AlertAt <= n.RefuseAt && n.RefuseAt <= n.PauseAt && n.PauseAt <= 1):
		return invalid("/resume_at", "the shares of the capacity are resume %v, alert %v, refuse %v, pause %v: they must rise, from above 0 to 1, and resume must be below alert", n.ResumeAt, n.AlertAt, n.RefuseAt, n.PauseAt)
	case !n.CoreLevel.Valid() || !n.LowLevel.Valid():
		return invalid("/core_level", "the levels are %d and %d: use P0 to P5", *n.CoreLevel, *n.LowLevel)
	case *n.CoreLevel >= *n.LowLevel:
		return invalid("/core_level", "the core level is %s and the low level %s: the core level must be the more urgent one", n.CoreLevel, n.LowLevel)
	}
	for level, w := range q.Weights {
		if w < 1 || w > MaxWeight {
			return invalid(fmt.Sprintf("/weights/%d", level), "the weight of P%d is %d: use 1 to %d", level, w, MaxWeight)
		}
	}
	return nil
}

func (q QueueConfig) row(namespace string) db.InsertQueueParams {
	p := db.InsertQueueParams{Namespace: namespace, Name: q.Name, Decay: q.Decay, AlertAt: float32(q.AlertAt), RefuseAt: float32(q.RefuseAt),
		PauseAt: float32(q.PauseAt), ResumeAt: float32(q.ResumeAt), CoreLevel: int16(*q.CoreLevel), LowLevel: int16(*q.LowLevel)}
	if q.Capacity > 0 {
		n := int32(q.Capacity)
		p.Capacity = &n
	}
	if q.Concurrency > 0 {
		n := int32(q.Concurrency)
		p.Concurrency = &n
	}
	for _, w := range q.Weights {
		p.Weights = append(p.Weights, int32(w))
	}
	return p
}

func sameQueue(a db.LockQueueRow, b db.InsertQueueParams) bool {
	return equal(a.Capacity, b.Capacity) && equal(a.Concurrency, b.Concurrency) && slices.Equal(a.Weights, b.Weights) && equal(a.Decay, b.Decay) &&
		a.AlertAt == b.AlertAt && a.RefuseAt == b.RefuseAt && a.PauseAt == b.PauseAt && a.ResumeAt == b.ResumeAt &&
		a.CoreLevel == b.CoreLevel && a.LowLevel == b.LowLevel
}

func equal[T comparable](a, b *T) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}

func configOf(r db.QueueConfigsRow) QueueConfig {
	core, low := stage.Level(r.CoreLevel), stage.Level(r.LowLevel)
	q := QueueConfig{Name: r.Name, Decay: r.Decay, AlertAt: share(r.AlertAt), RefuseAt: share(r.RefuseAt), PauseAt: share(r.PauseAt),
		ResumeAt: share(r.ResumeAt), CoreLevel: &core, LowLevel: &low, Version: int(r.Version)}
	if r.Capacity != nil {
		q.Capacity = int(*r.Capacity)
	}
	if r.Concurrency != nil {
		q.Concurrency = int(*r.Concurrency)
	}
	for _, w := range r.Weights {
		q.Weights = append(q.Weights, int(w))
	}
	return q
}

// share is a stored share without what single precision adds to it.
func share(v float32) float64 { return math.Round(float64(v)*1e6) / 1e6 }

// detail is the settings for the audit.
func (q QueueConfig) detail() map[string]any {
	d := map[string]any{"capacity": q.Capacity, "concurrency": q.Concurrency, "alert_at": q.AlertAt, "refuse_at": q.RefuseAt, "pause_at": q.PauseAt,
		"resume_at": q.ResumeAt, "core_level": q.CoreLevel.String(), "low_level": q.LowLevel.String()}
	if q.Weights != nil {
		d["weights"] = q.Weights
	}
	if q.Decay != nil {
		d["decay"] = *q.Decay
	}
	return d
}

func (q QueueConfig) text() string {
	or := func(n int, none string) string {
		if n == 0 {
			return none
		}
		return fmt.Sprint(n)
	}
	text := fmt.Sprintf("queue %s: capacity %s, concurrency %s", q.Name, or(q.Capacity, "none"), or(q.Concurrency, "no limit"))
	if q.Weights != nil {
		text += fmt.Sprintf(", weights %v", q.Weights)
	}
	if q.Decay != nil {
		text += fmt.Sprintf(", decay %v levels/s", *q.Decay)
	}
	if q.Capacity > 0 {
		text += fmt.Sprintf(", alert at %v, refuse at %v, pause at %v, resume at %v, core %s, low %s", q.AlertAt, q.RefuseAt, q.PauseAt, q.ResumeAt, q.CoreLevel, q.LowLevel)
	}
	return text
}
