package stage

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Option sets one policy of a stage. The structs Retry and Timeout are options themselves. Of two options
// that set the same thing the later one holds. A bad value is told by flow.New, with every other fault.
type Option interface{ apply(*Def) }

type option func(*Def)

func (o option) apply(d *Def) { o(d) }

// Priority sets the stage's level, whatever its run's level is. Without it a stage takes its run's level.
func Priority(l Level) Option {
	return option(func(d *Def) {
		if !l.Valid() {
			d.fault("Priority is %d: use P0 (most urgent) to P5", l)
		}
		d.Level = &l
	})
}

// Queue names the queue that the stage's tasks wait in. Without it a stage takes its run's queue.
func Queue(name string) Option {
	return option(func(d *Def) {
		if err := CheckName("queue", name); err != nil {
			d.Faults = append(d.Faults, err)
		}
		d.Queue = name
	})
}

// Limit bounds how many tasks of this stage run at once in the whole cluster, over all runs of the flow.
// 0, the default, is no bound.
func Limit(n int) Option {
	return option(func(d *Def) {
		if n < 0 {
			d.fault("Limit is %d: use a positive number, or 0 for no limit", n)
		}
		d.Limit = n
	})
}

// WithRule sets the trigger rule. The default is AllSuccess.
func WithRule(r Rule) Option {
	return option(func(d *Def) {
		if !r.Valid() {
			d.fault("trigger rule %q is unknown: use one of %q", r, Rules())
		}
		d.Rule = r
	})
}

// Requires names capabilities: only workers that have every one of these labels may run the stage.
func Requires(labels ...string) Option {
	return option(func(d *Def) {
		for _, l := range labels {
			if err := CheckLabel(l); err != nil {
				d.Faults = append(d.Faults, fmt.Errorf("Requires: %w", err))
			}
		}
		d.Requires = sorted(labels)
	})
}

// Delay keeps the stage's work from being handed out for a while after its upstreams have released it.
func Delay(d time.Duration) Option {
	return option(func(def *Def) {
		if d < 0 {
			def.fault("Delay is %v: use a positive time, or 0 for none", d)
		}
		def.Delay = d
	})
}

// Cost says how long one task of this stage is expected to take. Routing and piece sizes go by it until
// the true mean has been learned. 0, the default, is unknown.
func Cost(mean time.Duration) Option {
	return option(func(d *Def) {
		if mean < 0 {
			d.fault("Cost is %v: use a positive time, or 0 for unknown", mean)
		}
		d.Cost = mean
	})
}

// Disabled makes every run skip this stage when it is reached.
func Disabled() Option { return option(func(d *Def) { d.Disabled = true }) }

// Uninterruptible lets tasks that have started finish when their run is cancelled; what has not started
// is cancelled all the same.
func Uninterruptible() Option { return option(func(d *Def) { d.Uninterruptible = true }) }

// SkipWhenEmpty makes a sharded stage whose plan has no shards count as skipped. Without it such a stage
// succeeds with nothing done.
func SkipWhenEmpty() Option {
	return option(func(d *Def) {
		if d.Kind == Single {
			d.Faults = append(d.Faults, errors.New("SkipWhenEmpty is for sharded stages: remove it, or shard the stage"))
		}
		d.SkipEmpty = true
	})
}

// sorted returns a sorted copy without repeats; nil for none.
func sorted(names []string) []string {
	if len(names) == 0 {
		return nil
	}
	c := slices.Clone(names)
	slices.Sort(c)
	return slices.Compact(c)
}
