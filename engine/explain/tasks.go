package explain

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"axflow/engine/dispatch/board"
	"axflow/sql/db"
	"axflow/sql/span"
)

// groups are a stage's tasks by fate and by what keeps them back, each explained once.
func (x *scene) groups(ord int) []Group {
	s := &x.stages[ord]
	groups := x.readyGroups(ord)
	groups = append(groups, x.flightGroups(ord)...)
	groups = append(groups, x.parkedGroups(ord)...)
	if n := s.succeeded(); n > 0 {
		groups = append(groups, Group{Fate: FateSucceeded, Tasks: n, Diagnosis: "succeeded"})
	}
	slices.SortStableFunc(groups, func(a, b Group) int { return urgency(&a) - urgency(&b) })
	return groups
}

// succeeded is the identity: what is in none of the three tables. Without a total there is nothing to subtract from.
func (s *standing) succeeded() int {
	if s.row.ShardTotal == nil {
		return 0
	}
	n := int(*s.row.ShardTotal)
	seen := make(map[[3]any]bool)
	once := func(key [3]any, tasks int32) {
		if !seen[key] {
			seen[key] = true
			n -= int(tasks)
		}
	}
	for _, r := range s.ready {
		if span.Kind(r.Kind) == span.Shards {
			once([3]any{"ready", r.Attempt > 1, r.Due}, r.AllTasks)
		}
	}
	for _, r := range s.parked {
		if span.Kind(r.Kind) == span.Shards {
			once([3]any{"parked", r.Reason, r.Fingerprint}, r.AllTasks)
		}
	}
	for _, r := range s.flights {
		if span.Kind(r.Kind) == span.Shards {
			once([3]any{"flight"}, r.AllTasks)
		}
	}
	return max(0, n)
}

// urgency ranks groups: what an operator must see to, what is held back, what goes on, what is over.
func urgency(g *Group) int {
	switch g.Fate {
	case FateDead, FateExpired:
		return 0
	case FateReady:
		return 1
	case FateRetrying, FateDelayed:
		return 2
	case FateChild, FateAligned, FateWaiting:
		return 3
	case FateInFlight:
		return 4
	case FateSucceeded:
		return 6
	default:
		return 5
	}
}

// readyGroups explains ready rows one by one and puts together what waits for the same.
func (x *scene) readyGroups(ord int) []Group {
	type pile struct {
		Group
		rows int
		all  db.WhyReadyRow // its first row, for the totals of its sort
	}
	var piles []*pile
	at := make(map[string]*pile)
	looked := make(map[[3]bool]int)
	for _, r := range x.stages[ord].ready {
		sort := [3]bool{span.Kind(r.Kind) == span.Plan, r.Attempt > 1, r.Due}
		looked[sort]++
		gates := x.readyGates(ord, r)
		key := fmt.Sprint(sort)
		for _, g := range gates {
			if !g.Open {
				kind, _, _ := strings.Cut(g.Scope, " ")
				key += " " + g.Name + ":" + kind
			}
		}
		p := at[key]
		if p == nil {
			p = &pile{Group: Group{Fate: fateOf(r), Shards: indices(r.Todo), Gates: gates}, all: r}
			if !r.Due {
				due := r.NotBefore
				p.Due = &due
			}
			at[key], piles = p, append(piles, p)
		} else if p.rows < maxRanges && !strings.HasSuffix(p.Shards, "...") {
			p.Shards += "," + indices(r.Todo)
		}
		p.rows++
		p.Tasks += int(r.N)
	}
	// What was not looked at counts with the largest pile of its sort.
	largest := make(map[[3]bool]*pile)
	sums := make(map[[3]bool]int)
	for _, p := range piles {
		sort := [3]bool{span.Kind(p.all.Kind) == span.Plan, p.all.Attempt > 1, p.all.Due}
		sums[sort] += p.Tasks
		if l := largest[sort]; l == nil || p.Tasks > l.Tasks {
			largest[sort] = p
		}
	}
	for sort, p := range largest {
		if rest := int(p.all.AllTasks) - sums[sort]; rest > 0 {
			p.Tasks += rest
			p.Shards = strings.TrimSuffix(p.Shards, ",...") + ",..."
		}
	}
	groups := make([]Group, 0, len(piles))
	for _, p := range piles {
		sort := [3]bool{span.Kind(p.all.Kind) == span.Plan, p.all.Attempt > 1, p.all.Due}
		p.Diagnosis = x.readyText(&p.Group, p.all)
		if n := int(p.all.AllRows); n > looked[sort] {
			p.Diagnosis += fmt.Sprintf(" (%d of %s pieces were looked at)", looked[sort], number(n))
		}
		p.Next = x.next(p.Gates)
		groups = append(groups, p.Group)
	}
	return groups
}

func fateOf(r db.WhyReadyRow) Fate {
	switch {
	case r.Due:
		return FateReady
	case r.Attempt > 1:
		return FateRetrying
	default:
		return FateDelayed
	}
}

// readyGates are all gates of a ready row: the run's, its own time, and the Board's.
func (x *scene) readyGates(ord int, r db.WhyReadyRow) []Gate {
	gates := x.ofTasks()
	if x.version == nil {
		return gates
	}
	key := taskKey{r.Ord, r.Generation, r.First}
	if x.shard != nil {
		key.shard = int32(*x.shard)
	}
	gates = append(gates, x.dueGate(ord, r.Attempt, r.NotBefore, key))
	if g, ok := x.budget(ord); ok {
		gates = append(gates, g)
	}
	of := x.books.gates(x.version, r)
	slots := 0
	for _, g := range of {
		if g.Name == board.GateCapacity {
			slots = g.Limit
		}
	}
	cost := x.books.Cost(x.version.Handlers[ord])
	for _, g := range of {
		gates = append(gates, x.ofBoard(g, cost, slots))
	}
	return gates
}

