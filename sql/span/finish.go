package span

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"axflow/shard"
	"axflow/sql/db"
	"axflow/sql/pipe"
	"axflow/stage"
)

// Result is how one attempt of one index ended.
type Result struct {
	Index             int32
	Outcome           stage.Outcome
	Started, Finished time.Time
	Output, Error     []byte
	Again             bool          // the policy allows another attempt if the limit does
	Delay             time.Duration // before that attempt
	// Exact keeps Delay off the grid on which retries become due: it is what somebody asked for, and not what a policy says.
	Exact bool
	// Fingerprint is Error with what differs from one occurrence to the next left out: dead indices are grouped by it. Cut
	// to MaxFingerprint bytes; "": none.
	Fingerprint string
}

// MaxFingerprint is the greatest length of a fingerprint, in bytes.
const MaxFingerprint = 200

// Report is what a worker knows about one flight: results of some of its indices, each index once.
type Report struct {
	Execution   uuid.UUID
	Run         uuid.UUID
	Ord         int16
	MaxAttempts int  // of the stage's policy
	Last        bool // the worker holds no further index of this flight: its stage may be done
	FailFast    bool // more failed indices than the stage tolerates cancel what is left of it
	Results     []Result
}

// Accepted is the part of a report that was still owed.
type Accepted struct {
	Execution uuid.UUID
	Set       shard.Set
}

// Receipt is what a transaction did.
type Receipt struct {
	Accepted []Accepted
	Decided  []Decided
	Ready    []Ready // rows made ready
	// Asked are workers that were asked to drop flights, each once: tell them to beat.
	Asked []uuid.UUID
}

// Ready is a ready row that a transaction made.
type Ready struct {
	Header
	Set       shard.Set
	NotBefore time.Time
}

// Conn is one connection, outside any transaction, for the length of a call: a *pgx.Conn or a *pgxpool.Conn. A
// call that fails may leave it broken or inside a failed transaction; a pool then closes it.
type Conn interface {
	pipe.Sender
	db.DBTX
}

// Finish takes whatever part of the reports is still owed and forgets the rest: an index that the worker does
// not hold any more (seized, cancelled by force, finished before) is refused. Successes are appended, failures
// appended and put back to ready or parked, and stages that this empties are decided, all in one transaction. An
// outcome of NotNeeded, of a task or of a plan, parks the index as skipped.
//
// Finish is safe to repeat: a commit whose answer was lost is settled by calling it again with the same
// reports, or with more. Reports that only succeed cost one round trip.
func Finish(ctx context.Context, conn Conn, worker uuid.UUID, reports []Report) (Receipt, error) {
	call := newCall(worker, reports)
	if call.failures == 0 {
		return call.succeed(ctx, conn)
	}
	return call.settle(ctx, conn)
}

// call is one Finish.
type call struct {
	worker   uuid.UUID
	reports  map[uuid.UUID]*Report
	params   db.FinishSpansParams
	keys     []StageKey // stages that may be decided
	all      []StageKey
	failures int
}

