package control_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"pgregory.net/rapid"

	"axflow/engine/control"
	"axflow/flow"
	"axflow/shard"
	"axflow/stage"
)

// logged is the flow whose lines the tests write themselves.
func logged() flow.Definition {
	a := stage.New("a", nop)
	return flow.New("logged", a, shard.New("b", plan, part).After(a))
}

// line is one line of a test. Where nothing else is said it is of stage a, attempt 1, level info.
type line struct {
	id             uuid.UUID
	ord, shard     int
	attempt, level int
	message, attrs string
	dropped        int
	tx             any // nil: the transaction's
}

type executor interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}

func (h *house) log(to executor, run uuid.UUID, l line) uuid.UUID {
	h.t.Helper()
	if l.id == uuid.Nil {
		l.id = uuid.Must(uuid.NewV7())
	}
	_, err := to.Exec(h.ctx, `INSERT INTO ax.log (run_id, id, execution_id, worker_id, at, shard, seq, dropped, ord, generation, attempt, delivery, level, message, attributes, tx)
		VALUES ($1, $2, $2, $3, now(), $4, 1, $5, $6, 1, $7, 1, $8, $9, nullif($10, ''), coalesce($11::text::xid8, pg_current_xact_id()))`,
		run, l.id, h.worker, l.shard, l.dropped, l.ord, max(1, l.attempt), l.level, l.message, l.attrs, l.tx)
	if err != nil {
		h.t.Fatal(err)
	}
	return l.id
}

// all reads to the end in pages.
func (h *house) all(f control.LogFilter, most int) (ids []uuid.UUID, place []byte) {
	h.t.Helper()
	for {
		page, err := h.client.Logs(h.ctx, h.run, f, place, most)
		if err != nil {
			h.t.Fatal(err)
		}
		if len(page.Lines) > most {
			h.t.Fatalf("%d lines, want %d at most", len(page.Lines), most)
		}
		for _, l := range page.Lines {
			ids = append(ids, l.ID)
		}
		if place = page.Place; !page.More {
			return ids, place
		}
	}
}

// Whatever transactions do at the same time, a follower sees each line that is stored, and asked for, once.
func TestFollowersSeeEveryLineOnce(t *testing.T) {
	h := newHouse(t, logged())
	writers := make([]*pgx.Conn, 5)
	for i := range writers {
		writers[i] = h.conn()
	}
	rapid.Check(t, func(rt *rapid.T) {
		run := h.start()
		type follower struct {
			place  []byte
			seen   map[uuid.UUID]int
			filter control.LogFilter
		}
		followers := make([]follower, 3)
		followers[1].filter.Level = slog.LevelWarn
		followers[2].filter.Stage = "b"
		for i := range followers {
			followers[i].seen = make(map[uuid.UUID]int)
		}
		look := func(f *follower, most int) bool {
			page, err := h.client.Logs(h.ctx, run, f.filter, f.place, most)
			if err != nil {
				rt.Fatal(err)
			}
			for _, l := range page.Lines {
				f.seen[l.ID]++
			}
			f.place = page.Place
			return page.More
		}
		open := make([]pgx.Tx, len(writers))
		pending := make([][]line, len(writers))
		var stored []line
		end := func(i int, commit bool) {
			if open[i] == nil {
				return
			}
			var err error
			if commit {
				err = open[i].Commit(h.ctx)
				stored = append(stored, pending[i]...)
			} else {
				err = open[i].Rollback(h.ctx)
			}
			if err != nil {
				rt.Fatal(err)
			}
			open[i], pending[i] = nil, nil
		}
		defer func() {
			for i := range open {
				end(i, false)
			}
		}()
		base := time.Now()
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			i := rapid.IntRange(0, len(writers)-1).Draw(rt, "writer")
			switch rapid.SampledFrom([]string{"write", "write", "write", "commit", "commit", "rollback", "look", "look"}).Draw(rt, "step") {
			case "write":
				if open[i] == nil {
					tx, err := writers[i].Begin(h.ctx)
					if err != nil {
						rt.Fatal(err)
					}
					open[i] = tx
				}
				for range rapid.IntRange(1, 4).Draw(rt, "lines") {
					// Ids of any time, as workers that store late write them.
					id := uuid.Must(uuid.NewV7())
					ms := base.Add(time.Duration(rapid.IntRange(-60_000, 0).Draw(rt, "late")) * time.Millisecond).UnixMilli()
					for b := range 6 {
						id[b] = byte(ms >> (8 * (5 - b)))
					}
					l := line{id: id, ord: rapid.IntRange(0, 1).Draw(rt, "ord"), level: 4 * rapid.IntRange(-1, 2).Draw(rt, "level"), message: "x"}
					h.log(open[i], run, l)
					pending[i] = append(pending[i], l)
				}
			case "commit":
				end(i, true)
			case "rollback":
				end(i, false)
			case "look":
				look(&followers[rapid.IntRange(0, 2).Draw(rt, "follower")], rapid.IntRange(1, 5).Draw(rt, "most"))
			}
		}
		for i := range open {
			end(i, rapid.Bool().Draw(rt, "commit at last"))
		}
		for i := range followers {
			f := &followers[i]
			look(f, 1000)
			for look(f, 1000) { // until there is nothing more
			}
			asked := 0
			for _, l := range stored {
				if i == 1 && l.level < 4 || i == 2 && l.ord != 1 {
					continue
				}
				asked++
				if f.seen[l.id] != 1 {
					rt.Fatalf("follower %d has seen a line %d times, want once", i, f.seen[l.id])
				}
			}
			if len(f.seen) != asked {
				rt.Fatalf("follower %d has seen %d lines, want %d", i, len(f.seen), asked)
			}
		}
	})
}

