package watch

import (
	"fmt"
	"strings"
	"time"
)

// maxTasks is how many running tasks of one stage are shown.
const maxTasks = 3

// taskRow is what a running task tells of itself.
type taskRow struct {
	which       string // "[17]" of a sharded stage, "plan", else ""
	done, total float64
	detail      string
	elapsed     time.Duration
}

// told gives the tasks that have told something to the rows of their stages.
func (v *view) told(s *Snapshot) {
	for _, t := range s.Tasks {
		for i := range v.rows {
			r := &v.rows[i]
			if r.name != t.Stage || len(r.tasks) == maxTasks || !r.active() {
				continue
			}
			x := taskRow{done: t.Done, total: t.Total, detail: oneLine(t.Detail), elapsed: max(0, s.At.Sub(t.StartedAt))}
			switch {
			case t.Shard < 0:
				x.which = "plan"
			case r.sharded:
				x.which = fmt.Sprintf("[%d]", t.Shard)
			}
			r.tasks = append(r.tasks, x)
		}
	}
}

// text is how far the task is and what it does.
func (t taskRow) text() string {
	var parts []string
	switch {
	case t.total > 0:
		parts = append(parts, percent(int(t.done), int(t.total)), quantity(t.done)+"/"+quantity(t.total))
	case t.done > 0:
		parts = append(parts, quantity(t.done))
	}
	if t.detail != "" {
		parts = append(parts, t.detail)
	}
	return strings.Join(parts, " ")
}

// task is the word of an unsharded stage's only task; "" of others, whose count says more.
func (r *row) task() string {
	if r.sharded || len(r.tasks) == 0 {
		return ""
	}
	return r.tasks[0].text()
}

// taskLine draws a task below its stage.
func (s style) taskLine(t taskRow, width int) string {
	l := s.line(width)
	l.add("    ", plainly)
	if t.which != "" {
		l.add(t.which+" ", dim)
	}
	l.add(t.text(), plainly)
	l.add("  "+Duration(t.elapsed), dim)
	return l.String()
}

// quantity writes what a handler counts: whole numbers with their thousands apart, others short.
func quantity(n float64) string {
	if n == float64(int64(n)) && n < 1e15 {
		return Count(int(n))
	}
	return fmt.Sprintf("%.4g", n)
}
