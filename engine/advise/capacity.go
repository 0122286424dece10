package advise

import (
	"math"
	"time"
)

// The head-room that is added to what is needed, as factors.
const (
	leastRoom = 1.3
	mostRoom  = 1.5
)

// Load is how much comes in, how long it waits and how long it takes.
type Load struct {
	// PerSecond is S: tasks that become ready a second, first attempts and retries.
	PerSecond float64 `json:"per_second"`
	// Wait is T_wait, from ready to started, and Exec is T_exec, in the handler: means.
	Wait time.Duration `json:"-"`
	Exec time.Duration `json:"-"`
	// Waiting and Running are tasks now.
	Waiting int `json:"waiting"`
	Running int `json:"running"`
	// Samples is how many finished attempts the means are of.
	Samples int `json:"samples"`
}

// Backlog is how many tasks wait on average: S × T_wait (Little's law).
func (l Load) Backlog() float64 { return l.PerSecond * l.Wait.Seconds() }

// Concurrency is how many tasks must run at once to keep up: S × T_exec (Little's law).
func (l Load) Concurrency() float64 { return l.PerSecond * l.Exec.Seconds() }

// slots is what concurrency needs with head-room: 30 to 50 % more, whole slots, at least one when anything comes.
func (l Load) slots() (least, most int) {
	c := l.Concurrency()
	return int(math.Ceil(c*leastRoom - slack)), int(math.Ceil(c*mostRoom - slack))
}

// slack keeps rounding from adding a slot.
const slack = 1e-9

// workers is how many workers of so many slots hold a number of slots.
func workers(slots, each int) int {
	if each <= 0 {
		return 0
	}
	return (slots + each - 1) / each
}

// Handler is advice on the capacity for one stage.
type Handler struct {
	Flow  string `json:"flow"`
	Stage string `json:"stage"`
	Load
	// Needed is Concurrency; SlotsFrom and SlotsTo add 30 and 50 % of head-room.
	Needed    float64 `json:"needed_concurrency"`
	Expected  float64 `json:"expected_backlog"`
	SlotsFrom int     `json:"slots_from"`
	SlotsTo   int     `json:"slots_to"`
	// Slots are those of live workers now; Each is a worker's share.
	Slots   int `json:"slots"`
	Workers int `json:"workers"`
	Each    int `json:"slots_each"`
	// WorkersFrom and WorkersTo hold SlotsFrom and SlotsTo; 0 when no live worker tells how many slots one has.
	WorkersFrom int `json:"workers_from"`
	WorkersTo   int `json:"workers_to"`
	// Short says that there are fewer slots than keep up.
	Short bool `json:"short"`
}

func (h *Handler) judge() {
	h.Needed, h.Expected = h.Concurrency(), h.Backlog()
	h.SlotsFrom, h.SlotsTo = h.slots()
	if h.Workers > 0 {
		h.Each = max(1, h.Slots/h.Workers)
	}
	h.WorkersFrom, h.WorkersTo = workers(h.SlotsFrom, h.Each), workers(h.SlotsTo, h.Each)
	h.Short = float64(h.Slots) < h.Needed-slack
}

// Queue is advice on a queue's limits.
type Queue struct {
	Name string `json:"name"`
	Load
	Needed    float64 `json:"needed_concurrency"`
	Expected  float64 `json:"expected_backlog"`
	SlotsFrom int     `json:"slots_from"`
	SlotsTo   int     `json:"slots_to"`
	// Limit is the queue's concurrency limit and Capacity what it may hold; nil is none.
	Limit    *int `json:"limit,omitempty"`
	Capacity *int `json:"capacity,omitempty"`
	// Short says that the limit is below what keeps up, Small that the expected backlog fills more than 60 % of the capacity,
	// where backpressure begins unless the queue says otherwise.
	Short bool `json:"short"`
	Small bool `json:"small"`
}

// alertShare is where backpressure begins by default.
const alertShare = 0.6

func (q *Queue) judge() {
	q.Needed, q.Expected = q.Concurrency(), q.Backlog()
	q.SlotsFrom, q.SlotsTo = q.slots()
	q.Short = q.Limit != nil && float64(*q.Limit) < q.Needed-slack
	q.Small = q.Capacity != nil && q.Expected+q.Needed > alertShare*float64(*q.Capacity)
}

// add joins two loads; the means weigh by their samples.
func (l *Load) add(m Load) {
	if n := l.Samples + m.Samples; n > 0 {
		mean := func(a, b time.Duration) time.Duration {
			return time.Duration((float64(a)*float64(l.Samples) + float64(b)*float64(m.Samples)) / float64(n))
		}
		l.Wait, l.Exec = mean(l.Wait, m.Wait), mean(l.Exec, m.Exec)
		l.Samples = n
	}
	l.PerSecond += m.PerSecond
	l.Waiting += m.Waiting
	l.Running += m.Running
}
