package board

import (
	"strings"

	"github.com/dgryski/go-rendezvous"
)

// route is the lanes of a handler that may use the same workers and share by the same policy.
type route struct {
	requires string
	labels   []string
	solo     bool
	policy   *policy
	pools    []*pool // of workers that have the labels and take work
	lanes    [levels + 1]heap[*lane]
	// full holds the handler's epoch at which no room was found, for P0 (which has the urgent pools besides) and for others.
	full [2]uint64
	ring *rendezvous.Rendezvous // of all pools, made when a span asks for it
}

// demoted is the rank of lanes that take P5's turns without aging.
const demoted = levels

// placeOf is the rank of a lane of the queue and the level.
func placeOf(queue *scope, level uint8) uint8 {
	if level >= queue.demoted {
		return demoted
	}
	return level
}

// class is the index in route.full.
func class(rank int) int { return min(rank, 1) }

func (b *Board) route(h *handler, requires string, solo bool, p *policy) *route {
	for _, r := range h.routes {
		if r.requires == requires && r.solo == solo && r.policy == p {
			return r
		}
	}
	r := &route{requires: requires, solo: solo, policy: p}
	if requires != "" {
		r.labels = strings.Split(requires, "\x00")
	}
	r.reseat(h)
	h.routes = append(h.routes, r)
	return r
}

// reseat finds the pools that the route's lanes may use.
func (r *route) reseat(h *handler) {
	r.pools = r.pools[:0]
	for _, p := range h.pools {
		if p.worker.open() && p.worker.has(r.labels) {
			r.pools = append(r.pools, p)
		}
	}
	r.full = [2]uint64{}
	r.ring = nil
}
