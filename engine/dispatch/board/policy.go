package board

import (
	"fmt"
	"time"

	"axflow/stage"
)

// policy is how the levels of a queue share: the engine's, or what an operator gave the queue.
type policy struct {
	weights              [levels]int64
	rise                 int64 // ns of waiting per level; 0: aging is off
	ownWeights, ownDecay bool
	decay                float64
}

// SetWeights changes the shares of P0..P5, each 1..32768, from the next turn on.
func (b *Board) SetWeights(w [stage.Levels]int) error {
	next, err := checkWeights(w)
	if err != nil {
		return err
	}
	b.policy.weights = next
	b.inherit()
	return nil
}

func checkWeights(w [levels]int) (next [levels]int64, err error) {
	for l, v := range w {
		if v < 1 || v > maxWeight {
			return next, fmt.Errorf("board: the weight of P%d is %d: give 1 to %d, since 0 would starve the level", l, v, maxWeight)
		}
		next[l] = int64(v)
	}
	return next, nil
}

// SetDecay changes how many levels a span rises per second of waiting; 0 or less turns aging off, in queues with a decay of
// their own too, and each level is then plain first come, first served.
func (b *Board) SetDecay(perSecond float64) {
	b.aging = perSecond > 0
	b.policy.decay = perSecond
	b.policy.rise = riseOf(perSecond)
	b.inherit()
}

func riseOf(perSecond float64) int64 {
	if !(perSecond > 0) {
		return 0
	}
	// Slower than a level a year means nothing, and the product of six levels has to fit.
	const slowest = float64(365 * 24 * time.Hour)
	return int64(max(1, min(float64(time.Second)/perSecond, slowest)))
}

// inherit brings the policies of queues up to date with the engine's.
func (b *Board) inherit() {
	for _, p := range b.policies {
		if !p.ownWeights {
			p.weights = b.policy.weights
		}
		p.rise = b.policy.rise
		if p.ownDecay && b.aging {
			p.rise = riseOf(p.decay)
		}
	}
}

// SetQueuePolicy gives a queue its own weights and decay, in the units of Config; nil means the engine's. A decay of 0 or less
// turns aging off for the queue. SetDecay(0) and SetStrict hold for every queue. Where spans of several queues compete in one
// handler's pools, each level's share is by the weight in the queue of the span that would take its turn.
func (b *Board) SetQueuePolicy(namespace, queue string, weights *[stage.Levels]int, decay *float64) error {
	next := b.policy.weights
	if weights != nil {
		var err error
		if next, err = checkWeights(*weights); err != nil {
			return fmt.Errorf("queue %s/%s: %w", namespace, queue, err)
		}
	}
	s := b.scope(OfQueue(namespace, queue))
	if s.policy == nil {
		if weights == nil && decay == nil {
			return nil
		}
		s.policy = new(policy)
		b.policies = append(b.policies, s.policy)
		defer b.reroute(s)
	}
	p := s.policy
	p.weights, p.ownWeights, p.ownDecay = next, weights != nil, decay != nil
	if decay != nil {
		p.decay = *decay
	}
	b.inherit()
	return nil
}

// policyOf is the policy of a queue.
func (b *Board) policyOf(queue *scope) *policy {
	if queue.policy != nil {
		return queue.policy
	}
	return &b.policy
}

// reroute moves the lanes of a queue to where its policy and demotion put them now.
func (b *Board) reroute(queue *scope) {
	for _, l := range b.lanes {
		if l.scopes[byQueue] != queue {
			continue
		}
		if l.pos >= 0 {
			l.queue().remove(l.pos)
		}
		l.route = b.route(l.handler, l.key.requires, l.key.solo, b.policyOf(queue))
		l.rank = placeOf(queue, l.key.level)
		if l.parked == nil {
			l.moved()
			b.activate(l.handler)
		}
	}
}

// SetStrict puts the levels strictly in order instead of sharing by weight: the fallback for when weights are switched off. A
// level then waits for as long as a better one has work; see the package comment.
func (b *Board) SetStrict(on bool) { b.strict = on }

// turnOf is the level among the set whose turn it is.
func (b *Board) turnOf(r *rotation, w *[levels]int64, set levelSet) int {
	if b.strict {
		return set.first()
	}
	return r.first(w, set)
}

// Demote makes the levels `from`..P5 of a queue take P5's turns, without aging, until it is called with a level beyond P5.
// Urgent slots are then closed to a demoted P0.
func (b *Board) Demote(namespace, queue string, from stage.Level) {
	s := b.scope(OfQueue(namespace, queue))
	if f := uint8(min(from, levels)); s.demoted != f {
		s.demoted = f
		b.reroute(s)
	}
}