// A transaction that stays open for long holds no follower up, and its lines come when it commits, old as they are.
func TestLateLinesReachFollowers(t *testing.T) {
	h := newHouse(t, logged())
	slow := h.conn()
	tx, err := slow.Begin(h.ctx)
	if err != nil {
		t.Fatal(err)
	}
	late := h.log(tx, h.run, line{message: "late"})
	first := h.log(h.pool, h.run, line{message: "first"})
	got, place := h.all(control.LogFilter{}, 10)
	if !slices.Equal(got, []uuid.UUID{first}) {
		t.Errorf("read %v, want the committed line alone", got)
	}
	second := h.log(h.pool, h.run, line{message: "second"})
	next := func() (ids []uuid.UUID) {
		t.Helper()
		page, err := h.client.Logs(h.ctx, h.run, control.LogFilter{}, place, 10)
		if err != nil {
			t.Fatal(err)
		}
		place = page.Place
		for _, l := range page.Lines {
			ids = append(ids, l.ID)
		}
		return ids
	}
	if got := next(); !slices.Equal(got, []uuid.UUID{second}) {
		t.Errorf("while a transaction is open a follower reads %v, want the second line", got)
	}
	if err := tx.Commit(h.ctx); err != nil {
		t.Fatal(err)
	}
	if got := next(); !slices.Equal(got, []uuid.UUID{late}) {
		t.Errorf("after its commit a follower reads %v, want the late line", got)
	}
	if got := next(); len(got) != 0 {
		t.Errorf("then it reads %v, want nothing", got)
	}
}

// Lines of a dump that another cluster has written bear transactions that are to come here: they are read once.
func TestLinesOfARestoredDumpAreReadOnce(t *testing.T) {
	h := newHouse(t, logged())
	old := h.log(h.pool, h.run, line{message: "restored", tx: "99999999999"})
	fresh := h.log(h.pool, h.run, line{message: "fresh"})
	got, place := h.all(control.LogFilter{}, 1)
	if !slices.Equal(got, []uuid.UUID{old, fresh}) {
		t.Errorf("read %v, want both lines", got)
	}
	page, err := h.client.Logs(h.ctx, h.run, control.LogFilter{}, place, 10)
	if err != nil || len(page.Lines) != 0 {
		t.Errorf("a follower reads %v, %v, want nothing", page.Lines, err)
	}
}

