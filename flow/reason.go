package flow

import (
	"fmt"
	"strings"

	"axflow/stage"
)

// reason says in words why a stage was decided, such as
// `all_success: of 3 upstreams 1 succeeded, 1 failed ("clean"), 1 undecided`.
func (r *resolver) reason(spec *StageSpec, c stage.Counts) string {
	if c.N == 0 {
		return "it has no upstreams"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: of %d upstreams", spec.Rule, c.N)
	if c.N == 1 {
		b.Reset()
		fmt.Fprintf(&b, "%s: of 1 upstream", spec.Rule)
	}
	parts := 0
	part := func(n int, what string, states ...stage.StageState) {
		if n == 0 {
			return
		}
		if parts++; parts > 1 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, " %d %s", n, what)
		if name := r.firstIn(spec, states); name != "" {
			fmt.Fprintf(&b, " (%q)", name)
		}
	}
	part(c.S, "succeeded")
	part(c.F, "failed", stage.StageFailed, stage.StageCancelled)
	part(c.U, "upstream_failed", stage.StageUpstreamFailed)
	part(c.K, "skipped", stage.StageSkipped)
	part(c.Undecided(), "undecided")
	return b.String()
}

// firstIn returns the name of the first upstream that is in one of the states.
func (r *resolver) firstIn(spec *StageSpec, states []stage.StageState) string {
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
