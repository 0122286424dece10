package live

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// Stream is one client's. It implements gen.StreamEventsResponseObject.
type Stream struct {
	hub     *Hub
	client  *client
	ctx     context.Context //nolint:containedctx // the request's, which the generated interface does not pass on
	expires time.Time
}

// VisitStreamEventsResponse sends what happens until the request ends or the Hub ends the stream. It sets the deadlines of w by itself,
// whatever the server's are.
func (s *Stream) VisitStreamEventsResponse(w http.ResponseWriter) error {
	defer s.hub.leave(s.client)
	cfg := &s.hub.cfg
	out := outlet{w: w, control: http.NewResponseController(w), limit: cfg.Write, stats: &s.hub.stats}
	// A server's ReadTimeout would end the request's context in the middle of the stream.
	_ = out.control.SetReadDeadline(time.Time{})
	header := w.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Accel-Buffering", "no") // a proxy must not gather what is sent
	w.WriteHeader(http.StatusOK)
	// Clients that lose their server at once do not come back at once.
	if out.text(fmt.Sprintf("retry: %d\n\n", 1000+s.hub.stats.Opened.Load()*271%2000)) != nil {
		return nil
	}
	beats := time.NewTicker(cfg.Beat)
	defer beats.Stop()
	var expired <-chan time.Time
	if !s.expires.IsZero() {
		t := time.NewTimer(time.Until(s.expires))
		defer t.Stop()
		expired = t.C
	}
	rest := time.NewTimer(0) // between two batches
	defer rest.Stop()
	<-rest.C
	wake, due := s.client.wake, true
	began := false
	for {
		if due {
			due = false
			frames, id := s.hub.take(s.client)
			// A client that loses its connection before the first frame must come back to where it was, too: the first id comes at once.
			if len(frames) > 0 || !began {
				began = true
				slow, err := out.batch(frames, id)
				if err != nil {
					return nil // the client is gone; there is nobody to tell
				}
				if slow {
					s.client.end(byeSlow)
				}
				wake = nil
				rest.Reset(cfg.Tick)
			}
		}
		select {
		case <-s.ctx.Done():
			return nil
		case reason := <-s.client.bye:
			if reason == byeSlow {
				s.hub.stats.Slow.Add(1)
			}
			_ = out.bye(reason)
			return nil
		case <-expired:
			_ = out.bye(byeCredential)
			return nil
		case <-beats.C:
			if out.text(beat) != nil {
				return nil
			}
		case <-rest.C:
			wake, due = s.client.wake, true
		case <-wake:
			due = true
		}
	}
}

// outlet writes to a client, and to none for longer than its limit.
type outlet struct {
	w       http.ResponseWriter
	control *http.ResponseController
	limit   time.Duration
	stats   *Stats
}

var newline = []byte("\n")

// batch sends frames and their id; slow tells that the client took long to read them.
func (o *outlet) batch(frames []frame, id string) (slow bool, err error) {
	return o.send(func() error {
		for i, f := range frames {
			if i > 0 {
				if err := o.write(newline); err != nil {
					return err
				}
			}
			if err := o.write(f); err != nil {
				return err
			}
		}
		if err := o.write([]byte("id: " + id + "\n\n")); err != nil {
			return err
		}
		o.stats.Frames.Add(uint64(len(frames)))
		return nil
	})
}

func (o *outlet) bye(reason string) error {
	f, err := encode(eventBye, struct {
		Reason string `json:"reason"`
	}{reason})
	if err != nil {
		return err
	}
	return o.text(string(f) + "\n")
}

func (o *outlet) text(text string) error {
	_, err := o.send(func() error { return o.write([]byte(text)) })
	return err
}

// send has write write, and sees to it that it arrives.
func (o *outlet) send(write func() error) (slow bool, err error) {
	began := time.Now()
	_ = o.control.SetWriteDeadline(began.Add(o.limit)) // where there is none, in-process, the reader's end ends the write
	if err = write(); err == nil {
		err = o.control.Flush()
	}
	if err != nil {
		return false, fmt.Errorf("writing to an event stream: %w", err)
	}
	// Not to be left behind: a deadline that has passed would end an HTTP/2 stream, and the connection's next request.
	_ = o.control.SetWriteDeadline(time.Time{})
	return time.Since(began) > o.limit/2, nil
}

func (o *outlet) write(b []byte) error {
	n, err := o.w.Write(b)
	o.stats.Bytes.Add(uint64(n))
	return err
}
