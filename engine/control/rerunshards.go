package control

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"axflow/flow"
	"axflow/shard"
	"axflow/sql/db"
	"axflow/sql/span"
	"axflow/stage"
)

type lockedStage = db.LockAllStagesRow

// heldIn says where indices stand: place 1 is ready, 2 in flight, 3 parked for the reason.
type heldIn struct {
	place  int16
	reason span.ParkReason
}

func (h heldIn) String() string {
	switch h.place {
	case 1:
		return "ready"
	case 2:
		return "in flight"
	default:
		return parkNames[h.reason]
	}
}

var parkNames = map[span.ParkReason]string{
	span.Dead: "dead", span.Cancelled: "cancelled", span.Skipped: "skipped", span.Aligned: "waiting for its upstream shard",
	span.UpstreamFailed: "given up with its upstream shard", span.Poison: "poisoned", span.Child: "waiting for its sub-flow",
	span.Expired: "expired", span.Discarded: "discarded",
}

func remainingOf(run uuid.UUID, s lockedStage) db.RemainingOfParams {
	return db.RemainingOfParams{RunID: run, Ord: s.Ord, Generation: s.Generation}
}

// RerunShards runs shards that have succeeded again, in their generation and as their next attempt; the newest success counts.
// Downstream reruns only where it depends on them: of aligned stages the same shards, of others the stage and what comes
// after it, in their next generation. A shard that has not succeeded is CodeConflict. An empty set is all that have.
func (c *Client) RerunShards(ctx context.Context, id uuid.UUID, stageName string, set shard.Set, who Who) ([]Touch, error) {
	touched, d, err := c.act(ctx, id, "rerun_shards", stageName, who, func(ctx context.Context, d *deed) error {
		ord, err := d.steer(ctx, stageName)
		if err != nil {
			return err
		}
		return d.rerunShards(ctx, ord, set)
	})
	if err != nil {
		return nil, err
	}
	return touched, c.cancelChildren(ctx, d, who)
}

func (d *deed) rerunShards(ctx context.Context, ord int16, set shard.Set) error {
	s, name, id := d.stages[ord], d.name(ord), d.run.RunID
	if s.ShardTotal == nil || d.state(ord) == stage.StageWaiting {
		return d.conflict("stage %q of run %s is %s: no shard of it has succeeded yet", name, id, d.state(ord))
	}
	all := shard.Span(0, int(*s.ShardTotal))
	if out := set.Minus(all); !out.Empty() {
		return &Error{Code: CodeInvalid, Field: "/shards", Text: fmt.Sprintf("stage %q of run %s has the shards 0 to %d, not %s", name, id, *s.ShardTotal-1, some(out))}
	}
	held, err := d.held(ctx, ord)
	if err != nil {
		return err
	}
	var open shard.Set
	for at, h := range held {
		if bad := set.Intersect(h); !bad.Empty() {
			return d.conflict("shards %s of stage %q of run %s have not succeeded, they are %s: leave them out, or retry what is dead", some(bad), name, id, at)
		}
		open = open.Union(h)
	}
	if set.Empty() {
		set = all.Minus(open)
	}
	if set.Empty() {
		return d.conflict("no shard of stage %q of run %s has succeeded", name, id)
	}
	puts, most, err := d.fresh(ctx, ord, set)
	if err != nil {
		return err
	}
	if err := d.reopenStage(ctx, ord, stage.StageRunning, most+d.v.Graph.Stages[ord].Retry.MaxAttempts); err != nil {
		return err
	}
	if err := d.put(ctx, ord, puts); err != nil {
		return err
	}
	d.rerunEntry(ord, set)
	for _, p := range puts {
		d.touch(ord, p.Set, "runs again as attempt %d", p.Attempt)
	}
	d.detail["indices"] = set.String()
	return d.followRerun(ctx, ord, set)
}

// rerunEntry journals that succeeded shards run again.
func (d *deed) rerunEntry(ord int16, set shard.Set) {
	d.entries = append(d.entries, span.Entry{Run: d.run.RunID, Ord: ord, Generation: d.stages[ord].Generation,
		Detail: map[string]any{"indices": set.String()}})
}

