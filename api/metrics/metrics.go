// Package metrics shows the counters of AX's parts to Prometheus. They are read when somebody asks, so they cost nothing in between.
// They are the process's: of all namespaces, and of this process's parts only. Labels are few and bounded; what has a name that users
// give (a flow, a queue) is counted, not listed.
package metrics

import (
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"axflow/api/live"
	"axflow/engine"
	"axflow/sql/hint"
	"axflow/worker"
)

// Parts are what a process holds; those that are nil show nothing.
type Parts struct {
	Engine *engine.Engine
	Worker *worker.Worker
	Bus    *hint.Bus
	Live   *live.Hub
	// Pools are the process's connection pools, by what they are for.
	Pools map[string]*pgxpool.Pool
	// Version is the program's.
	Version string
}

// Register shows the parts, the Go runtime and the process in a registry.
func Register(to prometheus.Registerer, p Parts) error {
	all := []prometheus.Collector{
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "ax_build_info", Help: "1; the label says which version runs.", ConstLabels: prometheus.Labels{"version": p.Version}},
			func() float64 { return 1 }),
	}
	if p.Engine != nil {
		all = append(all, newEngine(p.Engine))
	}
	if p.Worker != nil {
		all = append(all, newWorker(p.Worker))
	}
	if p.Bus != nil {
		all = append(all, newBus(p.Bus.Stats()))
	}
	if p.Live != nil {
		all = append(all, newLive(p.Live.Stats()))
	}
	for name, pool := range p.Pools {
		all = append(all, newPool(name, pool))
	}
	var errs []error
	for _, c := range all {
		errs = append(errs, to.Register(c))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("registering metrics: %w", err)
	}
	return nil
}

// figure is one number that is read when asked for.
type figure struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	read func() float64
}

// figures are a collector of numbers that are read one by one.
type figures []figure

// Describe is prometheus.Collector's.
func (f figures) Describe(to chan<- *prometheus.Desc) {
	for _, x := range f {
		to <- x.desc
	}
}

// Collect is prometheus.Collector's.
func (f figures) Collect(to chan<- prometheus.Metric) {
	for _, x := range f {
		to <- prometheus.MustNewConstMetric(x.desc, x.kind, x.read())
	}
}

// loader is a counter that only grows.
type loader interface{ Load() uint64 }

func counter(name, help string, from loader) figure {
	return figure{prometheus.NewDesc(name, help, nil, nil), prometheus.CounterValue, func() float64 { return float64(from.Load()) }}
}

func newBus(s *hint.Stats) figures {
	return figures{
		counter("ax_hints_notifies_total", "NOTIFY transactions that were committed.", &s.Notifies),
		counter("ax_hints_payloads_total", "Payloads in them.", &s.Payloads),
		counter("ax_hints_failed_total", "NOTIFY transactions that failed; their payloads are sent again.", &s.Failed),
		counter("ax_hints_received_total", "Payloads that came by LISTEN.", &s.Received),
		counter("ax_hints_garbage_total", "Payloads that could not be read.", &s.Garbage),
		counter("ax_hints_reconnects_total", "Times that the listener lost its connection, or could not connect.", &s.Reconnects),
	}
}

func newLive(s *live.Stats) figures {
	return figures{
		{prometheus.NewDesc("ax_live_streams", "Event streams that are open.", nil, nil), prometheus.GaugeValue, func() float64 { return float64(s.Streams.Load()) }},
		counter("ax_live_streams_total", "Event streams so far.", &s.Opened),
		counter("ax_live_refused_total", "Event streams refused for the limits.", &s.Refused),
		counter("ax_live_slow_total", "Event streams ended because the client read too slowly.", &s.Slow),
		counter("ax_live_looks_total", "Round trips to the database for event streams.", &s.Looks),
		counter("ax_live_failed_looks_total", "Those that failed.", &s.Failed),
		counter("ax_live_frames_total", "Frames sent to clients.", &s.Frames),
		counter("ax_live_bytes_total", "Bytes sent to clients.", &s.Bytes),
	}
}

// newPool shows a connection pool.
func newPool(name string, pool *pgxpool.Pool) figures {
	labels := prometheus.Labels{"pool": name}
	show := func(name, help string, kind prometheus.ValueType, read func(*pgxpool.Stat) float64) figure {
		return figure{prometheus.NewDesc(name, help, nil, labels), kind, func() float64 { return read(pool.Stat()) }}
	}
	return figures{
		show("ax_pool_connections_max", "Connections that the pool may have.", prometheus.GaugeValue, func(s *pgxpool.Stat) float64 { return float64(s.MaxConns()) }),
		show("ax_pool_connections_busy", "Connections that are in use.", prometheus.GaugeValue, func(s *pgxpool.Stat) float64 { return float64(s.AcquiredConns()) }),
		show("ax_pool_connections_idle", "Connections that are not.", prometheus.GaugeValue, func(s *pgxpool.Stat) float64 { return float64(s.IdleConns()) }),
		show("ax_pool_acquires_total", "Times that somebody took a connection.", prometheus.CounterValue, func(s *pgxpool.Stat) float64 { return float64(s.AcquireCount()) }),
		show("ax_pool_waits_total", "Those that found none idle.", prometheus.CounterValue, func(s *pgxpool.Stat) float64 { return float64(s.EmptyAcquireCount()) }),
		show("ax_pool_cancelled_total", "Those that gave up waiting.", prometheus.CounterValue, func(s *pgxpool.Stat) float64 { return float64(s.CanceledAcquireCount()) }),
		show("ax_pool_acquire_seconds_total", "How long all took together.", prometheus.CounterValue, func(s *pgxpool.Stat) float64 { return s.AcquireDuration().Seconds() }),
		show("ax_pool_opened_total", "Connections opened.", prometheus.CounterValue, func(s *pgxpool.Stat) float64 { return float64(s.NewConnsCount()) }),
	}
}
