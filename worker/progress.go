package worker

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"axflow/stage"
)

// progress is what a handler has said of itself last. Its fields are written one by one: a heartbeat may see a new total with
// an old done, which the next one mends.
type progress struct {
	done, total atomic.Uint64 // bits of float64
	at          atomic.Int64  // monotonic time of the last word; 0: none
	detail      atomic.Pointer[string]
}

// Progress is the handler's word of how far it is.
func (t *task) Progress(done, total float64) {
	t.progress.total.Store(math.Float64bits(total))
	t.progress.done.Store(math.Float64bits(done))
	t.spoke()
}

// Detail is the handler's word of what it is doing.
func (t *task) Detail(text string) {
	if text == "" {
		t.progress.detail.Store(nil)
	} else {
		text = brief(text)
		t.progress.detail.Store(&text)
	}
	t.spoke()
}

func (t *task) spoke() {
	now := int64(t.f.pool.w.clk.now())
	t.sign.Store(now)
	t.progress.at.Store(max(1, now))
}

// brief cuts a detail to its limit. What is not UTF-8 is cleaned when it is sent.
func brief(text string) string {
	if len(text) <= stage.MaxDetail {
		return text
	}
	cut := stage.MaxDetail - len("…")
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return strings.Clone(text[:cut]) + "…"
}

// maxRunning bounds what a heartbeat lists.
const maxRunning = 1000

// running is a task in a heartbeat. Done, Total, Detail and At are what its handler has said, if it has.
type running struct {
	Execution uuid.UUID  `json:"execution"`
	Index     int32      `json:"index"`
	Started   time.Time  `json:"started"`
	Done      *float64   `json:"done,omitempty"`
	Total     *float64   `json:"total,omitempty"`
	Detail    string     `json:"detail,omitempty"`
	At        *time.Time `json:"at,omitempty"`

	begun time.Duration
}

// longRunning lists the tasks that have run for longer than a beat, the longest first, as stored.
func (w *Worker) longRunning() []byte {
	list := []running{}
	now := w.clk.now()
	for _, p := range w.pools {
		p.mu.Lock()
		for t := p.tasks; t != nil; t = t.next {
			if !t.ended && now-t.begun > w.cfg.Beat {
				list = append(list, t.listed())
			}
		}
		p.mu.Unlock()
	}
	slices.SortFunc(list, func(a, b running) int { return int(a.begun - b.begun) })
	list = list[:min(len(list), maxRunning)]
	b, err := json.Marshal(list)
	if err != nil {
		w.log.Error("encoding what runs failed", "worker", w.ID(), "err", err)
		return []byte("[]")
	}
	return b
}

// listed is the task in a heartbeat.
func (t *task) listed() running {
	clk := t.f.pool.w.clk
	r := running{Execution: t.f.ID, Index: t.index, Started: clk.db(t.begun), begun: t.begun}
	at := time.Duration(t.progress.at.Load())
	if at == 0 {
		return r
	}
	said := clk.db(at)
	r.At = &said
	done, total := math.Float64frombits(t.progress.done.Load()), math.Float64frombits(t.progress.total.Load())
	if done != 0 || total > 0 {
		r.Done = &done
	}
	if total > 0 {
		r.Total = &total
	}
	if text := t.progress.detail.Load(); text != nil {
		r.Detail = clean(*text, 2*stage.MaxDetail)
	}
	return r
}
