package advise

import (
	"encoding/json"
	"time"
)

// JSON has durations in seconds, in fields that end in _s.

// window is Advice's.
type window struct {
	WindowS float64 `json:"window_s"`
}

// limits are Timeout's.
type limits struct {
	P50S     float64 `json:"p50_s"`
	P99S     float64 `json:"p99_s"`
	MaxS     float64 `json:"max_s"`
	CurrentS float64 `json:"current_s"`
	FromS    float64 `json:"from_s,omitempty"`
	ToS      float64 `json:"to_s,omitempty"`
}

// means are Load's.
type means struct {
	WaitS float64 `json:"wait_s"`
	ExecS float64 `json:"exec_s"`
}

func (l Load) means() means { return means{l.Wait.Seconds(), l.Exec.Seconds()} }

func (l *Load) take(m means) { l.Wait, l.Exec = seconds(m.WaitS), seconds(m.ExecS) }

// The types without their methods, so that encoding/json sees their fields.
type (
	advice  Advice
	timeout Timeout
	handler Handler
	queue   Queue
)

// MarshalJSON writes durations in seconds.
func (a Advice) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		advice
		window
	}{advice(a), window{a.Window.Seconds()}})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (a *Advice) UnmarshalJSON(b []byte) error {
	var x struct {
		advice
		window
	}
	if err := json.Unmarshal(b, &x); err != nil {
		return err
	}
	*a = Advice(x.advice)
	a.Window = seconds(x.WindowS)
	return nil
}

// MarshalJSON writes durations in seconds.
func (t Timeout) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		timeout
		limits
	}{timeout(t), limits{t.P50.Seconds(), t.P99.Seconds(), t.Max.Seconds(), t.Current.Seconds(), t.From.Seconds(), t.To.Seconds()}})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (t *Timeout) UnmarshalJSON(b []byte) error {
	var x struct {
		timeout
		limits
	}
	if err := json.Unmarshal(b, &x); err != nil {
		return err
	}
	*t = Timeout(x.timeout)
	for d, s := range map[*time.Duration]float64{&t.P50: x.P50S, &t.P99: x.P99S, &t.Max: x.MaxS, &t.Current: x.CurrentS, &t.From: x.FromS, &t.To: x.ToS} {
		*d = seconds(s)
	}
	return nil
}

// MarshalJSON writes durations in seconds.
func (h Handler) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		handler
		means
	}{handler(h), h.means()})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (h *Handler) UnmarshalJSON(b []byte) error {
	var x struct {
		handler
		means
	}
	if err := json.Unmarshal(b, &x); err != nil {
		return err
	}
	*h = Handler(x.handler)
	h.take(x.means)
	return nil
}

// MarshalJSON writes durations in seconds.
func (q Queue) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		queue
		means
	}{queue(q), q.means()})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (q *Queue) UnmarshalJSON(b []byte) error {
	var x struct {
		queue
		means
	}
	if err := json.Unmarshal(b, &x); err != nil {
		return err
	}
	*q = Queue(x.queue)
	q.take(x.means)
	return nil
}
