package explain

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"axflow/engine/dispatch/board"
	"axflow/flow"
	"axflow/stage"
)

// ofRun reports on the whole run: its undecided stages, and of an ended one those that failed.
func (x *scene) ofRun(ctx context.Context) (*Report, error) {
	r := x.head()
	r.State = x.state.String()
	r.Gates = x.wide()
	if x.state == stage.RunCancelling {
		r.Gates = append(r.Gates, gate(GateCancel, false, "the run is being cancelled: nothing new starts but teardowns of what was set up, and what runs is asked to stop"))
	}
	if x.version != nil {
		x.addStages(&r)
	}
	x.diagnose(&r)
	if err := x.runPast(ctx, &r); err != nil {
		return nil, err
	}
	for i := range r.Stages {
		if err := x.adoptChild(ctx, &r.Stages[i]); err != nil {
			return nil, err
		}
	}
	return &r, nil
}

// addStages reports on the stages that keep the run from its end, ranked by what blocks.
func (x *scene) addStages(r *Report) {
	var waiting, ranked []int
	for ord := range x.stages {
		switch s := &x.stages[ord]; {
		case s.state == stage.StageWaiting:
			waiting = append(waiting, ord)
		case !s.state.Decided(), s.state == stage.StageFailed, s.state == stage.StageCancelled && x.state.Ended() && x.state != stage.RunCancelled:
			ranked = append(ranked, ord)
		}
	}
	reports := make(map[int]Report)
	class := make(map[int]int)
	behind := make(map[int]int)
	explain := func(ord int) {
		reports[ord] = x.ofStage(ord, false)
		class[ord] = x.class(ord, reports[ord])
		for _, d := range x.version.Graph.Descendants(ord) {
			if d != ord && !x.stages[d].state.Decided() {
				behind[ord]++
			}
		}
	}
	if more := len(ranked) - 4*mostStages; more > 0 {
		ranked, r.More = ranked[:4*mostStages], more
	}
	for _, ord := range ranked {
		explain(ord)
	}
	slices.SortStableFunc(ranked, func(a, b int) int {
		if c := class[a] - class[b]; c != 0 {
			return c
		}
		return behind[b] - behind[a]
	})
	most := mostStages
	for _, ord := range append(ranked, waiting...) {
		if most == 0 {
			r.More++
			continue
		}
		most--
		if _, ok := reports[ord]; !ok {
			reports[ord] = x.ofStage(ord, false)
		}
		r.Stages = append(r.Stages, reports[ord])
	}
}

// class ranks a stage: what failed or needs somebody, what is held back, what waits for its turn, what goes on.
func (x *scene) class(ord int, r Report) int {
	if x.stages[ord].state == stage.StageFailed {
		return 0
	}
	best := 4
	for _, g := range r.Groups {
		switch {
		case g.Fate == FateDead || g.Fate == FateExpired:
			best = min(best, 1)
		case g.Fate == FateReady && held(g.Gates):
			best = min(best, 1)
		case g.Fate == FateReady || g.Fate == FateRetrying || g.Fate == FateDelayed:
			best = min(best, 2)
		case g.Fate == FateInFlight:
			best = min(best, 3)
		}
	}
	return best
}

// held tells whether more than time and the turn of others keeps work back.
func held(gates []Gate) bool {
	for _, g := range gates {
		if !g.Open && g.Name != board.GateTurn && g.Name != board.GateCapacity {
			return true
		}
	}
	return false
}

// diagnose says in one sentence what the run waits for, or how it ended.
func (x *scene) diagnose(r *Report) {
	if x.state.Ended() {
		r.Diagnosis = x.endText(r)
		return
	}
	switch {
	case anyClosed(r.Gates):
		r.Diagnosis, r.Next = because(r.Gates), x.next(r.Gates)
		if len(r.Stages) > 0 && x.run.Stuck == nil && x.version != nil {
			r.Diagnosis += fmt.Sprintf(" (%s undecided)", counted(len(r.Stages)+r.More, "stage"))
		}
	case len(r.Stages) == 0:
		r.Diagnosis = "all stages have ended: the engine ends the run with its next full scan (every 10 s), if no event comes first"
		r.Gates = append(r.Gates, gate(GateDecision, false, "%s", r.Diagnosis))
	default:
		s := &r.Stages[0]
		for i := range r.Stages { // a failed stage says how the run will end, not what it waits for
			if r.Stages[i].State != stage.StageFailed.String() {
				s = &r.Stages[i]
				break
			}
		}
		r.Diagnosis = fmt.Sprintf("%s: %s", s.Stage, s.Diagnosis)
		if more := len(r.Stages) + r.More - 1; more > 0 {
			r.Diagnosis += fmt.Sprintf(" (and %s)", counted(more, "other stage"))
		}
		r.Next = s.Next
		if _, over := flow.Outcome(x.version.Graph, x.status); over {
			r.Diagnosis = "all stages have ended: the engine ends the run with its next full scan (every 10 s), if no event comes first"
			r.Gates = append(r.Gates, gate(GateDecision, false, "%s", r.Diagnosis))
			r.Next = ""
		}
	}
}

func (x *scene) endText(r *Report) string {
	text := x.state.String()
	if x.run.FinishedAt != nil {
		text += " after " + lasting(x.run.FinishedAt.Sub(x.run.CreatedAt))
	}
	if e := errorText(x.run.Error); e != "" {
		text += ": " + e
	}
	counts := make(map[stage.StageState]int)
	for i := range x.stages {
		counts[x.stages[i].state]++
	}
	var parts []string
	for _, st := range stage.StageStates() {
		if counts[st] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[st], strings.ReplaceAll(st.String(), "_", " ")))
		}
	}
	text += "; stages: " + strings.Join(parts, ", ")
	if len(r.Stages) > 0 {
		text += fmt.Sprintf("; %s: %s", r.Stages[0].Stage, r.Stages[0].Diagnosis)
		r.Next = r.Stages[0].Next
	}
	return text
}

// adoptChild explains the run that a report waits for, one level down.
func (x *scene) adoptChild(ctx context.Context, r *Report) error {
	if x.depth > 0 {
		return nil
	}
	id := childOf(r.Gates)
	for i := range r.Groups {
		if id == uuid.Nil {
			id = childOf(r.Groups[i].Gates)
		}
	}
	if id == uuid.Nil {
		return nil
	}
	x.depth++
	defer func() { x.depth-- }()
	child, err := x.scene(ctx, Target{Run: id})
	if err != nil {
		return fmt.Errorf("reading the sub-flow's run: %w", err)
	}
	r.Child, err = child.ofRun(ctx)
	return err
}

func childOf(gates []Gate) uuid.UUID {
	for _, g := range gates {
		if g.Name == GateChild && !g.Open && g.Holder != nil {
			return *g.Holder
		}
	}
	return uuid.Nil
}