// readyText says why a ready group is not with a worker.
func (x *scene) readyText(g *Group, r db.WhyReadyRow) string {
	plan := ""
	if span.Kind(r.Kind) == span.Plan {
		plan = "its plan: "
	}
	why := because(g.Gates)
	switch {
	case why == "":
		return plan + "next to be handed out"
	case !r.Due && r.LastDue.After(r.NotBefore.Add(time.Second)):
		return plan + why + fmt.Sprintf(" (the last of them in %s)", lasting(r.LastDue.Sub(x.now)))
	default:
		return plan + why
	}
}

// running is a task in a worker's report of what has run for longer than a beat.
type running struct {
	Index   int32     `json:"index"`
	Started time.Time `json:"started"`
}

// flightGroups tells what is with workers; what was asked back or has lost its worker apart from the rest.
func (x *scene) flightGroups(ord int) []Group {
	type pile struct {
		Group
		flights int
		oldest  db.WhyFlightsRow
		workers map[uuid.UUID]bool
		long    int       // tasks reported as running
		since   time.Time // start of the longest
	}
	var piles []*pile
	at := make(map[string]*pile)
	s := &x.stages[ord]
	for _, f := range s.flights {
		key := fmt.Sprint(f.Kind, f.Host == nil, f.CancelAsked.After(time.Unix(0, 0)), f.BackAsked.After(time.Unix(0, 0)))
		p := at[key]
		if p == nil {
			p = &pile{Group: Group{Fate: FateInFlight, Shards: indices(f.Todo)}, oldest: f, workers: make(map[uuid.UUID]bool)}
			at[key], piles = p, append(piles, p)
		} else if p.flights < maxRanges && !strings.HasSuffix(p.Shards, "...") {
			p.Shards += "," + indices(f.Todo)
		}
		p.flights++
		p.Tasks += int(f.N)
		p.workers[f.WorkerID] = true
		var runs []running
		_ = json.Unmarshal(f.Running, &runs) // a worker's report that cannot be read says nothing
		for _, r := range runs {
			if x.shard != nil && r.Index != int32(*x.shard) {
				continue
			}
			p.long++
			if p.since.IsZero() || r.Started.Before(p.since) {
				p.since = r.Started
			}
		}
	}
	groups := make([]Group, 0, len(piles))
	for _, p := range piles {
		p.Workers = len(p.workers)
		p.Diagnosis = x.flightText(ord, &p.Group, p.oldest, p.long, p.since)
		groups = append(groups, p.Group)
	}
	if len(piles) > 0 {
		// Flights beyond those that were read are like the first ones.
		seen := 0
		for _, g := range groups {
			seen += g.Tasks
		}
		groups[0].Tasks += max(0, int(s.flights[0].AllTasks)-seen)
	}
	return groups
}

// flightText says where a flight is, since when, whether it has started, and what ends it.
func (x *scene) flightText(ord int, g *Group, f db.WhyFlightsRow, long int, since time.Time) string {
	var b strings.Builder
	if span.Kind(f.Kind) == span.Plan {
		b.WriteString("its plan is ")
	}
	where := f.WorkerID.String()
	if f.Host != nil && f.Pid != nil {
		where = fmt.Sprintf("%s/%d", *f.Host, *f.Pid)
	}
	age := lasting(x.now.Sub(f.DispatchedAt))
	switch {
	case f.Host == nil:
		fmt.Fprintf(&b, "in flight on worker %s, which is gone: the leader hands it out again", where)
		return b.String()
	case g.Workers > 1:
		fmt.Fprintf(&b, "in flight on %d workers, the oldest for %s on worker %s", g.Workers, age, where)
	default:
		fmt.Fprintf(&b, "in flight on worker %s for %s", where, age)
	}
	if f.Attempt > 1 {
		fmt.Fprintf(&b, ", attempt %d of %d", f.Attempt, x.maxAttempts(ord))
	}
	if f.Delivery > 1 {
		fmt.Fprintf(&b, ", handed out for the %s time", ordinal(int(f.Delivery)))
	}
	timeout := x.version.Graph.Stages[ord].Timeout
	switch {
	case long > 0:
		fmt.Fprintf(&b, "; running for %s, execution time-out %s", lasting(x.now.Sub(since)), soon(timeout.Execution-x.now.Sub(since)))
		if g.Tasks > 1 {
			fmt.Fprintf(&b, " (the longest of %s)", counted(long, "running task"))
		}
	default:
		fmt.Fprintf(&b, "; its start is not reported yet, dispatch time-out %s", soon(timeout.Dispatch-x.now.Sub(f.DispatchedAt)))
	}
	if f.SeenAt != nil {
		fmt.Fprintf(&b, "; the worker's heartbeat is %s old", lasting(x.now.Sub(*f.SeenAt)))
	}
	if epoch := time.Unix(0, 0); f.CancelAsked.After(epoch) {
		fmt.Fprintf(&b, "; it was asked to stop %s ago", lasting(x.now.Sub(f.CancelAsked)))
	} else if f.BackAsked.After(epoch) {
		fmt.Fprintf(&b, "; what has not started was asked back %s ago", lasting(x.now.Sub(f.BackAsked)))
	}
	return b.String()
}

func ordinal(n int) string {
	suffix := "th"
	if n%100 < 11 || n%100 > 13 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return fmt.Sprintf("%d%s", n, suffix)
}
