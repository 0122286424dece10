// Package metamorph tests AX as a whole by seeded chance: random flows with scripted handlers run on real engines and
// workers, while random operators steer them and random faults strike; a small model says what must come of it.
//
// A scenario (flows, runs, scripts, operations) is a pure function of its seed. Time is real, so what differs between
// two runs of one seed is how things interleave; operations strike at logical points ("after the 3rd start of stage c of
// run 1") or at times after the beginning. The model knows AX's promises and none of its code: where no operator
// interfered, it says for each stage its state, its counts and the exact attempts of each shard; where one did, what
// must hold all the same. The history checker (sql/history) runs after every phase.
//
// A failure prints its seed and the log of operations, and is shrunk: operations, runs and stages are left out while
// it stays. To replay a seed:
//
//	AX_METAMORPH_SEED=17 go test ./internal/metamorph -run 'TestMetamorphic$' -v
package metamorph
