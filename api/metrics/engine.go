package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"axflow/engine"
	"axflow/engine/dispatch"
)

// engineFigures shows an engine's counters over all its terms, and how flow control stands while it leads.
type engineFigures struct {
	counters        figures
	stats           *dispatch.Stats
	latency, lag    *prometheus.Desc
	standing        []standingFigure
	standingWritten *prometheus.Desc
}

// standingFigure is one number of how flow control stands.
type standingFigure struct {
	desc *prometheus.Desc
	read func(*dispatch.Standing) int
}

// fresh is how old what the leader saw may be: an engine that does not lead any more has nothing to say of it.
const fresh = time.Minute

func newEngine(e *engine.Engine) *engineFigures {
	s := e.Stats()
	gauge := func(name, help string, read func(*dispatch.Standing) int) standingFigure {
		return standingFigure{prometheus.NewDesc(name, help+" Only while this process leads.", nil, nil), read}
	}
	return &engineFigures{
		stats: s,
		counters: figures{
			counter("ax_engine_rounds_total", "Transactions that handed out.", &s.Rounds),
			counter("ax_engine_handed_total", "Tasks handed out.", &s.Handed),
			counter("ax_engine_refused_total", "Pieces that the database refused.", &s.Refused),
			counter("ax_engine_resolved_total", "Stages and runs decided.", &s.Resolved),
			counter("ax_engine_repaired_total", "Decisions that only the full scan found; 0 in a healthy cluster.", &s.Repaired),
			counter("ax_engine_seized_total", "Tasks taken from dead workers.", &s.Seized),
			counter("ax_engine_stuck_total", "Runs set aside for a fault of their own.", &s.Stuck),
			counter("ax_engine_clock_jumps_total", "Steps of the database's clock.", &s.Jumps),
			counter("ax_engine_faults_total", "Turns that failed.", &s.Faults),
			counter("ax_engine_scans_total", "Full scans.", &s.Scans),
			counter("ax_engine_expired_total", "Stages that ran out of their overall budget.", &s.Expired),
			counter("ax_engine_circuit_moves_total", "Moves of circuit breakers.", &s.CircuitMoves),
			counter("ax_engine_pressure_moves_total", "Changes of the pressure of queues with a capacity.", &s.PressureMoves),
		},
		latency: prometheus.NewDesc("ax_engine_dispatch_latency_seconds", "From ready to handed out.", nil, nil),
		lag:     prometheus.NewDesc("ax_engine_timer_lag_seconds", "From due to fired.", nil, nil),
		standing: []standingFigure{
			gauge("ax_engine_switches_off", "Kill switches that are off.", func(s *dispatch.Standing) int { return len(s.Off) }),
			gauge("ax_engine_busy_pools", "Handlers whose slots are nearly all busy.", func(s *dispatch.Standing) int { return len(s.BusyPools) }),
			gauge("ax_engine_overloaded_workers", "Workers that get nothing new while others can do their work.", func(s *dispatch.Standing) int { return len(s.Overloaded) }),
			gauge("ax_engine_open_circuits", "Circuits that hold work, or let one task through to probe.", func(s *dispatch.Standing) int { return len(s.OpenCircuits) }),
			gauge("ax_engine_pressed_queues", "Queues that are demoted or paused for being full.", func(s *dispatch.Standing) int { return len(s.Pressed) }),
			gauge("ax_engine_paused_runs", "Runs that are paused.", func(s *dispatch.Standing) int { return s.HeldRuns }),
			gauge("ax_engine_skipped_groups", "Groups of blocked work that are kept out of memory.", func(s *dispatch.Standing) int { return s.SkippedGroups }),
			gauge("ax_engine_crowded_lanes", "Lanes (stage, queue, level) that wait in the database in part.", func(s *dispatch.Standing) int { return s.Crowded }),
		},
		standingWritten: prometheus.NewDesc("ax_engine_standing_timestamp_seconds", "When this process saw last, as the leader, how flow control stands.", nil, nil),
	}
}

// Describe is prometheus.Collector's.
func (e *engineFigures) Describe(to chan<- *prometheus.Desc) {
	e.counters.Describe(to)
	to <- e.latency
	to <- e.lag
	to <- e.standingWritten
	for _, f := range e.standing {
		to <- f.desc
	}
}

// Collect is prometheus.Collector's.
func (e *engineFigures) Collect(to chan<- prometheus.Metric) {
	e.counters.Collect(to)
	to <- histogram(e.latency, &e.stats.Latency)
	to <- histogram(e.lag, &e.stats.TimerLag)
	s := e.stats.Standing()
	if s == nil {
		return
	}
	to <- prometheus.MustNewConstMetric(e.standingWritten, prometheus.GaugeValue, float64(s.At.UnixMilli())/1000)
	if time.Since(s.At) > fresh {
		return
	}
	for _, f := range e.standing {
		to <- prometheus.MustNewConstMetric(f.desc, prometheus.GaugeValue, float64(f.read(s)))
	}
}

// histogram shows one of the engine's. Its last bucket has no bound.
func histogram(desc *prometheus.Desc, h *dispatch.Histogram) prometheus.Metric {
	counts, bounds, sum := h.Snapshot()
	buckets := make(map[float64]uint64, len(bounds))
	var n uint64
	for i, c := range counts {
		n += c
		if i < len(counts)-1 {
			buckets[bounds[i].Seconds()] = n
		}
	}
	return prometheus.MustNewConstHistogram(desc, n, sum.Seconds(), buckets)
}
