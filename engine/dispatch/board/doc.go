// Package board decides which pending work goes to which worker, and why not yet.
//
// A Board is a plain state machine: events in (spans, workers, flights, progress), decisions out
// (grants). It does no I/O, starts no goroutine and reads no clock; time and flight ids are passed in.
// One goroutine owns it and there are no locks. Everything in it can be rebuilt from the database,
// which checks every grant again, so a Board that is behind costs a refused cut and never a double run.
// The same events in the same order give the same grants.
//
// # Order
//
// Work competes where it meets: in the worker pools of one handler, which are isolated from those of
// every other handler. There the levels P0..P5 share by weight (start-time fair queueing; Goyal, Vin,
// Cheng, SIGCOMM 1996), counted in the indices handed out, so that under saturation a level gets its
// weight's share of machine time exactly; what a level does not use flows on, and an idle level saves up
// no credit. When a round is too short for all the handlers that have room, the same rotation, counted in
// grants and by the engine's weights, chooses among them.
//
// Within a level goes first who has been at it for longest, and on ties who came first. A span comes to its own level
// when it is ready, and to each better one as it ages: (its level − the other) / decay later. The first span of a level, once it
// has aged to a better level, competes for that level's turns as well as for its own. Aging ends at P1: P0 stays
// free for what is urgent now. Queues may have weights and a decay of their own. Demoted levels of a queue take P5's turns and do
// not age.
//
// # Nothing starves
//
// Let w(x) be the weight of a level, W their sum, and M the largest piece (MaxPiece); where queues have weights of their
// own, w is the least of them for the level in question and the greatest for the others. Call a level dispatchable while a
// span in its turns passes every gate and a pool has room for it.
//
// Between two grants in turns of a level l that stays dispatchable, the first of n indices, every other level x is handed at
// most ⌊n·w(x)/w(l)⌋ + M indices if x is more urgent than l, and ⌈n·w(x)/w(l)⌉ − 1 + M if it is less. For: the turn goes to the
// least tag, so when l was chosen with tag T every contesting level had a tag of at least T, and charge lifts the others to T.
// After the grant l stands at T + n/w(l), and x is chosen again only with a tag of at most that (below it, if ties go to l). If x
// has been handed k indices since, its tag is at least T + k/w(x), so k ≤ n·w(x)/w(l); one more piece follows at most. The same
// with n = M bounds the first grant after the level became dispatchable, since no tag is more than M/w(l) ahead of T. A grant
// that is taken back (Reject) takes its charge back.
//
// A span of native level l takes part in l's turns from when it is ready, and those go to it or to what came to l before
// it: finitely many indices, B, fixed when it came, for what comes later comes behind. So a span of n indices that stays
// dispatchable has been handed out entirely, at the latest, when the handler has handed out (B+n+M)·W/w(l) + 5·M indices.
// Aging only makes that sooner. TestEveryRotation checks the first bound over all choices of an adversary,
// TestGapBetweenGrants on the Board, TestNoStarvation the second.
//
// With SetStrict there is no such bound: a level waits for as long as a better one has work, which is what strict order means. With aging
// on, a span still comes to P1 within (level − 1)/decay, and then waits only for P0 and for what came to P1 before it.
//
// # Lanes
//
// Spans that share every gate but that of their concurrency key queue in one lane, those of one key in one strand of it, and a
// closed gate takes whole lanes or strands out of sight until it opens. So a round costs what it grants, not what is waiting:
// a blocked span never holds up another, and is not looked at again for nothing; a full key stands aside by itself. Only a limit
// that many lanes share (a queue's) makes a round look at all of them when it frees: about 0.3 µs a lane, of which there is one for
// a stage, queue and level.
//
// # Starts in time
//
// Rates count starts in rings of 17 slots, each a sixteenth of the window; see Rate. Lanes whose rate is used up wait in a heap by
// when it frees, which NextRate tells. Reserve never hands out what has a rate, since its starts are written down with the rounds.
package board
