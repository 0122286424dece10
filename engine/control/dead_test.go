package control_test

import (
	"log/slog"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"axflow/engine/control"
	"axflow/engine/replay"
	"axflow/shard"
	axsql "axflow/sql"
	"axflow/sql/hint"
	"axflow/sql/history"
	"axflow/stage"
)

// leader carries replays out on a connection of its own.
func (h *house) leader() *replay.Loop {
	return replay.New(replay.Config{Conn: h.conn(), Fence: h.fence, Versions: h.versions, Tell: func(hint.Engine) {}, Logger: slog.New(slog.DiscardHandler)})
}

func (h *house) round() {
	h.t.Helper()
	if err := h.leader().Round(h.ctx); err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) job(j control.ReplayJob) control.ReplayJob {
	h.t.Helper()
	now, err := h.client.ReplayJob(h.ctx, j.ID)
	if err != nil {
		h.t.Fatal(err)
	}
	return now
}

func all(ord int) func(int, int) bool { return func(o, _ int) bool { return o == ord } }

func TestDeadLetters(t *testing.T) {
	h := newHouse(t, fan())
	first := h.run
	h.live(all(0))
	h.run = h.start()
	h.live(failing(0, 3))
	groups, err := h.client.DeadLetters(h.ctx, control.DeadFilter{Flow: "fan", Stage: "a", Code: "handler_error"})
	if err != nil || len(groups) != 1 {
		t.Fatalf("groups %v, %v", groups, err)
	}
	g := groups[0]
	want(t, "count", g.Count, 5)
	want(t, "runs", g.Runs, 2)
	want(t, "fingerprint", g.Fingerprint, "boom N")
	want(t, "example", g.Example.Message, "boom 17")
	want(t, "example's run", g.ExampleRun, h.run)
	list, err := h.client.DeadList(h.ctx, control.DeadFilter{Run: first}, uuid.Nil)
	if err != nil || len(list) != 1 {
		t.Fatalf("letters %v, %v", list, err)
	}
	want(t, "indices", list[0].Indices.Equal(shard.Span(0, 4)), true)
	in, err := h.client.Inspect(h.ctx, h.run, "a", 3)
	if err != nil {
		t.Fatal(err)
	}
	want(t, "parked", in.Parked, "dead")
	want(t, "attempts", len(in.Attempts), 1)
	want(t, "message", in.Attempts[0].Failure.Message, "boom 17")
	_, err = h.client.Inspect(h.ctx, h.run, "a", 99)
	h.refused(control.CodeNotFound, err)

	h.did(h.client.Discard(h.ctx, first, "a", shard.Of(0), me))
	want(t, "touches of the second", len(h.did(h.client.Discard(h.ctx, first, "a", shard.Of(0), me))), 0)
	want(t, "discarded", h.count(`SELECT sum(n) FROM ax.parked WHERE reason = 9`), 1)
	h.check(history.Options{Ended: true})
	h.did(h.client.Replay(h.ctx, first, "a", shard.Of(1, 2), me))
	h.live(nil)
	want(t, "a of the first", stage.StageState(h.count(`SELECT state FROM ax.stage WHERE run_id = $1 AND ord = 0`, first)), stage.StageFailed)
	s, err := h.client.DiscardWhere(h.ctx, control.DeadFilter{Flow: "fan"}, me)
	if err != nil {
		t.Fatal(err)
	}
	want(t, "runs", len(s.Runs), 2)
	want(t, "dead letters left", h.count(`SELECT count(*) FROM ax.parked WHERE reason IN (1, 6, 8)`), 0)
	h.check(history.Options{Ended: true})
}

func TestReplayAll(t *testing.T) {
	h := newHouse(t, fan())
	_, err := h.client.ReplayWhere(h.ctx, control.DeadFilter{}, control.ReplayOptions{}, me)
	h.refused(control.CodeNotFound, err)
	h.live(all(0))
	h.run = h.start()
	h.live(failing(0, 3))
	dry := me
	dry.DryRun = true
	j, err := h.client.ReplayWhere(h.ctx, control.DeadFilter{Flow: "fan"}, control.ReplayOptions{Canary: 2}, dry)
	if err != nil {
		t.Fatal(err)
	}
	want(t, "total", j.Total, 5)
	want(t, "replays", h.count(`SELECT count(*) FROM ax.replay`), 0)
	if j, err = h.client.ReplayWhere(h.ctx, control.DeadFilter{Flow: "fan"}, control.ReplayOptions{Canary: 2}, me); err != nil {
		t.Fatal(err)
	}
	h.round()
	want(t, "moved by the canary", h.job(j).Moved, 2)
	h.round() // its end is still open
	want(t, "state", h.job(j).State, control.ReplayCanary)
	h.live(nil)
	h.round() // by another leader, on another connection
	got := h.job(j)
	want(t, "state", got.State, control.ReplayDone)
	want(t, "moved", got.Moved, 5)
	h.live(nil)
	want(t, "succeeded runs", h.count(`SELECT count(*) FROM ax.run WHERE state = 10`), 2)
	_, err = h.client.CancelReplay(h.ctx, j.ID, me)
	h.refused(control.CodeConflict, err)
	h.check(history.Options{Ended: true})
}

func TestReplayStopsWithItsCanary(t *testing.T) {
	h := newHouse(t, fan())
	h.live(all(0))
	j, err := h.client.ReplayWhere(h.ctx, control.DeadFilter{Stage: "a"}, control.ReplayOptions{Canary: 1}, me)
	if err != nil {
		t.Fatal(err)
	}
	h.round()
	h.live(all(0))
	h.round()
	got := h.job(j)
	want(t, "state", got.State, control.ReplayStopped)
	want(t, "moved", got.Moved, 1)
	want(t, "failed", got.Failed, 1)
	want(t, "dead", h.count(`SELECT sum(n) FROM ax.parked WHERE reason = 1`), 4)
	h.check(history.Options{Ended: true})
}

func TestReplayIsThrottledAndCancelled(t *testing.T) {
	h := newHouse(t, fan())
	h.live(all(0))
	j, err := h.client.ReplayWhere(h.ctx, control.DeadFilter{Stage: "a"}, control.ReplayOptions{PerSecond: 0.001}, me)
	if err != nil {
		t.Fatal(err)
	}
	h.round()
	want(t, "moved at once", h.job(j).Moved, 0)
	h.exec(`UPDATE ax.replay SET updated_at = updated_at - interval '1000 s'`)
	h.round()
	want(t, "moved after its time", h.job(j).Moved, 1)
	if _, err := h.client.CancelReplay(h.ctx, j.ID, me); err != nil {
		t.Fatal(err)
	}
	h.exec(`UPDATE ax.replay SET updated_at = updated_at - interval '1000 s'`)
	h.round()
	want(t, "moved after the cancel", h.job(j).Moved, 1)
	h.live(nil)
	h.check(history.Options{Ended: true})
}

// A leader whose term is over moves nothing.
func TestReplayIsFenced(t *testing.T) {
	h := newHouse(t, fan())
	h.live(all(0))
	if _, err := h.client.ReplayWhere(h.ctx, control.DeadFilter{Stage: "a"}, control.ReplayOptions{}, me); err != nil {
		t.Fatal(err)
	}
	l := h.leader()
	h.exec(`UPDATE ax.lease SET epoch = 2`)
	want(t, "error", l.Round(h.ctx), axsql.ErrFenced)
	want(t, "ready", h.count(`SELECT count(*) FROM ax.ready`), 0)
}

var _ replay.Conn = (*pgx.Conn)(nil)
