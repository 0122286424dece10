package watch

import (
	"math"
	"time"
)

// The time constants of the averages: what is shown follows within seconds, what the estimate of the remaining
// time is made of is calmer.
const (
	shownTau    = 3 * time.Second
	estimateTau = 15 * time.Second
)

// average is an exponentially weighted mean of a rate: sum(delta·w)/sum(dt·w) with w = exp(-age/tau). Both sums
// fade alike, so the first seconds are not biased towards zero.
type average struct{ events, seconds float64 }

func (a *average) add(events int, dt, tau time.Duration) {
	fade := math.Exp(-dt.Seconds() / tau.Seconds())
	a.events = a.events*fade + float64(events)
	a.seconds = a.seconds*fade + dt.Seconds()
}

// perSecond is 0 when nothing is known.
func (a *average) perSecond() float64 {
	if a.seconds == 0 {
		return 0
	}
	return a.events / a.seconds
}

// meter measures how fast a stage's shards end.
type meter struct {
	seen            bool
	generation      int
	ended           int
	at              time.Time
	shown, estimate average
}

func (m *meter) observe(s *Stage, at time.Time) {
	ended := s.Succeeded + s.Dead
	// A rerun or an operator's retry takes shards back: what was measured says nothing about it.
	if !m.seen || m.generation != s.Generation || ended < m.ended {
		*m = meter{seen: true, generation: s.Generation, ended: ended, at: at}
		return
	}
	dt := at.Sub(m.at)
	if dt <= 0 {
		return
	}
	m.shown.add(ended-m.ended, dt, shownTau)
	m.estimate.add(ended-m.ended, dt, estimateTau)
	m.ended, m.at = ended, at
}