// fresh makes the headers of shards that have succeeded and run again: by newest attempt, and by key. most is the highest
// attempt that they have had.
func (d *deed) fresh(ctx context.Context, ord int16, set shard.Set) (puts []span.Put, most int, err error) {
	s, spec := d.stages[ord], &d.v.Graph.Stages[ord]
	rows, err := d.q.NewestAttempts(ctx, db.NewestAttemptsParams{RunID: d.run.RunID, Ord: ord, Generation: s.Generation, First: int32(set.Min()),
		Last: int32(set.Max()) + 1, Want: set.String()})
	if err != nil {
		return nil, 0, fmt.Errorf("reading the attempts of stage %s of run %s: %w", d.name(ord), d.run.RunID, err)
	}
	keys, err := d.keysOf(ctx, ord, set)
	if err != nil {
		return nil, 0, err
	}
	head := span.Header{Run: d.run.RunID, VersionID: d.run.VersionID, Ord: ord, Generation: s.Generation, Kind: span.Shards, Delivery: 1,
		Level: d.level(ord), Namespace: d.run.Namespace, Queue: spec.Queue}
	if head.Queue == "" {
		head.Queue = d.run.Queue
	}
	var found shard.Set
	for _, r := range rows {
		of, err := shard.ParseSet(r.Shards)
		if err != nil {
			return nil, 0, fmt.Errorf("reading shards of stage %s of run %s: %w", d.name(ord), d.run.RunID, err)
		}
		found = found.Union(of)
		most = max(most, int(r.Attempt))
		for key, keyed := range keys {
			h := head
			h.Attempt, h.Key = r.Attempt+1, key
			if part := of.Intersect(keyed); !part.Empty() {
				puts = append(puts, span.Put{Header: h, Set: part})
			}
		}
	}
	if lost := set.Minus(found); !lost.Empty() {
		return nil, 0, d.conflict("shards %s of stage %q of run %s have no results any more: rerun the stage", some(lost), d.name(ord), d.run.RunID)
	}
	slices.SortFunc(puts, func(a, b span.Put) int {
		if a.Attempt != b.Attempt {
			return int(a.Attempt) - int(b.Attempt)
		}
		return strings.Compare(a.Key, b.Key)
	})
	return puts, most, nil
}

// level is what new work of a stage has.
func (d *deed) level(ord int16) stage.Level {
	return levelOf(d.stages[ord].Level, d.run.ForcedLevel, d.v.Graph.Stages[ord].Level, d.run.Level)
}

// levelOf is the one rule of levels: an operator's of the stage, an operator's of the run, the stage's, the run's.
func levelOf(byStage, byRun *int16, declared *stage.Level, run int16) stage.Level {
	switch {
	case byStage != nil:
		return stage.Level(*byStage)
	case byRun != nil:
		return stage.Level(*byRun)
	case declared != nil:
		return *declared
	default:
		return stage.Level(run)
	}
}

// keysOf splits shards by their concurrency keys.
func (d *deed) keysOf(ctx context.Context, ord int16, set shard.Set) (map[string]shard.Set, error) {
	group := d.v.Graph.ShardKeyGroup(int(ord))
	s := d.stages[ord]
	if group == "" {
		key := ""
		if s.Key != nil {
			key = *s.Key
		}
		return map[string]shard.Set{key: set}, nil
	}
	var chunks []int32
	for _, r := range set.Ranges() {
		for c := r.Lo / inputChunk; c <= (r.Hi-1)/inputChunk; c++ {
			if n := len(chunks); n == 0 || chunks[n-1] != c {
				chunks = append(chunks, c)
			}
		}
	}
	rows, err := d.q.ShardInputs(ctx, db.ShardInputsParams{RunID: d.run.RunID, Ord: ord, Generation: s.Generation, Chunks: chunks})
	if err != nil {
		return nil, fmt.Errorf("reading the keys of stage %s of run %s: %w", d.name(ord), d.run.RunID, err)
	}
	ranges := make(map[string][]shard.Range)
	rest := set
	for _, row := range rows {
		for i, key := range row.Keys {
			at := row.Chunk*inputChunk + int32(i)
			if set.Contains(int(at)) {
				name := flow.KeyName(group, key)
				ranges[name] = append(ranges[name], shard.Range{Lo: at, Hi: at + 1})
			}
		}
	}
	keys := make(map[string]shard.Set, len(ranges)+1)
	for name, of := range ranges {
		keys[name] = shard.OfRanges(of...)
		rest = rest.Minus(keys[name])
	}
	if !rest.Empty() {
		name := flow.KeyName(group, "")
		keys[name] = keys[name].Union(rest)
	}
	return keys, nil
}

