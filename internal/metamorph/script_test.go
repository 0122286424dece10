package metamorph

import (
	"encoding/binary"
	"hash/fnv"
	"time"
)

// deed is what a handler does in one attempt.
type deed int

const (
	succeed   deed = iota
	fail           // an error that is worth a retry
	permanent      // one that is not
	crash          // a panic
	hang           // waits for its context to end, so it runs into its Execution time-out

)

var deedNames = [...]string{"succeed", "fail", "permanent", "crash", "hang"}

func (d deed) String() string { return deedNames[d] }

// planIndex is the index of a plan task.
const planIndex = -1

// chance is a number of [0, 1) that is a pure function of the seed and what is named.
func chance(seed uint64, what string, numbers ...int) float64 {
	h := fnv.New64a()
	var b [8]byte
	put := func(n uint64) {
		binary.LittleEndian.PutUint64(b[:], n)
		_, _ = h.Write(b[:]) // a hash does not fail
	}
	put(seed)
	_, _ = h.Write([]byte(what))
	for _, n := range numbers {
		put(uint64(n))
	}
	x := h.Sum64() // FNV's low bits are poor for short keys: mix them
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	x ^= x >> 33
	return float64(x>>11) / (1 << 53)
}

// deedOf is what attempt k of an index of a stage does.
func (s *stageSpec) deedOf(seed uint64, run, generation, index, attempt int) deed {
	share := s.FailShare
	if index == planIndex {
		share = s.PlanFailShare
	}
	if chance(seed, "fails"+s.Name, run, generation, index, attempt) >= share {
		return succeed
	}
	x := chance(seed, "how"+s.Name, run, generation, index, attempt)
	switch {
	case x < 0.12:
		return permanent
	case x < 0.24:
		return crash
	case x < 0.40 && s.Hangs:
		return hang
	default:
		return fail
	}
}

// wants is the answer of a conditional stage's condition.
func (s *stageSpec) wants(seed uint64, run, generation int) bool {
	return !s.When || chance(seed, "when"+s.Name, run, generation) < 0.6
}

// shards is how many shards the plan of a generation has.
func (s *stageSpec) shards(seed uint64, run, generation int) int {
	x := chance(seed, "shards"+s.Name, run, generation)
	if x < 0.15 {
		return 0
	}
	return 1 + int(chance(seed, "size"+s.Name, run, generation)*float64(s.MaxShards))
}

// takes is how long an attempt works before it ends.
func (s *stageSpec) takes(seed uint64, run, generation, index, attempt int) time.Duration {
	x := chance(seed, "takes"+s.Name, run, generation, index, attempt)
	if x < 0.5 {
		return 0
	}
	return time.Duration(x * float64(s.Work))
}

// value is the output of an index.
func (s *stageSpec) value(seed uint64, run, generation, index int) int {
	return int(chance(seed, "value"+s.Name, run, generation, index) * 1e9)
}
