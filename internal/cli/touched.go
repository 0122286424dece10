package cli

import (
	"fmt"
	"strings"

	"github.com/google/uuid"

	"axflow/engine/control"
	"axflow/shard"
)

// maxTouched is how many touched things are told one by one; --json tells all.
const maxTouched = 20

// touchedThing is a control.Touch in JSON.
type touchedThing struct {
	Run     *uuid.UUID `json:"run,omitempty"`
	Stage   string     `json:"stage,omitempty"`
	Indices string     `json:"indices,omitempty"`
	Count   int        `json:"count,omitempty"`
	What    string     `json:"what"`
}

// touchedThings is what an act answers in JSON.
type touchedThings struct {
	DryRun  bool           `json:"dry_run,omitempty"`
	Touched []touchedThing `json:"touched"`
	Runs    []refusedRun   `json:"refused,omitempty"`
	More    bool           `json:"more,omitempty"`
}

// refusedRun is a run on which a verb by filter did not act.
type refusedRun struct {
	Run   uuid.UUID `json:"run"`
	Error string    `json:"error"`
}

func things(touched []control.Touch) []touchedThing {
	list := make([]touchedThing, 0, len(touched))
	for _, t := range touched {
		x := touchedThing{Stage: t.Stage, What: t.What, Count: t.Indices.Len()}
		if t.Run != uuid.Nil {
			run := t.Run
			x.Run = &run
		}
		if !t.Indices.Empty() {
			x.Indices = t.Indices.String()
		}
		list = append(list, x)
	}
	return list
}

// touched tells what an act has touched, or would.
func (a *app) touched(touched []control.Touch, dry, asJSON bool) error {
	if asJSON {
		return a.jsonOf(touchedThings{DryRun: dry, Touched: things(touched)})
	}
	a.tell(touched, dry)
	return nil
}

func (a *app) tell(touched []control.Touch, dry bool) {
	switch {
	case len(touched) == 0 && dry:
		a.say("it would change nothing")
	case len(touched) == 0:
		a.say("nothing to change: it is so already")
	case dry:
		a.say("dry run: nothing was changed; it would touch")
	}
	for i, t := range touched {
		if i == maxTouched {
			a.say("… and %d more (--json tells all)", len(touched)-i)
			break
		}
		a.say("  %s", touchLine(t))
	}
}

func touchLine(t control.Touch) string {
	var b strings.Builder
	if t.Run != uuid.Nil {
		fmt.Fprintf(&b, "run %s", t.Run)
	}
	if t.Stage != "" {
		fmt.Fprintf(&b, " stage %s", t.Stage)
	}
	if n := t.Indices.Len(); n > 0 {
		fmt.Fprintf(&b, " shards %s", shardsText(t.Indices))
	}
	if b.Len() > 0 {
		b.WriteString(": ")
	}
	return b.String() + t.What
}

// shardsText writes a set as --shards reads it, cut where it is long.
func shardsText(set shard.Set) string {
	var parts []string
	for i, r := range set.Ranges() {
		switch {
		case i == 8:
			return fmt.Sprintf("%s,… (%d)", strings.Join(parts, ","), set.Len())
		case r.Lo < 0:
			parts = append(parts, "plan")
		case r.Hi == r.Lo+1:
			parts = append(parts, fmt.Sprint(r.Lo))
		default:
			parts = append(parts, fmt.Sprintf("%d-%d", r.Lo, r.Hi-1))
		}
	}
	return strings.Join(parts, ",")
}

// swept tells what a verb by filter has done.
func (a *app) swept(s control.Sweep, dry, asJSON bool) error {
	touched := s.Touched()
	var refused []refusedRun
	for _, r := range s.Runs {
		if r.Err != nil {
			refused = append(refused, refusedRun{r.Run, r.Err.Error()})
		}
	}
	if asJSON {
		if err := a.jsonOf(touchedThings{DryRun: dry, Touched: things(touched), Runs: refused, More: s.More}); err != nil {
			return err
		}
	} else {
		if len(s.Runs) == 0 {
			a.say("no run matches")
			return nil
		}
		a.tell(touched, dry)
		for i, r := range refused {
			if i == maxTouched {
				a.complain("… and %d more were refused (--json tells all)", len(refused)-i)
				break
			}
			a.complain("refused: %s", r.Error)
		}
		verb := "acted on"
		if dry {
			verb = "would act on"
		}
		a.say("%s %d of %d runs", verb, len(s.Runs)-len(refused), len(s.Runs))
		if s.More {
			a.say("more runs match: call it again, or raise --limit")
		}
	}
	if len(refused) > 0 && len(refused) == len(s.Runs) {
		return coded{code: ExitFailure}
	}
	return nil
}
