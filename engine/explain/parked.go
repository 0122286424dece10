package explain

import (
	"fmt"
	"slices"
	"strings"

	"axflow/engine/dispatch/board"
	"axflow/sql/db"
	"axflow/sql/span"
)

// parkedFates are the fates of what is parked, by reason.
var parkedFates = map[span.ParkReason]Fate{
	span.Dead: FateDead, span.Poison: FateDead, span.Expired: FateExpired, span.Discarded: FateDiscarded, span.Cancelled: FateCancelled,
	span.Skipped: FateSkipped, span.UpstreamFailed: FateUpstream, span.Aligned: FateAligned, span.Child: FateChild,
}

// parkedGroups tells of what waits for shards or runs, and of what will not run unless somebody acts: the dead by error.
func (x *scene) parkedGroups(ord int) []Group {
	type sort struct {
		kind, reason int16
		fingerprint  string
	}
	firsts := make(map[sort]db.WhyParkedRow)
	var sorts []sort
	for _, r := range x.stages[ord].parked {
		k := sort{r.Kind, r.Reason, r.Fingerprint}
		if _, ok := firsts[k]; !ok {
			firsts[k], sorts = r, append(sorts, k)
		}
	}
	slices.SortStableFunc(sorts, func(a, b sort) int { return int(firsts[b].AllTasks) - int(firsts[a].AllTasks) })
	var groups []Group
	errors, more := 0, 0
	for _, k := range sorts {
		r := firsts[k]
		if span.ParkReason(k.reason).DeadLetter() {
			if errors++; errors > mostErrors {
				more += int(r.AllTasks)
				continue
			}
		}
		groups = append(groups, x.parkedGroup(ord, r))
	}
	if more > 0 {
		groups = append(groups, Group{Fate: FateDead, Tasks: more, Next: "see to the errors, then retry: " + x.retry(ord),
			Diagnosis: fmt.Sprintf("dead with %d other errors", errors-mostErrors),
			Gates:     []Gate{gate(GateEnd, false, "dead letters")}})
	}
	return groups
}

// retry is the command that gives a stage's dead tasks another chance.
func (x *scene) retry(ord int) string {
	return fmt.Sprintf("`ax run retry %s %s`", x.run.RunID, x.version.Graph.Stages[ord].Name)
}

func (x *scene) parkedGroup(ord int, r db.WhyParkedRow) Group {
	why := span.ParkReason(r.Reason)
	g := Group{Fate: parkedFates[why], Tasks: int(r.AllTasks), Shards: indices(r.Todo)}
	if r.AllRows > 1 {
		g.Shards += ",..."
	}
	key := taskKey{r.Ord, r.Generation, r.First}
	if x.shard != nil {
		key.shard = int32(*x.shard)
	}
	since := r.ParkedAt
	end := func(format string, args ...any) {
		c := gate(GateEnd, false, format, args...)
		c.Since = &since
		g.Gates, g.Diagnosis = []Gate{c}, c.Reason
	}
	last := ""
	if e, ok := x.errors[key]; ok {
		last = ": " + x.failure(e.Outcome, e.Error)
	}
	ago := lasting(x.now.Sub(r.ParkedAt))
	switch why {
	case span.Dead:
		attempts := counted(int(r.Attempt), "attempt")
		if most := x.maxAttempts(ord); int(r.Attempt) < most {
			attempts += fmt.Sprintf(" of %d (not retryable)", most)
		}
		end("dead for %s after %s%s", ago, attempts, last)
		g.Next = "see to the error, then retry: " + x.retry(ord)
	case span.Poison:
		end("dead for %s: %s of its workers died while they held it alone, so it is not handed out any more%s", ago,
			number(int(r.Losses)), last)
		g.Next = "find out what it does to its worker (memory?), then retry: " + x.retry(ord)
	case span.Expired:
		end("expired %s ago: the stage's overall budget of %s ran out in attempt %d%s", ago,
			lasting(x.version.Graph.Stages[ord].Timeout.Overall), r.Attempt, last)
		g.Next = "give it more time (Timeout.Overall), or retry: " + x.retry(ord)
	case span.Discarded:
		end("discarded by an operator %s ago%s", ago, last)
	case span.Cancelled:
		end("cancelled %s ago", ago)
		if v := x.stages[ord].row.Verdict; v != nil && x.stages[ord].row.Reason != nil {
			end("cancelled %s ago: %s", ago, *x.stages[ord].row.Reason)
		}
	case span.Skipped:
		text := "skipped %s ago by an operator"
		if x.version.Graph.Stages[ord].Conditional {
			text = "skipped %s ago: its condition was false, or an operator skipped it"
		}
		end(text, ago)
	case span.UpstreamFailed:
		end("it will not run: the shards of %s that it follows have failed", stageName(x, x.version.Graph.Stages[ord].AlignedTo))
	case span.Aligned:
		c := gate(GateAligned, false, "waits for the same shards of %s", stageName(x, x.version.Graph.Stages[ord].AlignedTo))
		g.Gates = append(x.wide(), c)
		g.Diagnosis = because(g.Gates)
	case span.Child:
		c := gate(GateChild, false, "waits for the run of its sub-flow %s", x.version.Graph.Stages[ord].Child)
		if id, ok := x.children[key]; ok {
			c.Reason = fmt.Sprintf("waits for run %s of its sub-flow %s", id, x.version.Graph.Stages[ord].Child)
			c.Holder = &id
		}
		c.Since = &since
		g.Gates = append(x.wide(), c)
		g.Diagnosis = because(g.Gates)
	default:
		end("parked %s ago for a reason that this binary does not know (%d)", ago, r.Reason)
		g.Fate = FateDead
	}
	return g
}

// nextFor is what an operator can do about closed gates.
func (x *scene) next(gates []Gate) string {
	for _, g := range closed(gates) {
		switch g.Name {
		case GateStuck:
			return fmt.Sprintf("see the engine's log; `ax run cancel %s --force` ends the run", x.run.RunID)
		case GateLeader:
			return "start an engine: `ax server`, or `ax dev`"
		case board.GatePaused:
			return x.resume(g)
		case board.GateBreaker:
			return "mend what fails, or close the circuit by hand: `ax circuit close`"
		case board.GateCapability:
			return "start a worker that has the stage and its labels"
		case board.GateCapacity:
			return "wait, start more workers, or enlarge the pool: `ax pool set`"
		case board.GateLimit:
			return "wait, or raise the limit"
		case board.GatePressure:
			return "wait until the queue has drained, or raise its capacity"
		}
	}
	return ""
}

// resume is the command that ends a pause.
func (x *scene) resume(g Gate) string {
	kind, name, _ := strings.Cut(g.Scope, " ")
	switch kind {
	case "queue", "flow":
		return fmt.Sprintf("when it may go on: `ax %s resume %s`", kind, strings.TrimPrefix(name, x.run.Namespace+"/"))
	default:
		return fmt.Sprintf("when it may go on: `ax run resume %s`", x.run.RunID)
	}
}

// ended tells whether a fate is an end until somebody acts.
func (f Fate) ended() bool {
	switch f {
	case FateDead, FateExpired, FateDiscarded, FateCancelled, FateSkipped, FateUpstream, FateSucceeded:
		return true
	default:
		return false
	}
}
