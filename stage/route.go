package stage

import (
	"fmt"
	"slices"
)

// Routing says how a worker is chosen among those that can run a task and have room for it.
type Routing string

// The ways of routing.
const (
	// LeastCost takes the worker whose outstanding work has the least estimated duration: the default.
	LeastCost Routing = "least_cost"
	// RoundRobin goes around.
	RoundRobin Routing = "round_robin"
	// Random draws.
	Random Routing = "random"
	// ByKey keeps tasks of one Key on one worker while that has room; those without a key are kept together by run. When
	// workers come or go, only their own share of the keys moves.
	ByKey Routing = "by_key"
	// ByRun keeps the tasks of one run on one worker while that has room, because it holds the run's data.
	ByRun Routing = "by_run"
)

// Routings returns every way of routing.
func Routings() []Routing { return []Routing{LeastCost, RoundRobin, Random, ByKey, ByRun} }

// Valid tells whether r is a known way of routing.
func (r Routing) Valid() bool { return slices.Contains(Routings(), r) }

// Route sets the stage's way of routing.
func Route(r Routing) Option {
	return option(func(d *Def) {
		if !r.Valid() {
			d.fault("routing %q is unknown: use one of %q", r, Routings())
		}
		d.Routing = r
	})
}

// Sticky is Route(ByRun): shards of a run prefer the worker that holds its data.
func Sticky() Option { return Route(ByRun) }

// Prefers names labels of workers that should have the stage's work if one of them has room: the more of the labels, the
// better. Other workers take it otherwise; see Requires for labels that a worker must have.
func Prefers(labels ...string) Option {
	return option(func(d *Def) {
		for _, l := range labels {
			if err := CheckLabel(l); err != nil {
				d.Faults = append(d.Faults, fmt.Errorf("Prefers: %w", err))
			}
		}
		d.Prefers = sorted(labels)
	})
}
