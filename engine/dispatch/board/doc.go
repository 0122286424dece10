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
// grants, chooses among them.
//
// Within a level goes first who has the least effective priority, level − waited × decay, and on ties who
// came first. The first span of a level, once it has aged to a better level, competes for that level's turns as
// well as for its own. Aging ends at P1: P0 stays free for what is urgent now.
//
// Nothing starves. A span of native level L always takes part in L's turns; there only spans that became
// ready before it (at its level), or earlier still (at a lower one), are in front, and both are finitely
// many and fixed on arrival. With B indices in front, n of its own, W the sum of weights and M the largest
// piece, its last index is handed out before the handler hands out (B+n+M)·W/w(L) + 6·M indices that it
// could have used.
//
// # Lanes
//
// Spans that share every gate (handler, labels, queue, limit key, level) queue in one lane, and a closed
// gate takes whole lanes out of sight until it opens. So a round costs what it grants, not what is waiting:
// a blocked span never holds up another, and is not looked at again for nothing. Only a limit that many lanes share (a
// queue's) makes a round look at all of them when it frees: about 0.3 µs a lane.
package board
