package api

import (
	"fmt"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics are the server's own. Their labels are bounded: operations are those of the document, statuses those that it answers.
type metrics struct {
	requests *prometheus.CounterVec
	took     *prometheus.HistogramVec
	inFlight prometheus.Gauge
}

func newMetrics(to prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "ax_http_requests_total",
			Help: "Requests answered, by operation and status; operation none is what the document does not have, status gone a client that did not wait."},
			[]string{"operation", "status"}),
		took: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "ax_http_request_duration_seconds",
			Help:    "From a request's head to the end of its answer; without event streams.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}}, []string{"operation"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{Name: "ax_http_requests_in_flight", Help: "Requests that are being answered, event streams too."}),
	}
	for _, c := range []prometheus.Collector{m.requests, m.took, m.inFlight} {
		if err := to.Register(c); err != nil {
			return nil, fmt.Errorf("registering the server's metrics: %w", err)
		}
	}
	return m, nil
}

func (m *metrics) observe(op *operation, status int, gone bool, took time.Duration) {
	id, text := "none", strconv.Itoa(status)
	if op != nil {
		id = op.id
	}
	if gone {
		text = "gone"
	}
	m.requests.WithLabelValues(id, text).Inc()
	if op == nil || !op.streams {
		m.took.WithLabelValues(id).Observe(took.Seconds())
	}
}
