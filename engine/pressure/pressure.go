// Package pressure decides how full a queue is considered to be: by shares of its capacity, with hysteresis, so that it does
// not flap at a threshold. It is pure.
package pressure

import "fmt"

// Level is how full a queue is considered to be. The numbers are those of the column queue.pressure.
type Level uint8

// The levels of pressure, each with what the ones before it do.
const (
	// Normal: nothing is done.
	Normal Level = iota
	// Alert: low levels are demoted.
	Alert
	// Refuse: starts of other than core levels are refused.
	Refuse
	// Pause: low levels are paused.
	Pause
)

// String returns the level's name.
func (l Level) String() string {
	return [...]string{"normal", "alert", "refuse", "pause", "?"}[min(l, 4)]
}

// Margin is how far, in shares of the capacity, the depth must fall below the threshold of Alert or Refuse to end it.
const Margin = 0.05

// Config holds the thresholds, as shares of a queue's capacity.
type Config struct {
	// Alert, Refuse and Pause are where each level begins.
	Alert, Refuse, Pause float64
	// Resume is below what Pause ends.
	Resume float64
}

// Default returns 0.60, 0.80, 0.95 and 0.40.
func Default() Config { return Config{Alert: 0.60, Refuse: 0.80, Pause: 0.95, Resume: 0.40} }

// Check returns every fault of the thresholds: each must be above 0 and at most 1, Alert ≤ Refuse ≤ Pause, and Resume < Pause.
func (c Config) Check() []error {
	var faults []error
	for _, t := range []struct {
		name  string
		value float64
	}{{"alert", c.Alert}, {"refuse", c.Refuse}, {"pause", c.Pause}, {"resume", c.Resume}} {
		if !(t.value > 0 && t.value <= 1) {
			faults = append(faults, fmt.Errorf("the %s threshold is %v: give a share of the capacity above 0 and up to 1", t.name, t.value))
		}
	}
	if c.Alert > c.Refuse || c.Refuse > c.Pause {
		faults = append(faults, fmt.Errorf("the thresholds alert %v, refuse %v and pause %v must not fall: each level is worse than the one before", c.Alert, c.Refuse, c.Pause))
	}
	if c.Resume >= c.Pause {
		faults = append(faults, fmt.Errorf("the resume threshold %v must be below pause %v", c.Resume, c.Pause))
	}
	return faults
}

// Step returns the level that follows from the depth (tasks waiting and running) of a queue of the capacity. A level begins
// at its threshold. Pause ends below Resume, Alert and Refuse end Margin below their thresholds. Without a capacity (0 or
// less) there is no pressure.
func (c Config) Step(now Level, depth, capacity int64) Level {
	if capacity <= 0 {
		return Normal
	}
	share := float64(depth) / float64(capacity)
	for _, l := range []struct {
		level        Level
		enter, leave float64
	}{{Pause, c.Pause, c.Resume}, {Refuse, c.Refuse, c.Refuse - Margin}, {Alert, c.Alert, c.Alert - Margin}} {
		if share >= l.enter || now >= l.level && share >= l.leave {
			return l.level
		}
	}
	return Normal
}
