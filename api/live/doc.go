// Package live streams what changes to any number of clients, as Server-Sent Events.
//
// A Hub reads what is watched, once for all clients: a statement a tick for all runs, at most four ticks a second, fewer while nothing
// changes, none while nobody watches. News of ended runs comes from the process's hint.Bus, which has one LISTEN. What has changed
// is encoded once, in a frame that all clients share.
//
// Nothing is queued for a client. Each topic (a run, the runs of a flow or of a namespace) keeps a bounded ring of its newest frames,
// and a client is a place in it: a client that reads slowly, or comes again with Last-Event-ID, continues from its place while the
// ring reaches there, and from a snapshot when it does not. Frames of one tick share a number, which goes with the last of them, so
// that a client's place never says more than it has read.
package live
