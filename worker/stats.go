package worker

import "sync/atomic"

// Stats counts what a worker has done since it was made.
type Stats struct {
	Flights uint64 // taken on
	Started uint64 // tasks
	// How tasks ended.
	Succeeded, Failed, TimedOut, Interrupted uint64
	NotNeeded                                uint64 // whose condition was false
	Late                                     uint64 // returns of handlers whose task had ended without them
	Returned                                 uint64 // tasks given back before they started
	Lost                                     uint64 // flights taken away
	Fenced                                   uint64 // InTx transactions rolled back because the task was not this worker's any more
	Batches                                  uint64 // commits of results
	Results                                  uint64 // results committed, refused ones included
	Poisoned                                 uint64 // results that the database would not store
	Faults                                   uint64 // commits that failed and were repeated; a healthy worker has none
	Beats                                    uint64
	// BeatFaults counts heartbeats that failed; Registrations is 1 unless the leader gave the worker up.
	BeatFaults, Registrations uint64
	Waiting                   int // results not yet committed
	// Logs and LogsDropped count lines that handlers logged: stored, and dropped. LogFaults counts inserts of them that failed
	// and were repeated.
	Logs, LogsDropped, LogFaults uint64
}

// MeanBatch is the mean number of results in a commit.
func (s Stats) MeanBatch() float64 {
	if s.Batches == 0 {
		return 0
	}
	return float64(s.Results) / float64(s.Batches)
}

type counters struct {
	flights, succeeded, failed, timedOut, interrupted, notNeeded, late, returned, lost, fenced atomic.Uint64
	batches, results, poisoned, faults, beats, beatFaults, registrations                       atomic.Uint64
	logs, logsDropped, logFaults                                                               atomic.Uint64
}

// Stats returns the counts so far. It is safe for concurrent use.
func (w *Worker) Stats() Stats {
	c := &w.count
	s := Stats{
		Flights: c.flights.Load(), Succeeded: c.succeeded.Load(), Failed: c.failed.Load(), TimedOut: c.timedOut.Load(),
		Interrupted: c.interrupted.Load(), NotNeeded: c.notNeeded.Load(), Late: c.late.Load(), Returned: c.returned.Load(), Lost: c.lost.Load(),
		Fenced: c.fenced.Load(), Batches: c.batches.Load(), Results: c.results.Load(), Poisoned: c.poisoned.Load(),
		Faults: c.faults.Load(), Beats: c.beats.Load(), BeatFaults: c.beatFaults.Load(), Registrations: c.registrations.Load(),
		Logs: c.logs.Load(), LogsDropped: c.logsDropped.Load(), LogFaults: c.logFaults.Load(),
	}
	for _, p := range w.pools {
		p.mu.Lock()
		s.Started += p.started
		p.mu.Unlock()
	}
	for _, c := range w.committers {
		s.Waiting += int(c.pending.Load())
	}
	return s
}
