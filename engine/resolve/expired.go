package resolve

import (
	"fmt"
	"time"

	"axflow/flow"
	"axflow/stage"
)

// expired are the decisions about stages that have waited for their upstreams longer than they may.
func expired(g *flow.Graph, status func(int) (flow.Status, bool), waited map[int]time.Duration) []flow.Decision {
	var late []flow.Decision
	for ord := range g.Stages {
		limit := g.Stages[ord].Timeout.Dependency
		if limit == 0 || waited[ord] <= limit {
			continue
		}
		if s, ok := status(ord); ok && s.State == stage.StageWaiting {
			late = append(late, flow.Decision{Ord: ord, Act: flow.FailUpstream,
				Reason: fmt.Sprintf("its upstreams took longer than Timeout.Dependency, %v", limit)})
		}
	}
	return late
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