func newCall(worker uuid.UUID, reports []Report) *call {
	total := 0
	for i := range reports {
		total += len(reports[i].Results)
	}
	c := &call{worker: worker, reports: make(map[uuid.UUID]*Report, len(reports))}
	p := &c.params
	p.WorkerID = worker
	p.Executions = make([]uuid.UUID, 0, len(reports))
	p.Done = make([]string, 0, len(reports))
	p.OfFlight = make([]int32, 0, total)
	p.Shards = make([]int32, 0, total)
	p.Outcomes = make([]int16, 0, total)
	p.StartedAt = make([]time.Time, 0, total)
	p.FinishedAt = make([]time.Time, 0, total)
	p.Outputs = make([][]byte, 0, total)
	p.Errors = make([][]byte, 0, total)
	for i := range reports {
		r := &reports[i]
		// Index order keeps the appended rows in key order, and makes the set of a run of indices cheap.
		if !slices.IsSortedFunc(r.Results, byIndex) {
			slices.SortStableFunc(r.Results, byIndex)
		}
		c.reports[r.Execution] = r
		p.Executions = append(p.Executions, r.Execution)
		k := int32(len(p.Executions))
		var done indices
		for j := range r.Results {
			x := &r.Results[j]
			done.add(x.Index)
			if x.Outcome != stage.Succeeded {
				c.failures++
			}
			p.OfFlight = append(p.OfFlight, k)
			p.Shards = append(p.Shards, x.Index)
			p.Outcomes = append(p.Outcomes, int16(x.Outcome))
			p.StartedAt = append(p.StartedAt, x.Started)
			p.FinishedAt = append(p.FinishedAt, x.Finished)
			p.Outputs = append(p.Outputs, x.Output)
			p.Errors = append(p.Errors, x.Error)
		}
		p.Done = append(p.Done, done.set().String())
		key := StageKey{r.Run, r.Ord}
		c.all = append(c.all, key)
		if r.Last {
			c.keys = append(c.keys, key)
		}
	}
	c.params.Retire = len(c.keys) > 0 || c.failures > 0
	return c
}

func byIndex(a, b Result) int { return int(a.Index) - int(b.Index) }

// succeed is one round trip: nothing has to be placed, so nothing has to be known between the statements.
func (c *call) succeed(ctx context.Context, conn Conn) (Receipt, error) {
	var rows []db.FinishSpansRow
	var decided []db.RetireStagesRow
	p := pipe.New()
	_, _ = p.FinishSpans(ctx, c.params)
	pipe.Rows(p, &rows)
	if len(c.keys) > 0 {
		lockStages(ctx, p, c.keys, nil)
		retireStages(ctx, p, c.keys, &decided)
	}
	if err := p.Send(ctx, conn); err != nil {
		return Receipt{}, fmt.Errorf("finishing %d results: %w", len(c.params.Shards), err)
	}
	receipt, took, err := c.receive(rows)
	if err != nil {
		return Receipt{}, err
	}
	receipt.Decided = decidedOf(decided)
	// A flight can run empty against the worker's own view (part of it was taken by force): its stage still
	// has to be looked at.
	var missed []StageKey
	for _, t := range took {
		key := StageKey{t.Run, t.Ord}
		if t.empty && !slices.Contains(c.keys, key) {
			missed = append(missed, key)
		}
	}
	if len(missed) == 0 {
		return receipt, nil
	}
	more, err := Retire(ctx, conn, missed, nil)
	if err != nil {
		return Receipt{}, err
	}
	receipt.Decided = append(receipt.Decided, more...)
	return receipt, nil
}

// settle is two round trips: the failures that were accepted get their places under the stage locks.
func (c *call) settle(ctx context.Context, conn Conn) (Receipt, error) {
	var rows []db.FinishSpansRow
	var locked []db.LockStagesRow
	p := pipe.New()
	begin(p)
	_, _ = p.FinishSpans(ctx, c.params)
	pipe.Rows(p, &rows)
	lockStages(ctx, p, c.all, &locked)
	if err := p.Send(ctx, conn); err != nil {
		rollback(ctx, conn)
		return Receipt{}, fmt.Errorf("finishing %d results: %w", len(c.params.Shards), err)
	}
	receipt, took, err := c.receive(rows)
	if err != nil {
		rollback(ctx, conn)
		return Receipt{}, err
	}
	places := newPlacing(locked)
	for _, t := range took {
		c.placeFailures(places, t.taken)
	}
	if err := places.commit(ctx, conn, c.all, &receipt); err != nil {
		return Receipt{}, fmt.Errorf("placing the failures of %d results: %w", len(c.params.Shards), err)
	}
	return receipt, nil
}

type took struct {
	taken
	empty bool
}

