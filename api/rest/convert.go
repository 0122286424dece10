package rest

import (
	"strconv"
	"strings"

	"github.com/google/uuid"

	"axflow/api/gen"
	"axflow/api/problem"
	"axflow/engine/control"
	"axflow/shard"
	"axflow/stage"
)

// runState, stageState, stageKind, outcome and level are the API's words for what is stored.
func runState(s stage.RunState) gen.RunState { return gen.RunState(s.String()) }

func stageState(s stage.StageState) gen.StageState { return gen.StageState(s.String()) }

func stageKind(k stage.Kind) gen.StageKind {
	if k == stage.Single {
		return gen.StageKindSingle
	}
	return gen.StageKindSharded // aligned ones too
}

func outcome(o stage.Outcome) gen.Outcome {
	if o == stage.NotNeeded {
		return gen.OutcomeNotNeeded
	}
	return gen.Outcome(o.String())
}

func level(l int16) gen.Level { return gen.Level(stage.Level(l).String()) }

// holdOf is what is paused.
func holdOf(h control.Hold) gen.Hold {
	return gen.Hold{Kind: gen.HoldKind(h.Kind), Name: h.Name, Actor: h.Actor, Reason: opt(h.Reason), HeldAt: h.HeldAt}
}

func holdsOf(holds []control.Hold) []gen.Hold {
	all := make([]gen.Hold, len(holds))
	for i, h := range holds {
		all[i] = holdOf(h)
	}
	return all
}

// stageStatus is a stage at one moment.
func stageStatus(s control.StageProgress) gen.StageStatus {
	return gen.StageStatus{Name: s.Name, Kind: stageKind(s.Kind), State: stageState(s.State), Generation: s.Generation, Total: s.Total,
		Succeeded: s.Succeeded, Ready: s.Ready, InFlight: s.InFlight, Dead: s.Dead, Parked: s.Parked, Tolerated: opt(s.Tolerated),
		UpstreamFailed: opt(s.UpstreamFailed),
		ReadyAt:        s.ReadyAt, FinishedAt: s.FinishedAt, Reason: opt(s.Reason)}
}

// failureOf is an attempt's error; nil where there is none.
func failureOf(f control.Failure) *gen.Failure {
	if f == (control.Failure{}) {
		return nil
	}
	return &gen.Failure{Code: f.Code, Message: f.Message, Stack: opt(f.Stack), Retryable: opt(f.Retryable)}
}

// attemptOf is one execution of an index of a stage.
func attemptOf(stageName string, index int, a control.Attempt) gen.Attempt {
	out := gen.Attempt{Stage: stageName, Shard: index, Generation: a.Generation, Attempt: a.Attempt, Delivery: a.Delivery, Outcome: outcome(a.Outcome),
		ReadyAt: a.ReadyAt, DispatchedAt: a.DispatchedAt, StartedAt: a.StartedAt, FinishedAt: a.FinishedAt, Failure: failureOf(a.Failure)}
	if a.Worker != uuid.Nil {
		out.Worker = &a.Worker
	}
	if a.Execution != uuid.Nil {
		out.Execution = &a.Execution
	}
	return out
}

// setText writes a set of shards as the API does: 0-99,117. At most most ranges are written, and "..." for the others; 0: all.
func setText(s shard.Set, most int) string {
	var b strings.Builder
	for i := range s.NumRanges() {
		if i > 0 {
			b.WriteByte(',')
		}
		if most > 0 && i == most {
			b.WriteString("...")
			break
		}
		r := s.At(i)
		b.WriteString(strconv.Itoa(int(r.Lo)))
		if r.Hi-r.Lo > 1 {
			b.WriteString("-" + strconv.Itoa(int(r.Hi)-1))
		}
	}
	return b.String()
}

// parseSet reads a set of shards as the API writes it: 0-99,117. field is where it stands, for the refusal.
func parseSet(field, text string) (shard.Set, error) {
	var ranges []shard.Range
	at := 0 // where the part begins
	for part := range strings.SplitSeq(text, ",") {
		from, to, isRange := strings.Cut(strings.TrimSpace(part), "-")
		lo, err := strconv.ParseInt(strings.TrimSpace(from), 10, 32)
		hi := lo
		if err == nil && isRange {
			hi, err = strconv.ParseInt(strings.TrimSpace(to), 10, 32)
		}
		if err != nil || lo < 0 || hi < lo || hi > maxIndex {
			return shard.Set{}, problem.Field(field, "%.40q at character %d is no set of shards: write indices from 0 to %d and ranges of them, such as 0-99,117", part, at+1, maxIndex)
		}
		at += len(part) + 1
		ranges = append(ranges, shard.Range{Lo: int32(lo), Hi: int32(hi) + 1})
	}
	return shard.OfRanges(ranges...), nil
}

// maxIndex is the greatest index that the API takes.
const maxIndex = 1_000_000
