package control

import (
	"time"

	"github.com/google/uuid"

	"axflow/stage"
)

// The limits of a verb by filter.
const (
	DefaultMost = 1_000   // runs that a verb by filter acts on when the filter does not say
	MaxMost     = 100_000 // runs that it can be asked to act on
)

// Filter picks runs of the client's namespace. What is left out does not restrict; a filter that restricts nothing is refused
// (CodeInvalid), since it would act on every run. Several fields must all hold; the values within one are alternatives,
// but tags must all be there.
type Filter struct {
	Flows  []string
	States []stage.RunState // default: the states that the verb can act on
	Queues []string         // the runs' queues, not their stages'
	Tags   map[string]string
	Since  time.Time // runs created at or after it
	Until  time.Time // runs created before it
	Runs   []uuid.UUID
	// Most is how many runs the verb acts on at most, oldest first. Default DefaultMost, at most MaxMost.
	Most int
}