func TestLogFilters(t *testing.T) {
	h := newHouse(t, logged())
	zero, plan := 0, -1
	id := map[string]uuid.UUID{}
	for _, l := range []line{
		{message: "a debug", level: -4}, {message: "a info", attrs: `{"order":"A-17"}`}, {message: "a again", attempt: 2, level: 8},
		{message: "b plan", ord: 1, shard: -1}, {message: "b 0", ord: 1, level: 4, dropped: 7}, {message: "b 1", ord: 1, shard: 1},
	} {
		id[l.message] = h.log(h.pool, h.run, l)
	}
	h.log(h.pool, h.start(), line{message: "another run's"})
	for _, c := range []struct {
		f    control.LogFilter
		want []string
	}{
		{control.LogFilter{}, []string{"a debug", "a info", "a again", "b plan", "b 0", "b 1"}},
		{control.LogFilter{Stage: "a"}, []string{"a debug", "a info", "a again"}},
		{control.LogFilter{Stage: "b"}, []string{"b plan", "b 0", "b 1"}},
		{control.LogFilter{Stage: "b", Shard: &zero}, []string{"b 0"}},
		{control.LogFilter{Stage: "b", Shard: &plan}, []string{"b plan"}},
		{control.LogFilter{Stage: "a", Shard: &zero, Attempt: 2}, []string{"a again"}},
		{control.LogFilter{Level: slog.LevelInfo}, []string{"a info", "a again", "b plan", "b 0", "b 1"}},
		{control.LogFilter{Level: slog.LevelWarn}, []string{"a again", "b 0"}},
		{control.LogFilter{Stage: "a", Level: slog.LevelError}, []string{"a again"}},
		{control.LogFilter{Text: "a-17"}, []string{"a info"}},
		{control.LogFilter{Text: "AGAIN"}, []string{"a again"}},
		{control.LogFilter{Text: "nothing such"}, nil},
	} {
		var right []uuid.UUID
		for _, m := range c.want {
			right = append(right, id[m])
		}
		for _, most := range []int{1, 2, 1000} {
			if got, _ := h.all(c.f, most); !slices.Equal(got, right) {
				t.Errorf("%+v in pages of %d: %v, want %v", c.f, most, got, c.want)
			}
			page, err := h.client.LogTail(h.ctx, h.run, c.f, most)
			if err != nil {
				t.Fatal(err)
			}
			newest := right[max(0, len(right)-most):]
			if len(page.Lines) != len(newest) || len(newest) > 0 && page.Lines[0].ID != newest[0] {
				t.Errorf("%+v, the newest %d: %d lines, want %d", c.f, most, len(page.Lines), len(newest))
			}
			if page.More {
				t.Errorf("%+v, the newest %d: there is more than the newest", c.f, most)
			}
		}
	}
	page, err := h.client.LogTail(h.ctx, h.run, control.LogFilter{Stage: "b", Shard: &zero}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if l := page.Lines[0]; l.Stage != "b" || l.Shard != 0 || l.Attempt != 1 || l.Level != slog.LevelWarn || l.Message != "b 0" || l.Dropped != 7 || l.Worker != h.worker || l.Attributes != nil {
		t.Errorf("the line is %+v", l)
	}
	after := h.log(h.pool, h.run, line{message: "after", ord: 1})
	if page, err = h.client.Logs(h.ctx, h.run, control.LogFilter{Stage: "b", Shard: &zero}, page.Place, 10); err != nil || len(page.Lines) != 1 || page.Lines[0].ID != after {
		t.Errorf("after the newest comes %v, %v, want what was logged since", page.Lines, err)
	}
	for _, f := range []control.LogFilter{{Shard: &zero}, {Text: "a\x00b"}, {Text: "\xff"}} {
		var refusal *control.Error
		if _, err := h.client.Logs(h.ctx, h.run, f, nil, 10); !errors.As(err, &refusal) || refusal.Code != control.CodeInvalid {
			t.Errorf("%+v: %v, want a refusal", f, err)
		}
	}
	var refusal *control.Error
	if _, err := h.client.Logs(h.ctx, h.run, control.LogFilter{Stage: "c"}, nil, 10); !errors.As(err, &refusal) || refusal.Code != control.CodeNotFound {
		t.Errorf("an unknown stage: %v", err)
	}
}

// A few lines among very many are found by several looks, and a look ends.
func TestRareLinesAreFound(t *testing.T) {
	h := newHouse(t, logged())
	h.exec(`INSERT INTO ax.log (run_id, id, execution_id, worker_id, at, shard, seq, dropped, ord, generation, attempt, delivery, level, message)
		SELECT $1, gen_random_uuid(), $1, $1, now(), i % 4, i, 0, 1, 1, 1, 1, 0, CASE WHEN i % 4000 = 0 THEN 'needle' ELSE 'hay' END FROM generate_series(1, 12000) i`, h.run)
	got, place := h.all(control.LogFilter{Text: "needle"}, 2)
	if len(got) != 3 {
		t.Errorf("%d lines, want 3", len(got))
	}
	if !slices.IsSortedFunc(got, func(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) }) {
		t.Error("they are not in the order of time")
	}
	h.exec(`INSERT INTO ax.log (run_id, id, execution_id, worker_id, at, shard, seq, dropped, ord, generation, attempt, delivery, level, message)
		SELECT $1, gen_random_uuid(), $1, $1, now(), i % 4, i, 0, 1, 1, 1, 1, 0, CASE WHEN i % 4000 = 0 THEN 'needle' ELSE 'hay' END FROM generate_series(1, 12000) i`, h.run)
	page, err := h.client.Logs(h.ctx, h.run, control.LogFilter{Text: "needle"}, place, 10)
	if err != nil || len(page.Lines) != 3 {
		t.Errorf("a follower finds %d lines, %v, want 3 more", len(page.Lines), err)
	}
}

