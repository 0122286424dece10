package stage

import "math"

// FailFast cancels what is left of a sharded stage as soon as more shards have failed for good than the stage tolerates:
// what is ready never starts, what runs is asked to stop, and the stage fails. Without it the other shards go on.
func FailFast() Option {
	return option(func(d *Def) {
		if d.Kind == Single {
			d.fault("FailFast is for sharded stages: remove it, or shard the stage")
		}
		d.FailFast = true
	})
}

// Tolerate lets a sharded stage succeed although up to n of its shards have failed for good. The failed shards stay among
// the dead letters; whoever reads the stage's outputs sees those that succeeded, and Counts says how many did not.
func Tolerate(n int) Option {
	return option(func(d *Def) {
		switch {
		case d.Kind == Single:
			d.fault("Tolerate is for sharded stages: remove it, or shard the stage")
		case n < 0:
			d.fault("Tolerate is %d: use a positive number, or 0 for none", n)
		}
		d.Tolerate = n
	})
}

// TolerateShare is Tolerate for a share of the shards, 0 to 1, rounded down; with Tolerate, the greater number holds.
func TolerateShare(share float64) Option {
	return option(func(d *Def) {
		switch {
		case d.Kind == Single:
			d.fault("TolerateShare is for sharded stages: remove it, or shard the stage")
		case !(share >= 0 && share <= 1):
			d.fault("TolerateShare is %v: use a share from 0 to 1", share)
			return
		}
		d.TolerateShare = share
	})
}

// Tolerated is how many of total shards may fail for good: max(n, ⌊share × total⌋).
func Tolerated(n int, share float64, total int) int {
	return max(n, int(math.Floor(share*float64(total)+1e-9)))
}

// ShardCounts says how the shards of a decided stage ended. An unsharded stage counts as one shard.
type ShardCounts struct {
	Total, Succeeded, Failed, Skipped, Cancelled int
}
