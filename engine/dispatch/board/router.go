package board

import (
	"encoding/binary"
	"math/rand/v2"

	"github.com/google/uuid"
)

// Router chooses the worker of a grant among those that have room: with an idle slot if there is any such, else with a free
// urgent slot (for P0), else with room ahead. It is called by the Board's owner only.
type Router interface {
	// Pick returns the index of the chosen pool. There are at least two. It must keep and change neither the span
	// nor the slice. An index out of range counts as 0.
	Pick(s *Span, pools []*Pool) int
}

// LeastCost chooses the worker whose outstanding work has the least estimated duration; on ties the first.
type LeastCost struct{}

// Pick implements Router.
func (LeastCost) Pick(_ *Span, pools []*Pool) int {
	best := 0
	for i, p := range pools {
		if p.worker.cost < pools[best].worker.cost {
			best = i
		}
	}
	return best
}

// RoundRobin goes around among the workers that have room.
type RoundRobin struct{ next uint }

// Pick implements Router.
func (r *RoundRobin) Pick(_ *Span, pools []*Pool) int {
	r.next++
	return int((r.next - 1) % uint(len(pools)))
}

// Random chooses evenly with the source it is given.
type Random struct{ Source *rand.Rand }

// Pick implements Router.
func (r Random) Pick(_ *Span, pools []*Pool) int { return r.Source.IntN(len(pools)) }

// Affine keeps what has the same key on the same worker while that worker has room: rendezvous hashing (Thaler and
// Ravishankar, 1998), so a worker that comes or goes moves only its own share of the keys.
type Affine struct {
	// Key is what belongs together; nil means the run.
	Key func(*Span) string
}

// Pick implements Router.
func (a Affine) Pick(s *Span, pools []*Pool) int {
	var key uint64
	if a.Key != nil {
		key = hashString(a.Key(s))
	} else {
		key = hashID(s.Run)
	}
	best, top := 0, uint64(0)
	for i, p := range pools {
		if h := mix(key ^ hashID(p.worker.id)); h > top {
			best, top = i, h
		}
	}
	return best
}

func hashID(id uuid.UUID) uint64 {
	return mix(binary.BigEndian.Uint64(id[:8]) ^ mix(binary.BigEndian.Uint64(id[8:])))
}

// hashString is FNV-1a.
func hashString(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return mix(h)
}

// mix is the finalizer of splitmix64.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
