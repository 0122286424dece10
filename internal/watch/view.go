package watch

import (
	"strings"
	"time"

	"axflow/stage"
)

// unknown stands for a duration that nobody can tell.
const unknown = time.Duration(-1)

// row is what one stage looks like.
type row struct {
	name                    string
	sharded                 bool
	generation              int
	state                   stage.StageState
	reason                  string
	total, done, failed     int // total -1: not known
	inFlight                int
	perSecond               float64       // now, or over all when decided; 0: not known
	remaining, elapsed, ago time.Duration // unknown where there is none; ago: since it was decided
	tasks                   []taskRow     // what its running tasks tell of themselves, the longest running first
}

// view is what one run looks like.
type view struct {
	flow, run, stuck, paused string
	state                    stage.RunState
	elapsed                  time.Duration
	rows                     []row
	trouble                  string // why the view is old
}

// observer turns successive progress into views; it remembers what rates need.
type observer struct{ meters []meter }

func (o *observer) look(p *Snapshot) view {
	end := p.At
	if p.FinishedAt != nil {
		end = *p.FinishedAt
	}
	v := view{flow: p.Flow, run: p.Run.String(), stuck: oneLine(p.Stuck), paused: oneLine(p.Paused), state: p.State, elapsed: max(0, end.Sub(p.CreatedAt)),
		rows: make([]row, len(p.Stages))}
	if p.State.Ended() {
		v.paused = ""
	}
	if len(o.meters) < len(p.Stages) {
		o.meters = make([]meter, len(p.Stages))
	}
	for i := range p.Stages {
		o.meters[i].observe(&p.Stages[i], p.At)
		v.rows[i] = rowOf(&p.Stages[i], &o.meters[i], p.At)
	}
	v.told(p)
	return v
}

func rowOf(s *Stage, m *meter, at time.Time) row {
	r := row{name: s.Name, sharded: s.Sharded, generation: s.Generation, state: s.State, reason: oneLine(s.Reason),
		total: s.Total, done: s.Succeeded, failed: s.Dead, inFlight: s.InFlight, remaining: unknown, elapsed: unknown, ago: unknown}
	if s.ReadyAt != nil && !r.passedOver() {
		end := at
		if s.FinishedAt != nil {
			end = *s.FinishedAt
		}
		r.elapsed = max(0, end.Sub(*s.ReadyAt))
	}
	if s.FinishedAt != nil {
		r.ago = max(0, at.Sub(*s.FinishedAt))
	}
	if !r.sharded {
		return r
	}
	if s.State.Decided() {
		if r.elapsed > 0 {
			r.perSecond = float64(s.Succeeded+s.Dead) / r.elapsed.Seconds()
		}
		return r
	}
	r.perSecond = m.shown.perSecond()
	left := s.Ready + s.InFlight + s.Parked // parked: those that wait for the shards that they follow
	if rate := m.estimate.perSecond(); rate > 0 && left > 0 {
		if seconds := float64(left) / rate; seconds < 1e9 {
			r.remaining = time.Duration(seconds * float64(time.Second))
		}
	}
	return r
}

// active tells whether the stage does something now.
func (r *row) active() bool { return r.state != stage.StageWaiting && !r.state.Decided() }

// broken tells whether the stage ended as nobody wanted.
func (r *row) broken() bool { return r.state == stage.StageFailed }

// passedOver tells whether the stage was decided without ever starting.
func (r *row) passedOver() bool {
	return r.state == stage.StageSkipped || r.state == stage.StageUpstreamFailed
}

// barred tells whether a bar says more than a word.
func (r *row) barred() bool {
	return r.sharded && r.total > 0 && !r.passedOver()
}

// words say where a stage stands that has no bar.
func (r *row) words() string {
	text := strings.ReplaceAll(r.state.String(), "_", " ")
	if r.sharded && r.total == 0 {
		text += ", no shards"
	}
	if r.reason != "" && r.passedOver() { // of the others it says why they could start
		text += ": " + r.reason
	}
	return text
}

// decided counts the stages that are decided.
func (v *view) decided() int {
	n := 0
	for i := range v.rows {
		if v.rows[i].state.Decided() {
			n++
		}
	}
	return n
}

// oneLine makes text harmless for a terminal.
func oneLine(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(c rune) bool { return c <= ' ' || c >= 0x7f && c < 0xa0 }), " ")
}
