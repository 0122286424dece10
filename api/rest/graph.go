package rest

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"axflow/api/gen"
	"axflow/api/problem"
	"axflow/flow"
)

// graphOf is a graph with names instead of numbers and seconds instead of nanoseconds.
func graphOf(g *flow.Graph) gen.Graph {
	out := gen.Graph{Stages: make([]gen.GraphStage, len(g.Stages))}
	for ord := range g.Stages {
		out.Stages[ord] = graphStage(g, &g.Stages[ord])
	}
	return out
}

func graphStage(g *flow.Graph, s *flow.StageSpec) gen.GraphStage {
	out := gen.GraphStage{Name: s.Name, Kind: stageKind(s.Kind), Upstreams: make([]string, len(s.Upstreams)), Rule: string(s.Rule), Queue: opt(s.Queue),
		Limit: opt(s.Limit), Requires: s.Requires, Prefers: s.Prefers, Routing: opt(string(s.Routing)), Downstreams: s.Downstreams,
		Child: opt(s.Child), Conditional: opt(s.Conditional), FailFast: opt(s.FailFast), Disabled: opt(s.Disabled),
		Uninterruptible: opt(s.Uninterruptible), Tx: opt(s.Tx), Breaker: opt(s.Breaker != nil)}
	for i, up := range s.Upstreams {
		out.Upstreams[i] = g.Stages[up].Name
	}
	if s.AlignedTo >= 0 {
		out.AlignedTo = &g.Stages[s.AlignedTo].Name
	}
	if s.TeardownOf != nil {
		out.TeardownOf = &g.Stages[*s.TeardownOf].Name
	}
	if s.Level != nil {
		l := level(int16(*s.Level))
		out.Level = &l
	}
	if s.Rate != nil {
		out.Rate = opt(fmt.Sprintf("%d every %v", s.Rate.Starts, s.Rate.Per))
	}
	if s.Key != nil {
		out.Key = opt(s.Key.Group)
		if s.Key.Group == "" {
			out.Key = opt(s.Key.From)
		}
	}
	out.Retry.MaxAttempts = s.Retry.MaxAttempts
	if s.Retry.MaxAttempts > 1 {
		out.Retry.InitialIntervalS, out.Retry.MaximumIntervalS = inSeconds(s.Retry.InitialInterval), inSeconds(s.Retry.MaximumInterval)
		out.Retry.BackoffCoefficient = opt(s.Retry.BackoffCoefficient)
	}
	out.Timeout.ExecutionS, out.Timeout.DispatchS = inSeconds(s.Timeout.Execution), inSeconds(s.Timeout.Dispatch)
	out.Timeout.OverallS, out.Timeout.HeartbeatS = inSeconds(s.Timeout.Overall), inSeconds(s.Timeout.Heartbeat)
	return out
}

// inSeconds is a duration in seconds; nil for none.
func inSeconds(d time.Duration) *float64 { return opt(d.Seconds()) }

// stored refuses what the database can hold in no text, and so in no name.
func stored(field, text string) error {
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return problem.Field(field, "it has characters that are no text: write it in UTF-8, without NUL")
	}
	return nil
}
