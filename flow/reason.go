package flow

import (
	"strconv"

	"axflow/stage"
)

// reason says in words why a stage was decided, such as
// `all_success: of 3 upstreams 1 succeeded, 1 failed ("clean"), 1 undecided`.
func (r *resolver) reason(spec *StageSpec, c stage.Counts) string {
	if c.N == 0 {
		return "it has no upstreams"
	}
	b := make([]byte, 0, 96)
	b = append(b, spec.Rule...)
	b = append(b, ": of "...)
	b = strconv.AppendInt(b, int64(c.N), 10)
	b = append(b, " upstream"...)
	if c.N > 1 {
		b = append(b, 's')
	}
	comma := false
	part := func(n int, what string, states ...stage.StageState) {
		if n == 0 {
			return
		}
		if comma {
			b = append(b, ',')
		}
		comma = true
		b = append(b, ' ')
		b = strconv.AppendInt(b, int64(n), 10)
		b = append(b, ' ')
		b = append(b, what...)
		if name := r.firstIn(spec, states); name != "" {
			b = append(b, " ("...)
			b = strconv.AppendQuote(b, name)
			b = append(b, ')')
		}
	}
	part(c.S, "succeeded")
	part(c.F, "failed", stage.StageFailed, stage.StageCancelled)
	part(c.U, "upstream_failed", stage.StageUpstreamFailed)
	part(c.K, "skipped", stage.StageSkipped)
	part(c.Undecided(), "undecided")
	return string(b)
}

// firstIn returns the name of the first upstream that is in one of the states.
func (r *resolver) firstIn(spec *StageSpec, states []stage.StageState) string {
	if len(states) == 0 {
		return ""
	}
	for _, u := range spec.Upstreams {
		s, known := r.status(u)
		for _, want := range states {
			if known && s.State == want {
				return r.graph.Stages[u].Name
			}
		}
	}
	return ""
}
