package stage

import (
	"fmt"
	"strconv"
)

// Level is the priority of a run or a stage: P0 is the most urgent, P5 the least. There are few on
// purpose: a level says how urgent work is, aging and weights do the rest.
type Level uint8

// The levels. P2 is the default.
const (
	P0 Level = iota
	P1
	P2
	P3
	P4
	P5
)

// Levels is how many levels there are.
const Levels = 6

// DefaultLevel is the level of a run that says nothing else.
const DefaultLevel = P2

// Valid tells whether l is one of P0..P5.
func (l Level) Valid() bool { return l < Levels }

// String returns "P0" to "P5".
func (l Level) String() string { return "P" + strconv.Itoa(int(l)) }

// ParseLevel reads "P0".."P5", "p0".."p5" or "0".."5".
func ParseLevel(s string) (Level, error) {
	d := s
	if len(d) == 2 && (d[0] == 'P' || d[0] == 'p') {
		d = d[1:]
	}
	if len(d) != 1 || d[0] < '0' || d[0] >= '0'+Levels {
		return 0, fmt.Errorf("level %q is unknown: use P0 (most urgent) to P5", s)
	}
	return Level(d[0] - '0'), nil
}
