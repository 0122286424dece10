package board

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"

	"axflow/stage"
)

// Config says how a Board decides. Only NewID is required; every other zero value means its default.
type Config struct {
	// Weights are the shares of P0..P5, each 1..32768. Default 40, 25, 15, 10, 6, 4.
	Weights [stage.Levels]int
	// Decay is how many levels a span rises per second of waiting. Default 1/60; below 0 turns aging off.
	Decay float64
	// Horizon is how much work, by estimate, one slot of a worker may hold in advance. Default 1 s.
	Horizon time.Duration
	// MaxPiece is the most indices of one grant. Default 4096.
	MaxPiece int
	// MaxRanges is the most ranges of one grant's set. Default 100.
	MaxRanges int
	// MaxOutstanding is the most indices that a worker may hold of one handler. Default 16384.
	MaxOutstanding int
	// NewID makes the id of a new flight.
	NewID func() uuid.UUID
	// Rand draws for spans with stage.Random. Default: a generator with a fixed seed.
	Rand *rand.Rand
}

// Board is the dispatcher's book of what is pending, who could run it and what is handed out. The package
// comment says how it decides. It is not safe for concurrent use: one goroutine owns it.
type Board struct {
	maxPiece, maxRanges, maxOutstanding int
	horizon                             int64 // ns
	newID                               func() uuid.UUID
	rand                                *rand.Rand
	policy                              policy    // of queues without their own
	policies                            []*policy // of the others
	aging, strict                       bool
	at                                  int64 // ns since 1970, as told last
	running                             bool  // a round has been
	woken                               bool  // a rate has opened since the last one

	spans    map[uuid.UUID]*node
	runs     map[uuid.UUID]*node // first pending span of each run
	flights  map[uuid.UUID]*flight
	workers  map[uuid.UUID]*worker
	live     []*worker // registered workers, in order of arrival
	handlers map[string]*handler
	scopes   map[Scope]*scope
	lanes    map[laneKey]*lane
	terms    map[terms]*terms
	strands  []*strand
	idle     int        // strands without a span
	active   []*handler // handlers that may be able to hand something out

	rates   map[string]*rate
	opening heap[*rate] // rates that lanes wait for, by when the first of them may go on
	touched []*rate     // rates with starts that have no time yet
	changed []*rate     // rates that TakeRates will return

	turns rotation // levels among handlers, counted in grants
	heads [levels]heap[*handler]
	stamp uint64 // raised by every grant: proposals made before it are stale
	seq   uint64
	last  int // grants of the last round: a guess at the next one's

	pending, handedOut [levels]Count

	freeNodes   []*node
	freeFlights []*flight
	seats       []*pool // scratch
}

// New makes an empty Board. It fails when a setting is out of its bounds, and names every such setting.
func New(c Config) (*Board, error) {
	b := &Board{
		newID:    c.NewID,
		spans:    map[uuid.UUID]*node{},
		runs:     map[uuid.UUID]*node{},
		flights:  map[uuid.UUID]*flight{},
		workers:  map[uuid.UUID]*worker{},
		handlers: map[string]*handler{},
		scopes:   map[Scope]*scope{},
		lanes:    map[laneKey]*lane{},
		terms:    map[terms]*terms{},
		rates:    map[string]*rate{},
		rand:     c.Rand,
	}
	if b.rand == nil {
		b.rand = rand.New(rand.NewPCG(0, 0))
	}
	var faults []error
	if c.NewID == nil {
		faults = append(faults, errors.New("board: NewID is nil: give a source of flight ids, such as uuid.NewV7"))
	}
	positive := func(name string, v, fallback int) int {
		if v < 0 {
			faults = append(faults, fmt.Errorf("board: %s is %d: give at least 1, or 0 for the default %d", name, v, fallback))
		}
		if v == 0 {
			return fallback
		}
		return v
	}
	b.maxPiece = positive("MaxPiece", c.MaxPiece, 4096)
	b.maxRanges = positive("MaxRanges", c.MaxRanges, 100)
	b.maxOutstanding = positive("MaxOutstanding", c.MaxOutstanding, 16384)
	switch {
	case c.Horizon < 0 || c.Horizon > time.Hour:
		faults = append(faults, fmt.Errorf("board: Horizon is %s: give up to 1h, or 0 for the default 1s", c.Horizon))
	case c.Horizon == 0:
		c.Horizon = time.Second
	}
	b.horizon = int64(c.Horizon)
	if c.Weights == [levels]int{} {
		c.Weights = [levels]int{40, 25, 15, 10, 6, 4}
	}
	if err := b.SetWeights(c.Weights); err != nil {
		faults = append(faults, err)
	}
	if c.Decay == 0 {
		c.Decay = 1.0 / 60
	}
	b.SetDecay(c.Decay)
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	return b, nil
}