func (c *call) receive(rows []db.FinishSpansRow) (Receipt, []took, error) {
	receipt := Receipt{Accepted: make([]Accepted, 0, len(rows))}
	all := make([]took, 0, len(rows))
	for _, r := range rows {
		t, err := fromFinish(r)
		if err != nil {
			return Receipt{}, nil, err
		}
		receipt.Accepted = append(receipt.Accepted, Accepted{t.ID, t.set})
		all = append(all, took{t, r.Empty})
	}
	return receipt, all, nil
}

// placeFailures sends each accepted failure of one flight where it belongs. What fails together and is due
// together shares a row.
func (c *call) placeFailures(places *placing, t taken) {
	report := c.reports[t.ID]
	if report == nil {
		return
	}
	limit := max(report.MaxAttempts, places.maxAttempts(StageKey{t.Run, t.Ord}))
	size := t.set.Len()
	type group struct {
		why         Reason
		delay       time.Duration
		exact       bool
		fingerprint string
	}
	groups := make(map[group]*indices)
	var order []group
	for i := range report.Results {
		x := &report.Results[i]
		if x.Outcome == stage.Succeeded || !t.set.Contains(int(x.Index)) {
			continue
		}
		var g group
		switch {
		case x.Outcome == stage.Interrupted:
			g.why = Interrupted
		case x.Outcome == stage.NotNeeded:
			g.why = NotNeeded
		case x.Again && int(t.Attempt) < limit:
			if g.why, g.delay, g.exact = Retry, x.Delay, x.Exact; !x.Exact {
				g.delay = x.Delay.Truncate(quantum(x.Delay))
			}
		default:
			g.why, g.fingerprint = Exhausted, x.Fingerprint
		}
		b := groups[g]
		if b == nil {
			b = new(indices)
			groups[g] = b
			order = append(order, g)
		}
		b.add(x.Index)
	}
	key := StageKey{t.Run, t.Ord}
	for _, g := range order {
		place, reason := places.putError(t.Header, groups[g].set(), g.why, g.delay, size, g.fingerprint)
		if place == ToReady && g.exact {
			places.ready.QuantumMs[len(places.ready.QuantumMs)-1] = 1
		}
		if reason == Dead && report.FailFast && t.Kind == Shards && places.running(key) {
			places.fast = append(places.fast, key)
		}
	}
}

// quantum is the grid on which retries become due (design: max(100 ms, delay/16)), so that a failed batch
// makes few rows.
func quantum(delay time.Duration) time.Duration {
	// A power of two times 100 ms: delays of one batch that differ by their jitter share a grid.
	q := 100 * time.Millisecond
	for q*2 <= delay/16 {
		q *= 2
	}
	return q
}

// Retire decides the named stages if they hold nothing ready and nothing in flight any more, after deleting the
// given flights where they are empty. It is safe to repeat.
func Retire(ctx context.Context, conn pipe.Sender, keys []StageKey, flights []uuid.UUID) ([]Decided, error) {
	var rows []db.RetireStagesRow
	p := pipe.New()
	if len(flights) > 0 {
		slices.SortFunc(flights, compareIDs)
		_ = p.DeleteEmptyFlights(ctx, flights)
	}
	lockStages(ctx, p, keys, nil)
	retireStages(ctx, p, keys, &rows)
	if err := p.Send(ctx, conn); err != nil {
		return nil, fmt.Errorf("retiring %d stages: %w", len(keys), err)
	}
	return decidedOf(rows), nil
}

func decidedOf(rows []db.RetireStagesRow) []Decided {
	out := make([]Decided, len(rows))
	for i, r := range rows {
		out[i] = Decided{StageKey{r.RunID, r.Ord}, stage.StageState(r.State)}
	}
	return out
}

func rollback(ctx context.Context, conn db.DBTX) {
	// If this fails too the connection is broken, and releasing it inside a transaction closes it.
	_, _ = conn.Exec(context.WithoutCancel(ctx), "rollback")
}
