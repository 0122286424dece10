package watch

import (
	"time"

	"github.com/google/uuid"

	"axflow/stage"
)

var (
	began = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	runID = uuid.MustParse("0195512c-1a80-7c3e-9d2f-3b6f5e0a4c11")
	// noRunID is a run that there is not.
	noRunID = uuid.MustParse("0195512c-1a80-7c3e-9d2f-3b6f5e0a4c12")
)

func at(d time.Duration) *time.Time { t := began.Add(d); return &t }

// progress is a run of flow daily-recon, so long after its start.
func progress(after time.Duration, state stage.RunState, stages ...Stage) Snapshot {
	p := Snapshot{Run: runID, Flow: "daily-recon", State: state, CreatedAt: began, At: began.Add(after), Stages: stages}
	if state.Ended() {
		p.FinishedAt = &p.At
	}
	for i := range p.Stages {
		p.Stages[i].Generation = max(1, p.Stages[i].Generation)
	}
	return p
}

// sharded is a running stage, released at the start, of which some shards are left.
func sharded(name string, total, done, dead, flying int) Stage {
	return Stage{Name: name, Sharded: true, State: stage.StageRunning, Total: total, Succeeded: done, Dead: dead,
		InFlight: flying, Ready: total - done - dead - flying, ReadyAt: at(0)}
}

// ended is a stage that was decided after a while.
func ended(s Stage, state stage.StageState, after time.Duration) Stage {
	s.State, s.FinishedAt = state, at(after)
	return s
}

func single(name string) Stage {
	return Stage{Name: name, State: stage.StageRunning, Total: 1, InFlight: 1, ReadyAt: at(0)}
}

func waiting(name string) Stage {
	return Stage{Name: name, State: stage.StageWaiting, Total: -1}
}

// views shows each progress to one observer and returns the last view.
func views(ps ...Snapshot) view {
	var o observer
	var v view
	for i := range ps {
		v = o.look(&ps[i])
	}
	return v
}

// everyState is a run with a stage in each state, in the midst of things; 10 s lie between two looks.
func everyState() view {
	stages := func(done, dead int) []Stage {
		planning := single("plan-partitions")
		planning.Sharded, planning.State, planning.Total = true, stage.StagePlanning, -1
		skipped := ended(waiting("notify"), stage.StageSkipped, 3*time.Second)
		skipped.Reason = "disabled"
		doomed := ended(waiting("publish"), stage.StageUpstreamFailed, 4*time.Second)
		doomed.Reason = "upstream load has failed"
		failed := ended(single("load"), stage.StageFailed, 4*time.Second)
		failed.Reason = "out of attempts"
		cancelled := ended(single("cleanup"), stage.StageCancelled, 2*time.Second)
		draining := sharded("drain", 100, 40, 0, 3)
		draining.State = stage.StageCancelling
		return []Stage{
			ended(single("pull-orders"), stage.StageSucceeded, 800*time.Millisecond),
			ended(sharded("clean", 512, 512, 0, 0), stage.StageSucceeded, 6400*time.Millisecond),
			sharded("reconcile", 1_000_000, done, dead, 2048),
			planning, draining, failed, doomed, skipped, cancelled,
			ended(sharded("empty", 0, 0, 0, 0), stage.StageSucceeded, time.Second),
			waiting("report-with-a-very-long-name-that-does-not-fit"),
		}
	}
	return views(
		progress(10*time.Second, stage.RunRunning, stages(300_000, 0)...),
		progress(20*time.Second, stage.RunRunning, stages(700_000, 7)...))
}
