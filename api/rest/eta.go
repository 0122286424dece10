package rest

import (
	"fmt"
	"math"
	"time"

	"axflow/api/gen"
	"axflow/engine/control"
	"axflow/stage"
)

// forecast is when a stage may end, in seconds from now, and what that rests on.
type forecast struct {
	left  float64
	known bool
	basis string
}

// etaOf is when a run may end: along the longest path of what its stages usually take. A stage whose shards finish goes by the rate at
// which they do. nil: too little is known, or a stage takes longer than usual already, and nobody knows how much.
func etaOf(p control.Progress, u *usual) *gen.Eta {
	g := p.Version.Graph
	ends := make([]forecast, len(g.Stages))
	for _, s := range p.Stages { // upstreams stand before what comes after them
		if s.Ord >= len(g.Stages) {
			return nil
		}
		if s.State.Decided() {
			ends[s.Ord] = forecast{known: true}
			continue
		}
		var begin forecast
		begin.known = true
		for _, up := range g.Stages[s.Ord].Upstreams {
			if ends[up].left >= begin.left {
				begin.left, begin.basis = ends[up].left, ends[up].basis
			}
			begin.known = begin.known && ends[up].known
		}
		if s.State == stage.StageWaiting {
			ends[s.Ord] = after(begin, s, u)
		} else {
			ends[s.Ord] = running(s, p.At, u)
		}
	}
	last := forecast{known: true}
	for _, e := range ends {
		if !e.known {
			return nil
		}
		if e.left > last.left {
			last = e
		}
	}
	if last.left <= 0 {
		return nil
	}
	return &gen.Eta{At: p.At.Add(time.Duration(last.left * float64(time.Second))), LeftS: last.left, Basis: last.basis}
}

// after is when a stage ends that begins at a time. One that is never run in runs that succeed, such as the other branch, takes no time.
func after(begin forecast, s control.StageProgress, u *usual) forecast {
	if u.samples == 0 {
		return forecast{}
	}
	take, ok := u.stages[s.Name]
	if !ok {
		return begin
	}
	end := forecast{left: begin.left + take.p50, known: begin.known, basis: begin.basis}
	if end.basis == "" {
		end.basis = fmt.Sprintf("what its stages took in the last %s that succeeded", plural(u.samples, "run", "runs"))
	}
	return end
}

// running is when a stage ends that has been released.
func running(s control.StageProgress, now time.Time, u *usual) forecast {
	if s.ReadyAt == nil {
		return forecast{}
	}
	elapsed := now.Sub(*s.ReadyAt).Seconds()
	if left := s.Ready + s.InFlight; s.Kind != stage.Single && s.Total > 1 && s.Succeeded > 0 && elapsed > 1 {
		rate := float64(s.Succeeded+s.Dead) / elapsed
		return forecast{left: float64(left+s.Parked) / rate, known: true,
			basis: fmt.Sprintf("%s has finished %s shards a second, and %d are left", s.Name, figure(rate), left)}
	}
	take, ok := u.stages[s.Name]
	if !ok || take.p50 <= elapsed {
		return forecast{}
	}
	return forecast{left: take.p50 - elapsed, known: true, basis: fmt.Sprintf("%s usually takes %s s", s.Name, figure(take.p50))}
}

// figure is a number with two significant digits, or whole.
func figure(v float64) string {
	if v >= 10 {
		return fmt.Sprintf("%.0f", v)
	}
	digits := math.Pow(10, math.Ceil(-math.Log10(max(v, 1e-6)))+1)
	return fmt.Sprint(math.Round(v*digits) / digits)
}
