package board

import (
	"slices"

	"github.com/cespare/xxhash/v2"
	"github.com/dgryski/go-rendezvous"

	"axflow/stage"
)

// affine tells whether a way of routing keeps what belongs together on one worker, whether or not another has an idle slot.
func affine(r stage.Routing) bool { return r == stage.ByKey || r == stage.ByRun }

// pick chooses among the pools that have room.
func (b *Board) pick(n *node, pools []*pool, now int64) int {
	if len(pools) == 1 {
		return 0
	}
	l := n.strand.lane
	if l.key.terms != nil {
		switch l.key.terms.routing {
		case stage.RoundRobin:
			return around(l.handler, pools)
		case stage.Random:
			return b.rand.IntN(len(pools))
		case stage.ByKey:
			if n.span.Key != "" {
				return l.route.keeper(n.span.Namespace+"/"+n.span.Key, pools)
			}
			return l.route.keeper(string(n.span.Run[:]), pools)
		case stage.ByRun:
			return l.route.keeper(string(n.span.Run[:]), pools)
		}
	}
	return leastCost(pools, now)
}

// leastCost chooses the worker whose outstanding work has the least estimated duration; on ties the first.
func leastCost(pools []*pool, now int64) int {
	best, least := 0, pools[0].worker.outstanding(now)
	for i := 1; i < len(pools); i++ {
		if c := pools[i].worker.outstanding(now); c < least {
			best, least = i, c
		}
	}
	return best
}

// around chooses the worker that follows, by arrival, the one that the handler's last round-robin span went to.
func around(h *handler, pools []*pool) int {
	next, first := -1, 0
	for i, p := range pools {
		order := p.worker.order
		if order < pools[first].worker.order {
			first = i
		}
		if order > h.around && (next < 0 || order < pools[next].worker.order) {
			next = i
		}
	}
	if next < 0 {
		next = first
	}
	h.around = pools[next].worker.order
	return next
}

// keeper chooses the worker that keeps what has the key, by rendezvous hashing (Thaler and Ravishankar, 1998): a worker that
// comes or goes moves only its own share of the keys. When the keeper has no room, the next in its order that has is chosen.
func (r *route) keeper(key string, pools []*pool) int {
	if r.ring == nil {
		r.ring = ringOf(r.pools)
	}
	if i := find(pools, r.ring.Lookup(key)); i >= 0 {
		return i
	}
	return max(0, find(pools, ringOf(pools).Lookup(key)))
}

func ringOf(pools []*pool) *rendezvous.Rendezvous {
	names := make([]string, len(pools))
	for i, p := range pools {
		names[i] = p.worker.name
	}
	return rendezvous.New(names, xxhash.Sum64String)
}

func find(pools []*pool, worker string) int {
	return slices.IndexFunc(pools, func(p *pool) bool { return p.worker.name == worker })
}

// preferred keeps the pools whose workers have the most of the labels, in place.
func preferred(pools []*pool, labels []string) []*pool {
	if len(labels) == 0 {
		return pools
	}
	most, n := 0, 0
	for _, p := range pools {
		has := 0
		for _, l := range labels {
			if slices.Contains(p.worker.said.Labels, l) {
				has++
			}
		}
		if has > most {
			most, n = has, 0
		}
		if has == most {
			pools[n], n = p, n+1
		}
	}
	return pools[:n]
}
