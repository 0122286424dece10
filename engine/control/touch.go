package control

import (
	"github.com/google/uuid"

	"axflow/shard"
)

// Touch is one thing that a verb has changed, or would change in a dry run.
type Touch struct {
	Run     uuid.UUID // zero: it concerns no run (a queue, a pool, a circuit, a setting, a flow)
	Stage   string    // "": the run as a whole, or no run's stage
	Ord     int       // of the stage; -1 with Stage ""
	Indices shard.Set // of the stage; empty: the stage as a whole. A plan task is span.PlanIndex
	// What says what becomes of it, in a few words for people, such as "cancelled", "runs again as attempt 4", "queue etl: capacity 100".
	What string
}

// Indices is how many shard indices the touches name in sum.
func Indices(touched []Touch) int {
	n := 0
	for _, t := range touched {
		n += t.Indices.Len()
	}
	return n
}

// RunResult is what a verb by filter did to one run.
type RunResult struct {
	Run     uuid.UUID
	Flow    string
	Touched []Touch
	Err     error // why the verb did not act on this run: an *Error as the verb by id returns it; the others are not held up by it
}

// Sweep is what a verb by filter did.
type Sweep struct {
	Runs []RunResult // that matched, in the order of their ids
	// More says that more runs match than the filter's Most allowed: call again. Verbs that leave their runs matching (such as
	// SetLevel) need a filter that moves on, for instance by Since.
	More bool
}

// Touched are the touches of all runs.
func (s Sweep) Touched() []Touch {
	var all []Touch
	for _, r := range s.Runs {
		all = append(all, r.Touched...)
	}
	return all
}

// Failed is on how many runs the verb did not act.
func (s Sweep) Failed() int {
	n := 0
	for _, r := range s.Runs {
		if r.Err != nil {
			n++
		}
	}
	return n
}
