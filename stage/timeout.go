package stage

import (
	"fmt"
	"time"
)

// The time-outs of a stage that says nothing else.
const (
	DefaultExecutionTimeout = time.Hour
	DefaultDispatchTimeout  = time.Minute
)

// Timeout holds a stage's time-outs, and is an Option. A zero field takes its default. A time-out costs an
// attempt and waits its retry delay like any failure; only Dispatch costs none.
type Timeout struct {
	// Execution bounds one attempt of one task. The worker cancels the handler's context. Default 1 h.
	Execution time.Duration `json:"execution_ns"`
	// Dispatch bounds the time from the hand-out of work to its start on the worker; then the work goes
	// back and is handed out again. Default 60 s.
	Dispatch time.Duration `json:"dispatch_ns"`
	// Overall bounds the time from ready to finished, waits and retries included. Default 0: no bound.
	Overall time.Duration `json:"overall_ns,omitempty"`
	// Dependency bounds how long the stage may wait for its upstreams, from the run's start or the rerun that made
	// it wait again; then it ends as upstream_failed. It is looked at with every decision in the run and by the full
	// scan, so it may strike a scan's period late. Default 0: no bound.
	Dependency time.Duration `json:"dependency_ns,omitempty"`
	// Heartbeat bounds the time between two signs of life of a handler. Default 0: no bound.
	Heartbeat time.Duration `json:"heartbeat_ns,omitempty"`
}

func (t Timeout) apply(d *Def) {
	d.Faults = append(d.Faults, t.faults()...)
	d.Timeout = t.normal()
}

func (t Timeout) normal() Timeout {
	if t.Execution == 0 {
		t.Execution = DefaultExecutionTimeout
	}
	if t.Dispatch == 0 {
		t.Dispatch = DefaultDispatchTimeout
	}
	return t
}

func (t Timeout) faults() []error {
	var faults []error
	for _, f := range []struct {
		name  string
		value time.Duration
		zero  string
	}{
		{"Timeout.Execution", t.Execution, "for the default of 1h"},
		{"Timeout.Dispatch", t.Dispatch, "for the default of 1m"},
		{"Timeout.Overall", t.Overall, "for none"},
		{"Timeout.Dependency", t.Dependency, "for none"},
		{"Timeout.Heartbeat", t.Heartbeat, "for none"},
	} {
		if f.value < 0 || 0 < f.value && f.value < time.Millisecond {
			faults = append(faults, fmt.Errorf("%s is %v: use at least 1ms, or 0 %s", f.name, f.value, f.zero))
		}
	}
	return faults
}

// Check returns every fault of time-outs in normal form, as read from a stored graph.
func (t Timeout) Check() []error {
	faults := t.faults()
	if t.Execution == 0 || t.Dispatch == 0 {
		faults = append(faults, fmt.Errorf("Timeout.Execution is %v and Timeout.Dispatch is %v: stored time-outs have both", t.Execution, t.Dispatch))
	}
	return faults
}
