package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"axflow/worker"
)

// workerFigures shows a worker's counters, all of one moment.
type workerFigures struct {
	worker *worker.Worker
	ended  *prometheus.Desc
	shown  []workerFigure
}

type workerFigure struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	read func(*worker.Stats) float64
}

func newWorker(w *worker.Worker) *workerFigures {
	count := func(name, help string, read func(*worker.Stats) uint64) workerFigure {
		return workerFigure{prometheus.NewDesc(name, help, nil, nil), prometheus.CounterValue, func(s *worker.Stats) float64 { return float64(read(s)) }}
	}
	return &workerFigures{
		worker: w,
		ended:  prometheus.NewDesc("ax_worker_tasks_total", "Tasks that ended, by how.", []string{"outcome"}, nil),
		shown: []workerFigure{
			count("ax_worker_flights_total", "Flights taken on.", func(s *worker.Stats) uint64 { return s.Flights }),
			count("ax_worker_started_total", "Tasks started.", func(s *worker.Stats) uint64 { return s.Started }),
			count("ax_worker_late_total", "Handlers that returned when their task had ended without them.", func(s *worker.Stats) uint64 { return s.Late }),
			count("ax_worker_returned_total", "Tasks given back before they started.", func(s *worker.Stats) uint64 { return s.Returned }),
			count("ax_worker_lost_total", "Flights taken away.", func(s *worker.Stats) uint64 { return s.Lost }),
			count("ax_worker_fenced_total", "Transactions of handlers rolled back because the task was not this worker's any more.", func(s *worker.Stats) uint64 { return s.Fenced }),
			count("ax_worker_commits_total", "Commits of results.", func(s *worker.Stats) uint64 { return s.Batches }),
			count("ax_worker_results_total", "Results committed, refused ones included.", func(s *worker.Stats) uint64 { return s.Results }),
			count("ax_worker_poisoned_total", "Results that the database would not store.", func(s *worker.Stats) uint64 { return s.Poisoned }),
			count("ax_worker_faults_total", "Commits that failed and were repeated; 0 in a healthy worker.", func(s *worker.Stats) uint64 { return s.Faults }),
			count("ax_worker_beats_total", "Heartbeats.", func(s *worker.Stats) uint64 { return s.Beats }),
			count("ax_worker_beat_faults_total", "Heartbeats that failed.", func(s *worker.Stats) uint64 { return s.BeatFaults }),
			count("ax_worker_registrations_total", "1, unless the leader gave the worker up.", func(s *worker.Stats) uint64 { return s.Registrations }),
			count("ax_worker_log_lines_total", "Lines that handlers logged and that were stored.", func(s *worker.Stats) uint64 { return s.Logs }),
			count("ax_worker_log_lines_dropped_total", "Lines that handlers logged faster than is kept.", func(s *worker.Stats) uint64 { return s.LogsDropped }),
			{prometheus.NewDesc("ax_worker_results_waiting", "Results that are not committed yet.", nil, nil), prometheus.GaugeValue, func(s *worker.Stats) float64 { return float64(s.Waiting) }},
		},
	}
}

// Describe is prometheus.Collector's.
func (w *workerFigures) Describe(to chan<- *prometheus.Desc) {
	to <- w.ended
	for _, f := range w.shown {
		to <- f.desc
	}
}

// Collect is prometheus.Collector's.
func (w *workerFigures) Collect(to chan<- prometheus.Metric) {
	s := w.worker.Stats()
	for outcome, n := range map[string]uint64{"succeeded": s.Succeeded, "failed": s.Failed, "timed_out": s.TimedOut, "interrupted": s.Interrupted, "not_needed": s.NotNeeded} {
		to <- prometheus.MustNewConstMetric(w.ended, prometheus.CounterValue, float64(n), outcome)
	}
	for _, f := range w.shown {
		to <- prometheus.MustNewConstMetric(f.desc, f.kind, f.read(&s))
	}
}