// inputChunk is how many keys or inputs one shard_input row holds.
const inputChunk = 256

// followRerun lets everything run again that depends on some shards of a stage: of aligned stages the same shards, of
// others the stage and what comes after it. What an operator has skipped stays skipped.
func (d *deed) followRerun(ctx context.Context, ord int16, set shard.Set) error {
	var aligned []int16
	var roots []int
	var walk func(int16)
	walk = func(from int16) {
		for _, dep := range d.v.Graph.Dependents(int(from)) {
			s := d.stages[dep]
			state := stage.StageState(s.State)
			spec := &d.v.Graph.Stages[dep]
			switch {
			case state == stage.StageWaiting || state == stage.StageSkipped && skippedByHand(s):
			case spec.Kind == stage.Aligned && spec.AlignedTo == int(from) && s.ShardTotal != nil && state != stage.StageSkipped && state != stage.StageCancelled:
				if !slices.Contains(aligned, int16(dep)) {
					aligned = append(aligned, int16(dep))
					walk(int16(dep))
				}
			default:
				roots = append(roots, dep)
			}
		}
	}
	walk(ord)
	var over []int
	if len(roots) > 0 {
		over = d.v.Graph.Descendants(roots...)
	}
	if err := d.reset(ctx, over, func(s lockedStage) bool {
		state := stage.StageState(s.State)
		return state != stage.StageWaiting && (state != stage.StageSkipped || !skippedByHand(s))
	}); err != nil {
		return err
	}
	moved := map[int16]shard.Set{ord: set}
	slices.Sort(aligned)
	for _, dep := range aligned {
		of := moved[int16(d.v.Graph.Stages[dep].AlignedTo)]
		if of.Empty() || slices.Contains(over, int(dep)) {
			continue
		}
		some, err := d.rerunAligned(ctx, dep, of)
		if err != nil {
			return err
		}
		moved[dep] = some
	}
	return nil
}

// rerunAligned makes shards of an aligned stage wait for their upstream shards once more, wherever they stand: what an
// operator has skipped, discarded or cancelled stays. It returns those that will run again.
func (d *deed) rerunAligned(ctx context.Context, ord int16, set shard.Set) (shard.Set, error) {
	if d.state(ord) == stage.StageCancelling {
		return noIndices, d.conflict("stage %q of run %s, whose shards follow, is being stopped: try again when it has ended", d.name(ord), d.run.RunID)
	}
	took, err := d.take(ctx, ord, set, true, true, span.Dead, span.Poison, span.Expired, span.UpstreamFailed)
	if err != nil {
		return noIndices, err
	}
	held, err := d.held(ctx, ord)
	if err != nil {
		return noIndices, err
	}
	done := set.Intersect(shard.Span(0, int(*d.stages[ord].ShardTotal))).Minus(setOf(took))
	for _, h := range held {
		done = done.Minus(h)
	}
	var puts []span.Put
	most := 0
	if !done.Empty() {
		if puts, most, err = d.fresh(ctx, ord, done); err != nil {
			return noIndices, err
		}
		d.rerunEntry(ord, done)
	}
	for _, t := range took {
		h := t.Header
		switch {
		case t.Worker != uuid.Nil:
			h.Delivery++
		case t.Parked != 0 && t.Parked != span.UpstreamFailed:
			h = revived(t)
		}
		most = max(most, int(h.Attempt))
		puts = append(puts, span.Put{Header: h, Set: t.Set})
	}
	if len(puts) == 0 {
		return noIndices, nil
	}
	for i := range puts {
		puts[i].Park = span.Aligned
	}
	if err := d.reopenStage(ctx, ord, stage.StageRunning, most+d.v.Graph.Stages[ord].Retry.MaxAttempts); err != nil {
		return noIndices, err
	}
	if err := d.put(ctx, ord, puts); err != nil {
		return noIndices, err
	}
	all := setOf(took).Union(done)
	d.touch(ord, all, "runs again after the same shards of %s", d.name(int16(d.v.Graph.Stages[ord].AlignedTo)))
	d.news.Stages = append(d.news.Stages, d.key(ord))
	return all, nil
}
