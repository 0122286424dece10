// Package worker runs the handlers of stages: it takes what the leader hands out, runs it in bounded pools under
// time-outs, and writes the results down in batches.
//
// A worker owns what it was handed as flights: rows of ax.flight under its id. It tells the database alone what
// it did with them (finish, give back); whatever the leader has taken away meanwhile is refused there. Hints only
// hasten: every heartbeat names the flights and what is asked, so that a lost hint costs a beat.
//
// Delivery is at least once: a handler may run again after a crash, a lost worker or an interruption, and its
// result is accepted once. InTx and InTxShards make handlers whose writes to the same database commit together
// with the finish, so that their effects happen exactly once.
package worker