// The end of logs is told a little after the run's, once everything is read.
func TestLogsEndWithTheRun(t *testing.T) {
	h := newHouse(t, logged())
	h.log(h.pool, h.run, line{message: "one"})
	h.log(h.pool, h.run, line{message: "two"})
	ended := func(place []byte, most int) ([]byte, bool) {
		t.Helper()
		page, err := h.client.Logs(h.ctx, h.run, control.LogFilter{}, place, most)
		if err != nil {
			t.Fatal(err)
		}
		return page.Place, page.Ended
	}
	if _, over := ended(nil, 10); over {
		t.Error("the logs of a running run have ended")
	}
	h.exec(`UPDATE ax.run SET state = 10, finished_at = clock_timestamp() WHERE run_id = $1`, h.run)
	if _, over := ended(nil, 10); over {
		t.Error("they end at once, while workers may still store lines")
	}
	h.exec(`UPDATE ax.run SET finished_at = clock_timestamp() - interval '3 s' WHERE run_id = $1`, h.run)
	place, over := ended(nil, 1)
	if over {
		t.Error("they have ended with a line unread")
	}
	h.log(h.pool, h.run, line{message: "late"})
	if place, over = ended(place, 2); over {
		t.Error("they have ended with a late line unread")
	}
	if _, over = ended(place, 2); !over {
		t.Error("they do not end")
	}
	if page, err := h.client.LogTail(h.ctx, h.run, control.LogFilter{}, 2); err != nil || !page.Ended {
		t.Errorf("the newest lines of an ended run: ended %v, %v", page.Ended, err)
	}
}

