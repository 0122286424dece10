package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/google/uuid"

	"axflow/api/gen"
)

// EventKind says what an Event holds.
type EventKind string

// The kinds of events. A bye of the server's is no Event: Events connects again.
const (
	EventSnapshot EventKind = "snapshot" // Live is a run in full
	EventDelta    EventKind = "delta"    // Live is what has changed of a run: see Merge
	EventRun      EventKind = "run"      // Run was created, or has changed
	EventLost     EventKind = "lost"     // changes of runs of Flows (none: of the namespace) were missed: list them again
)

// Event is something that has happened.
type Event struct {
	Kind  EventKind
	Live  *gen.LiveRun
	Run   *gen.Run
	Flows []string
}

// Watch says what a stream of events is about.
type Watch struct {
	// Runs are watched stage by stage; at most 20.
	Runs []uuid.UUID
	// Flows are those whose runs are told of when they come and change; at most 20. Without Runs and Flows all runs of the
	// namespace are.
	Flows []string
	// Lost, if not nil, is told of each loss of the connection and of the pause before the next try.
	Lost func(err error, pause time.Duration)
	// Rand gives random numbers of [0, 1) that spread connecting again. Default math/rand/v2.
	Rand func() float64
}

const (
	// silence is how long a stream may say nothing: three of the server's beats.
	silence    = 45 * time.Second
	firstPause = 500 * time.Millisecond
	maxPause   = 10 * time.Second
)

// Events streams what happens, from the moment that it is ranged over, until ctx ends or the loop does. A connection that is
// lost is made again and continues where it was; what cannot be continued begins with snapshots, or EventLost. The stream ends
// with one error: ctx's own, an *Error that trying again would not change, such as that of a run that does not exist, or that
// of a server that could not be reached at the first try. cfg.HTTP must have no Timeout.
func Events(ctx context.Context, cfg Config, w Watch) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		if w.Rand == nil {
			w.Rand = rand.Float64
		}
		c, err := New(cfg)
		if err != nil {
			yield(Event{}, err)
			return
		}
		s := stream{client: c, watch: w, yield: yield}
		pause := firstPause
		for {
			got := s.got
			err := s.connect(ctx)
			switch {
			case errors.Is(err, errDone):
				return
			case ctx.Err() != nil:
				yield(Event{}, ctx.Err())
				return
			case final(err) || !s.reached:
				yield(Event{}, err)
				return
			}
			if s.got != got {
				pause = firstPause
			}
			wait := time.Duration(float64(pause) * (0.5 + w.Rand()/2))
			if after := s.after; after > wait {
				wait = after
			}
			pause = min(2*pause, maxPause)
			if w.Lost != nil {
				w.Lost(err, wait)
			}
			select {
			case <-time.After(wait):
			case <-ctx.Done():
				yield(Event{}, ctx.Err())
				return
			}
		}
	}
}

// Merge applies a snapshot or a delta to what is known of its run. What is known is the caller's alone; events stay as they are.
func Merge(known *gen.LiveRun, e Event) {
	if e.Live == nil {
		return
	}
	if e.Kind == EventSnapshot || known.Id != e.Live.Id {
		*known = gen.LiveRun{}
	}
	known.Id = e.Live.Id
	put(&known.State, e.Live.State)
	put(&known.FinishedAt, e.Live.FinishedAt)
	put(&known.Paused, e.Live.Paused)
	for name, d := range e.Live.Stages {
		if known.Stages == nil {
			known.Stages = make(map[string]gen.LiveStage, len(e.Live.Stages))
		}
		s := known.Stages[name]
		put(&s.State, d.State)
		put(&s.Generation, d.Generation)
		put(&s.Total, d.Total)
		put(&s.Succeeded, d.Succeeded)
		put(&s.Ready, d.Ready)
		put(&s.InFlight, d.InFlight)
		put(&s.Dead, d.Dead)
		put(&s.Parked, d.Parked)
		put(&s.UpstreamFailed, d.UpstreamFailed)
		put(&s.ReadyAt, d.ReadyAt)
		put(&s.FinishedAt, d.FinishedAt)
		known.Stages[name] = s
	}
}

func put[T any](to **T, from *T) {
	if from != nil {
		*to = from
	}
}

// errDone says that the reader of the events wants no more.
var errDone = errors.New("done")

// stream is one use of Events over all its connections.
type stream struct {
	client  gen.ClientInterface
	watch   Watch
	yield   func(Event, error) bool
	last    string        // id of the last event
	reached bool          // the server has answered with a stream
	got     uint64        // events so far
	after   time.Duration // what the server asked to wait for
}

// connect streams over one connection, until it ends. The error is never nil.
func (s *stream) connect(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	quiet := time.AfterFunc(silence, func() { cancel(fmt.Errorf("the server has said nothing for %s", silence)) })
	defer quiet.Stop()
	s.after = 0
	p := gen.StreamEventsParams{Flow: s.watch.Flows, Run: s.watch.Runs}
	if s.last != "" {
		p.LastEventID = &s.last
	}
	res, err := s.client.StreamEvents(ctx, &p)
	if err != nil {
		return errors.Join(err, context.Cause(ctx))
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		if n, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil {
			s.after = time.Duration(n) * time.Second
		}
		text, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
		if err != nil {
			return fmt.Errorf("reading the server's refusal: %w", err)
		}
		return Check(res, text)
	}
	s.reached = true
	err = readFrames(res.Body, func() { quiet.Reset(silence) }, s.frame)
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// frame takes one frame.
func (s *stream) frame(f frame) error {
	if f.data == nil {
		s.last = f.id
		return nil
	}
	e := Event{Kind: EventKind(f.event)}
	var err error
	switch e.Kind {
	case EventSnapshot, EventDelta:
		e.Live = new(gen.LiveRun)
		err = json.Unmarshal(f.data, e.Live)
	case EventRun:
		e.Run = new(gen.Run)
		err = json.Unmarshal(f.data, e.Run)
	case EventLost:
		var lost struct {
			Flows []string `json:"flows"`
		}
		err = json.Unmarshal(f.data, &lost)
		e.Flows = lost.Flows
	case "bye":
		var bye struct {
			Reason string `json:"reason"`
		}
		if err := json.Unmarshal(f.data, &bye); err != nil {
			return fmt.Errorf("reading a bye: %w", err)
		}
		return fmt.Errorf("the server has ended the stream: %s", bye.Reason)
	default: // of a newer server
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading a frame %q: %w", f.event, err)
	}
	s.got++
	if !s.yield(e, nil) {
		return errDone
	}
	s.last = f.id
	return nil
}

// final tells whether trying again would not change an error.
func final(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Status/100 == 4 && e.Status != http.StatusTooManyRequests && e.Status != http.StatusRequestTimeout
}
