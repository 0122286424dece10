package flow

import (
	"fmt"
	"time"
)

// Late says how long a run should take at most, from when it may start to its end. A run that is open for longer is late: that is
// noted once, shown, and told to webhooks (run.late). It stops nothing. 0: no run is late. Late is part of the content version: runs
// that were started before keep what was declared then.
func Late(after time.Duration) Option { return func(g *Graph) { g.Late = after } }

func (g *Graph) checkLate() error {
	if g.Late < 0 {
		return fmt.Errorf("its runs are late after %v: give a positive time, or 0 for never", g.Late)
	}
	return nil
}