// Another namespace's run and one that does not exist are the same.
func TestLogsStayInTheirNamespace(t *testing.T) {
	h := newHouse(t, logged())
	h.log(h.pool, h.run, line{message: "secret"})
	other := h.client.In("other")
	_, place := h.all(control.LogFilter{}, 10)
	said := func(run uuid.UUID, ask func(uuid.UUID) error) string {
		t.Helper()
		var refusal *control.Error
		if err := ask(run); !errors.As(err, &refusal) || refusal.Code != control.CodeNotFound {
			t.Errorf("%v, want not found", err)
			return ""
		}
		return refusal.Text
	}
	nobody := uuid.Must(uuid.NewV7())
	for i, ask := range []func(uuid.UUID) error{
		func(id uuid.UUID) error { _, err := other.Logs(h.ctx, id, control.LogFilter{}, nil, 10); return err },
		func(id uuid.UUID) error {
			_, err := other.Logs(h.ctx, id, control.LogFilter{Stage: "a"}, place, 10)
			return err
		},
		func(id uuid.UUID) error {
			_, err := other.LogTail(h.ctx, id, control.LogFilter{Stage: "zz"}, 10)
			return err
		},
		func(id uuid.UUID) error { _, err := other.Running(h.ctx, id, "", 10); return err },
		func(id uuid.UUID) error { _, err := other.Running(h.ctx, id, "zz", 10); return err },
	} {
		if there, not := said(h.run, ask), said(nobody, ask); there != fmt.Sprintf("there is no run %s here", h.run) || not != fmt.Sprintf("there is no run %s here", nobody) {
			t.Errorf("ask %d: %q and %q", i, there, not)
		}
	}
}

// What somebody makes up instead of a place is refused, or is a place; never a fault of the database.
func TestMadeUpPlacesAreRefused(t *testing.T) {
	h := newHouse(t, logged())
	h.log(h.pool, h.run, line{message: "one"})
	_, place := h.all(control.LogFilter{}, 10)
	page, err := h.client.Logs(h.ctx, h.run, control.LogFilter{}, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 1500 {
		b := slices.Clone(place)
		if i%2 == 0 {
			b = slices.Clone(page.Place)
		}
		for range 1 + random.IntN(3) {
			switch at := random.IntN(len(b)); random.IntN(3) {
			case 0:
				b[at] = byte(random.Uint32())
			case 1:
				b = slices.Delete(b, at, at+1)
			default:
				b = slices.Insert(b, at, byte(random.Uint32()))
			}
			if len(b) == 0 {
				b = []byte{1}
			}
		}
		var refusal *control.Error
		if _, err := h.client.Logs(h.ctx, h.run, control.LogFilter{}, b, 1); err != nil && (!errors.As(err, &refusal) || refusal.Field != "cursor") {
			t.Fatalf("place %x: %v", b, err)
		}
	}
}

// What heartbeats say of tasks is told of those that this run still has in flight.
func TestRunningTellsWhatHandlersReport(t *testing.T) {
	h := newHouse(t, logged())
	flights := h.handOut()
	other := h.start()
	more := h.handOut()
	h.exec(`UPDATE ax.worker SET running = jsonb_build_array(
		jsonb_build_object('execution', $1::uuid, 'index', 0, 'started', '2026-11-29T10:00:00Z', 'done', 3, 'total', 10.5, 'detail', 'page 3', 'at', '2026-11-29T10:00:05Z'),
		jsonb_build_object('execution', $2::uuid, 'index', 0, 'started', '2026-11-29T09:00:00Z'),
		jsonb_build_object('execution', gen_random_uuid(), 'index', 0, 'started', '2026-11-29T09:00:00Z'))`, flights[0], more[0])
	got, err := h.client.Running(h.ctx, h.run, "", 10)
	if err != nil || len(got) != 1 {
		t.Fatalf("%v, %v, want one task", got, err)
	}
	at := time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC)
	if r := got[0]; r.Stage != "a" || r.Shard != 0 || r.Attempt != 1 || r.Worker != h.worker || r.Execution != flights[0] || !r.StartedAt.Equal(at) ||
		*r.Done != 3 || *r.Total != 10.5 || r.Detail != "page 3" || !r.ReportedAt.Equal(at.Add(5*time.Second)) {
		t.Errorf("it is %+v", r)
	}
	if got, err = h.client.Running(h.ctx, other, "a", 10); err != nil || len(got) != 1 || got[0].Done != nil || got[0].ReportedAt != nil {
		t.Errorf("of a handler that says nothing: %+v, %v", got, err)
	}
	if got, err = h.client.Running(h.ctx, other, "b", 10); err != nil || len(got) != 0 {
		t.Errorf("of a stage that waits: %+v, %v", got, err)
	}
}
