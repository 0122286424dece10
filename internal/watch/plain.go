package watch

import (
	"fmt"
	"strings"
	"time"

	"axflow/stage"
)

// plainEvery is how often a stage that only counts on may have a line.
const plainEvery = 2 * time.Second

// plain writes a run's changes as lines. A stage that is decided has its line at once. What goes on has one at
// most every plainEvery, so a stage that starts and ends within that time has a single line.
type plain struct {
	stages        map[int]*said
	state         stage.RunState
	trouble       bool
	stuck, paused string
}

// said is what was said of a stage last.
type said struct {
	generation, done, failed int
	state                    stage.StageState
	task                     string
	since                    time.Duration // the run's elapsed time when it was said, or when it began to be due
}

// lines says what is new in v.
func (p *plain) lines(v *view) []string {
	var out []string
	say := func(format string, args ...any) {
		out = append(out, fmt.Sprintf("%8s  ", Duration(v.elapsed))+fmt.Sprintf(format, args...))
	}
	if p.stages == nil {
		p.stages = make(map[int]*said, len(v.rows))
		p.state = v.state
		say("%s: run %s, %s, %s of %s stages decided", v.flow, v.run, v.state, Count(v.decided()), Count(len(v.rows)))
	}
	if (v.trouble != "") != p.trouble {
		if p.trouble = v.trouble != ""; p.trouble {
			say("%s", v.trouble)
		} else {
			say("it answers again")
		}
	}
	if v.stuck != p.stuck {
		if p.stuck = v.stuck; p.stuck != "" {
			say("stuck: %s", v.stuck)
		}
	}
	if v.paused != p.paused {
		if p.paused = v.paused; p.paused != "" {
			say("%s", v.paused)
		} else if !v.state.Ended() {
			say("no longer paused")
		}
	}
	for i := range v.rows {
		if r := &v.rows[i]; p.due(i, r, v.elapsed) {
			say("%s", sentence(r))
		}
	}
	if v.state != p.state {
		if p.state = v.state; !v.state.Ended() {
			say("run %s", v.state)
		}
	}
	return out
}

// due tells whether stage i deserves a line now, and if so remembers what it says.
func (p *plain) due(i int, r *row, now time.Duration) bool {
	s := p.stages[i]
	if s == nil {
		s = &said{generation: r.generation, since: now}
		p.stages[i] = s
	}
	same := s.generation == r.generation && s.state == r.state && s.done == r.done && s.failed == r.failed && s.task == r.task()
	if same || r.state == stage.StageWaiting && s.generation == r.generation {
		if s.state == stage.StageWaiting {
			s.since = now
		}
		return false
	}
	if !r.state.Decided() && now-s.since < plainEvery {
		return false
	}
	*s = said{generation: r.generation, done: r.done, failed: r.failed, state: r.state, task: r.task(), since: now}
	return true
}

// sentence tells everything about a stage in one line.
func sentence(r *row) string {
	parts := []string{r.name + ": " + r.words()}
	if r.barred() {
		parts = append(parts, fmt.Sprintf("%s/%s (%s)", Count(r.done), Count(r.total), percent(r.done, r.total)))
		if r.failed > 0 {
			parts = append(parts, Count(r.failed)+" failed")
		}
		if rate := pace(r.perSecond); rate != "" {
			parts = append(parts, rate)
		}
	}
	if text := r.task(); text != "" {
		parts = append(parts, text)
	}
	if r.remaining != unknown {
		parts = append(parts, "eta "+Duration(r.remaining))
	}
	if r.state.Decided() && r.elapsed != unknown {
		parts = append(parts, "took "+Duration(r.elapsed))
	}
	return strings.Join(parts, ", ")
}

// summary is the last line: how the run ended and what it did.
func summary(v *view) string {
	shards, failed := 0, 0
	counts := make(map[stage.StageState]int)
	for i := range v.rows {
		r := &v.rows[i]
		counts[r.state]++
		if r.sharded {
			shards += r.done
			failed += r.failed
		}
	}
	text := fmt.Sprintf("%s: run %s %s after %s: ", v.flow, v.run, v.state, Duration(v.elapsed))
	var parts []string
	for _, state := range stage.StageStates() {
		if n := counts[state]; n > 0 {
			parts = append(parts, Count(n)+" "+(&row{state: state}).words())
		}
	}
	text += "stages " + strings.Join(parts, ", ")
	if shards+failed > 0 {
		text += fmt.Sprintf("; shards %s succeeded, %s failed", Count(shards), Count(failed))
	}
	return text
}
