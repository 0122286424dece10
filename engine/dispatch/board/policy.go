package board

import "axflow/stage"

// SetQueuePolicy gives a queue its own weights and decay, in the units of Config; nil means the engine's. A decay of 0 or less
// turns aging off for the queue. SetDecay(0) and SetStrict hold for every queue.
func (b *Board) SetQueuePolicy(namespace, queue string, weights *[stage.Levels]int, decay *float64) error {
	return nil
}

// SetStrict puts the levels strictly in order instead of sharing by weight: the fallback for when weights are switched off.
func (b *Board) SetStrict(on bool) {}

// Demote makes the levels `from`..P5 of a queue take P5's turns, without aging, until it is called with a level beyond P5.
// Urgent slots are then closed to a demoted P0.
func (b *Board) Demote(namespace, queue string, from stage.Level) {}
