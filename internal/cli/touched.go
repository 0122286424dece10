package cli

import (
	"fmt"
	"strings"

	"axflow/api/gen"
	"axflow/internal/watch"
)

// maxTouched is how many touched things are told one by one; --json tells all.
const maxTouched = 20

// acted tells what an act has touched, or would.
func (a *app) acted(r got[gen.ActResult], asJSON bool) error {
	if asJSON {
		return a.json(r.raw)
	}
	a.tell(r.is.Touched, r.is.DryRun)
	return nil
}

func (a *app) tell(touched []gen.Touch, dry bool) {
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

func touchLine(t gen.Touch) string {
	var b strings.Builder
	if t.Run != nil {
		fmt.Fprintf(&b, "run %s", *t.Run)
	}
	if t.Stage != nil {
		fmt.Fprintf(&b, " stage %s", *t.Stage)
	}
	if t.Shards != nil {
		fmt.Fprintf(&b, " shards %s", shortShards(*t.Shards, value(t.Tasks)))
	}
	if b.Len() > 0 {
		b.WriteString(": ")
	}
	return b.String() + t.What
}

// maxRanges is how many ranges of shards are told.
const maxRanges = 8

// shortShards cuts a set of n shards where it is long; the plan is named.
func shortShards(text string, n int) string {
	if text == "-1" {
		return "plan"
	}
	parts := strings.Split(text, ",")
	if len(parts) <= maxRanges {
		return text
	}
	return fmt.Sprintf("%s,… (%s)", strings.Join(parts[:maxRanges], ","), watch.Count(n))
}

// swept tells what a verb by filter has done.
func (a *app) swept(r got[gen.BulkResult], asJSON bool) error {
	if asJSON {
		if err := a.json(r.raw); err != nil {
			return err
		}
	} else if err := a.tellSweep(r.is); err != nil {
		return err
	}
	if r.is.Failed > 0 && r.is.Failed == len(r.is.Runs) {
		return coded{code: ExitFailure}
	}
	return nil
}

func (a *app) tellSweep(r *gen.BulkResult) error {
	if len(r.Runs) == 0 {
		a.say("no run matches")
		return nil
	}
	var touched []gen.Touch
	var refused []gen.BulkRun
	for _, x := range r.Runs {
		touched = append(touched, x.Touched...)
		if x.Error != nil {
			refused = append(refused, x)
		}
	}
	a.tell(touched, r.DryRun)
	for i, x := range refused {
		if i == maxTouched {
			a.complain("… and %d more were refused (--json tells all)", len(refused)-i)
			break
		}
		a.complain("refused: run %s of %s: %s", x.Run, x.Flow, x.Error.Detail)
	}
	verb := "acted on"
	if r.DryRun {
		verb = "would act on"
	}
	a.say("%s %d of %d runs", verb, len(r.Runs)-len(refused), len(r.Runs))
	if r.More {
		a.say("more runs match: call it again, or raise --limit")
	}
	return nil
}
