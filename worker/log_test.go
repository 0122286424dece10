package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"axflow/internal/pgtest"
	"axflow/shard"
	"axflow/stage"
)

// storedLine is a row of ax.log.
type storedLine struct {
	Shard, Seq, Dropped, Attempt, Delivery int
	Level                                  int
	Message, Attributes                    string
	Execution, Worker, ID                  uuid.UUID
	At                                     time.Time
}

// logged are the stored lines of a stage, in the order of their ids.
func (l *lab) logged(name string) []storedLine {
	l.t.Helper()
	rows, err := l.pool.Query(l.ctx, `SELECT shard, seq, dropped, attempt, delivery, level, message, coalesce(attributes, ''), execution_id, worker_id, id, at
		FROM ax.log WHERE run_id = $1 AND ord = $2 ORDER BY id`, l.run, l.ord(name))
	if err != nil {
		l.t.Fatal(err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[storedLine])
	if err != nil {
		l.t.Fatal(err)
	}
	return all
}

// lockLogs lets nobody store lines until the returned function is called.
func (l *lab) lockLogs() (unlock func()) { return l.lock(`LOCK TABLE ax.log IN ACCESS EXCLUSIVE MODE`) }

// own is a logger of the worker's whose lines a test can read.
type own struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *own) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(p)
}

func (o *own) lines(t *testing.T, message string) (all []map[string]any) {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	for text := range strings.Lines(o.buf.String()) {
		var m map[string]any
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			t.Fatal(err)
		}
		if m["msg"] == message {
			all = append(all, m)
		}
	}
	return all
}

func quiet(c *Config) { c.Logs.Quiet = true }

func TestHandlersLog(t *testing.T) {
	o := &own{}
	l := newLab(t, shards(func(ctx context.Context, _ day, s shard.Shard) (string, error) {
		log := stage.Log(ctx)
		log.Debug("too quiet")
		log.Info("read", "rows", 3, "err", errors.New("broken pipe"))
		log.With("table", "orders").WithGroup("page").Warn("slow", "n", s.Index)
		return "", nil
	}), func(c *Config) { c.Logger = slog.New(slog.NewJSONHandler(o, nil)) })
	l.release("a", 1, counted)
	before := time.Now()
	id := l.hand("a", single, func(h *handOut) { h.attempt, h.delivery = 2, 3 })
	l.one("a", 0)
	l.check() // draining stores what waits
	all := l.logged("a")
	if len(all) != 2 {
		t.Fatalf("%d lines, want 2: %+v", len(all), all)
	}
	for i, right := range []storedLine{
		{Seq: 1, Level: 0, Message: "read", Attributes: `{"rows":3,"err":"broken pipe"}`},
		{Seq: 2, Level: 4, Message: "slow", Attributes: `{"table":"orders","page":{"n":0}}`},
	} {
		got := all[i]
		if got.At.Before(before.Add(-time.Second)) || got.At.After(time.Now().Add(time.Second)) {
			t.Errorf("it was logged at %v, want now", got.At)
		}
		right.Shard, right.Attempt, right.Delivery, right.Execution, right.Worker, right.ID, right.At = 0, 2, 3, id, l.w.ID(), got.ID, got.At
		want(t, fmt.Sprint("line ", i), got, right)
	}
	lines := o.lines(t, "slow")
	if len(lines) != 1 {
		t.Fatalf("the worker's own logger has %d of the lines, want 1", len(lines))
	}
	for key, right := range map[string]string{"run": l.run.String(), "stage": "a", "shard": "0", "attempt": "2", "worker": l.w.ID().String(), "execution": id.String(),
		"table": "orders", "page": "map[n:0]", "level": "WARN"} {
		want(t, key, fmt.Sprint(lines[0][key]), right)
	}
	want(t, "debug lines of its own", len(o.lines(t, "too quiet")), 0)
	want(t, "stored", l.w.Stats().Logs, 2)
}

func TestLogsSwitchOff(t *testing.T) {
	o := &own{}
	l := newLab(t, oneStage(func(ctx context.Context, _ day) (string, error) {
		stage.Log(ctx).Debug("quiet")
		stage.Log(ctx).Error("an error")
		return "", nil
	}), func(c *Config) {
		c.Logger = slog.New(slog.NewJSONHandler(o, &slog.HandlerOptions{Level: slog.LevelDebug}))
		c.Logs = LogConfig{Off: true, OwnLevel: slog.LevelDebug}
	})
	l.release("a", 1, "")
	l.hand("a", single)
	l.one("a", 0)
	l.check()
	want(t, "stored", len(l.logged("a")), 0)
	want(t, "of its own", len(o.lines(t, "quiet"))+len(o.lines(t, "an error")), 2)

	l = newLab(t, oneStage(func(ctx context.Context, _ day) (string, error) {
		log := stage.Log(ctx)
		if log.Enabled(ctx, slog.LevelInfo) || !log.Enabled(ctx, slog.LevelWarn) {
			return "", errors.New("the levels are wrong")
		}
		log.Info("quiet")
		log.Error("an error")
		return "", nil
	}), func(c *Config) {
		c.Logger, c.Logs = slog.New(slog.NewJSONHandler(o, nil)), LogConfig{Quiet: true, Level: slog.LevelWarn}
	})
	l.release("a", 1, "")
	l.hand("a", single)
	want(t, "outcome", l.one("a", 0).outcome, stage.Succeeded)
	l.check()
	want(t, "stored", len(l.logged("a")), 1)
	want(t, "of its own", len(o.lines(t, "an error")), 1) // of the first worker
}

// A burst beyond the allowance is cut, and every line is accounted for: stored, or counted by one that is.
func TestABurstIsSampledAndCounted(t *testing.T) {
	const burst = 100_000
	l := newLab(t, oneStage(func(ctx context.Context, _ day) (string, error) {
		log := stage.Log(ctx)
		for i := range burst {
			log.Info("noise", "i", i)
			if i == burst/2 {
				log.Error("the one that counts")
			}
		}
		return "", nil
	}), quiet)
	l.release("a", 1, "")
	l.hand("a", single)
	l.one("a", 0)
	l.check()
	all := l.logged("a")
	kept, dropped, errs, lastSeq := 0, 0, 0, 0
	for _, x := range all {
		dropped += x.Dropped
		if x.Seq < lastSeq {
			t.Fatalf("line %d comes after line %d", x.Seq, lastSeq)
		}
		lastSeq = x.Seq
		switch {
		case x.Message == "noise":
			kept++
		case x.Level == 8:
			errs++
		}
	}
	want(t, "kept and dropped", kept+errs+dropped, burst+1)
	want(t, "errors", errs, 1)
	want(t, "the number of the last line", lastSeq, burst+1)
	if kept < DefaultLogBurst || kept > 2*DefaultLogBurst {
		t.Errorf("%d lines were kept, want the burst of %d and little more", kept, DefaultLogBurst)
	}
	if last := all[len(all)-1]; last.Dropped == 0 || last.Level != 4 {
		t.Errorf("the last line is %+v, want one that counts what was dropped at the end", last)
	}
	want(t, "dropped by the figures", l.w.Stats().LogsDropped, uint64(dropped))
}

// While the database takes no lines, what waits is bounded, a part of the room is kept for errors, no handler waits, and afterwards all
// are accounted for.
func TestAStalledDatabaseStopsNoHandler(t *testing.T) {
	const noise, errs = 5000, 200
	logging := make(chan struct{})
	proceed := make(chan struct{})
	l := newLab(t, oneStage(func(ctx context.Context, _ day) (string, error) {
		log := stage.Log(ctx)
		for range noise {
			log.Info("noise", "text", strings.Repeat("x", 100))
		}
		for range errs {
			log.Error("an error")
		}
		close(logging)
		<-proceed
		log.Info("afterwards")
		return "", nil
	}), func(c *Config) {
		c.Logs = LogConfig{Quiet: true, LinesPerSecond: 1e6, Burst: 1e6, WorkerLinesPerSecond: 1e6, Lines: 1000, Flush: time.Millisecond}
	})
	unlock := l.lockLogs()
	l.release("a", 1, "")
	l.hand("a", single)
	<-logging
	s := l.w.shipper
	s.mu.Lock()
	held, size := s.held, s.bytes
	s.mu.Unlock()
	if held > 1000 || size > DefaultLogBytes {
		t.Errorf("%d lines of %d bytes wait, want 1000 of %d at most", held, size, DefaultLogBytes)
	}
	unlock()
	l.stats("everything that waited is stored", func(st Stats) bool { return st.Logs == uint64(held) })
	close(proceed)
	l.one("a", 0)
	l.check()
	kept, loud, dropped := 0, 0, 0
	for _, x := range l.logged("a") {
		kept++
		dropped += x.Dropped
		if x.Message == "an error" {
			loud++
		}
	}
	want(t, "kept and dropped", kept+dropped, noise+errs+1)
	want(t, "errors", loud, errs)
	want(t, "lines that waited", held, 750+errs)
}

// Lines wait for a database that is away and come back with it, once each, also when an answer was lost.
func TestLogsOutliveAnOutage(t *testing.T) {
	say := make(chan string)
	var away atomic.Bool
	l := newLab(t, oneStage(func(ctx context.Context, _ day) (string, error) {
		for text := range say {
			stage.Log(ctx).Info(text)
		}
		return "", nil
	}), func(c *Config) {
		c.Logs.Quiet, c.Logs.Flush = true, time.Millisecond
		dial := c.ConnConfig.DialFunc
		c.ConnConfig.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
			if away.Load() {
				return nil, errors.New("the database is away")
			}
			return dial(ctx, network, addr)
		}
	})
	kill := func() {
		l.exec(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%name: InsertLogs%' AND pid <> pg_backend_pid()`)
	}
	l.release("a", 1, "")
	l.hand("a", single)
	say <- "before"
	l.stats("the first is stored", func(st Stats) bool { return st.Logs == 1 })
	unlock := l.lockLogs()
	say <- "during"
	l.blocked(1)
	kill() // in the middle of an insert
	l.stats("it has noticed", func(st Stats) bool { return st.LogFaults > 0 })
	unlock()
	l.stats("the second is stored", func(st Stats) bool { return st.Logs == 2 })
	away.Store(true)
	kill()
	faults := l.w.Stats().LogFaults
	say <- "away"
	l.stats("it tries again", func(st Stats) bool { return st.LogFaults > faults+1 })
	away.Store(false)
	l.stats("the third is stored", func(st Stats) bool { return st.Logs == 3 })
	say <- "after"
	close(say)
	l.one("a", 0)
	l.check()
	text := ""
	for _, x := range l.logged("a") {
		text += x.Message + " "
	}
	want(t, "lines", text, "before during away after ")
	// A batch whose answer was lost is stored again.
	of := &taskLog{w: l.w, run: l.run, execution: l.run, worker: l.run}
	line := []logLine{{of: of, id: uuid.Must(uuid.NewV7()), at: time.Now(), seq: 1, message: "twice"}}
	for range 2 {
		if err := l.w.shipper.insert(l.ctx, line); err != nil {
			t.Fatal(err)
		}
	}
	l.w.shipper.disconnect()
	want(t, "rows", l.count(`SELECT count(*) FROM ax.log WHERE message = 'twice'`), 1)
}

// A worker that ends waits for its last lines a little, not for ever, and says what it could not store.
func TestAnEndingWorkerDoesNotWaitForLogsForEver(t *testing.T) {
	o := &own{}
	l := newLab(t, oneStage(func(ctx context.Context, _ day) (string, error) {
		stage.Log(ctx).Info("one")
		stage.Log(ctx).Info("two")
		return "", nil
	}), func(c *Config) { c.Logger, c.Logs.Quiet = slog.New(slog.NewJSONHandler(o, nil)), true })
	unlock := l.lockLogs()
	l.release("a", 1, "")
	l.hand("a", single)
	l.one("a", 0)
	begun := time.Now()
	if err := l.end(); err != nil {
		t.Error(err)
	}
	if took := time.Since(begun); took < lastLogsLimit || took > soon {
		t.Errorf("it ended after %v, want %v and little more", took, lastLogsLimit)
	}
	unlock()
	want(t, "dropped", l.w.Stats().LogsDropped, 2)
	said := o.lines(t, "lines that handlers logged were dropped, and their tasks have ended")
	if len(said) != 1 || fmt.Sprint(said[0]["lines"]) != "2" {
		t.Errorf("the worker says %v, want that 2 lines were dropped", said)
	}
}

// Lines of a run that is gone are dropped; those stored with them are not held up.
func TestLinesOfARunPastItsRetentionAreDropped(t *testing.T) {
	o := &own{}
	l := newLab(t, oneStage(func(context.Context, day) (string, error) { return "", nil }), func(c *Config) {
		c.Logger = slog.New(slog.NewJSONHandler(o, nil))
	})
	here := &taskLog{w: l.w, run: l.run}
	away := &taskLog{w: l.w, run: uuid.MustParse("01000000-0000-7000-8000-000000000000")}
	for i := range 9 {
		x := &logLine{of: here, id: uuid.Must(uuid.NewV7()), at: time.Now(), message: "here"}
		if i == 4 {
			x.of = away
		}
		want(t, "taken", l.w.shipper.put(x), true)
	}
	l.stats("the others are stored", func(st Stats) bool { return st.Logs == 8 && st.LogsDropped == 1 })
	if err := l.end(); err != nil {
		t.Error(err)
	}
	want(t, "rows", len(l.logged("a")), 8)
	want(t, "complaints", len(o.lines(t, "a line that a handler logged is refused by the database and dropped")), 1)
}

// Two attempts of a task, at the same time on one worker, keep their lines apart.
func TestAttemptsKeepTheirLinesApart(t *testing.T) {
	both := make(chan struct{}, 2)
	proceed := make(chan struct{})
	l := newLab(t, shards(func(ctx context.Context, _ day, _ shard.Shard) (string, error) {
		info, _ := stage.InfoFrom(ctx)
		stage.Log(ctx).Info(fmt.Sprint("begin ", info.Attempt))
		both <- struct{}{}
		<-proceed
		stage.Log(ctx).Info(fmt.Sprint("end ", info.Attempt))
		return "", nil
	}), quiet)
	l.release("a", 1, counted)
	first := l.hand("a", single)
	<-both
	l.exec(`DELETE FROM ax.flight`) // it was taken away, and its handler has not noticed
	second := l.hand("a", single, func(h *handOut) { h.attempt = 2 })
	<-both
	close(proceed)
	l.one("a", 0)
	if err := l.end(); err != nil {
		t.Error(err)
	}
	of := map[uuid.UUID]string{}
	for _, x := range l.logged("a") {
		of[x.Execution] += fmt.Sprintf("%d %d: %s; ", x.Attempt, x.Seq, x.Message)
	}
	want(t, "the first", of[first], "1 1: begin 1; 1 2: end 1; ")
	want(t, "the second", of[second], "2 1: begin 2; 2 2: end 2; ")
}

// A goroutine that outlives its handler logs to nobody but the worker.
func TestNothingIsStoredAfterTheHandler(t *testing.T) {
	var log *slog.Logger
	o := &own{}
	l := newLab(t, oneStage(func(ctx context.Context, _ day) (string, error) {
		log = stage.Log(ctx)
		log.Info("during")
		return "", nil
	}), func(c *Config) { c.Logger = slog.New(slog.NewJSONHandler(o, nil)) })
	l.release("a", 1, "")
	l.hand("a", single)
	l.one("a", 0)
	log.Info("later")
	l.check()
	want(t, "stored", len(l.logged("a")), 1)
	want(t, "of its own", len(o.lines(t, "later")), 1)
}

// A worker that is killed loses the lines that were not stored yet, and no others: what is there has no gap.
func TestAKilledWorkerLosesTheLastLinesOnly(t *testing.T) {
	server := pgtest.Shared(t)
	if server.PG == nil {
		return // it needs a server whose other databases it may look into
	}
	ctx := pgtest.Context(t, time.Minute)
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestLoggingUntilKilled$")
	cmd.Env = append(os.Environ(), "AX_LOG_UNTIL_KILLED=1", pgtest.EnvDatabase+"="+server.PG.SocketURL("postgres"))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var url string
	if _, err := fmt.Fscanf(out, "logging to %s\n", &url); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	var n, last, id int
	count := func() bool {
		err := conn.QueryRow(ctx, `SELECT count(*), coalesce(max(seq), 0), coalesce(max((attributes::jsonb->>'i')::int), 0) FROM ax.log`).Scan(&n, &last, &id)
		return err == nil && n > 500
	}
	pgtest.Eventually(t, soon, func() (bool, string) { return count(), fmt.Sprintf("%d lines are stored", n) })
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	count()
	if last != n || id != n {
		t.Errorf("%d lines are stored, the last has number %d and says %d: there is a gap", n, last, id)
	}
}

// TestLoggingUntilKilled is the process that the test above kills.
func TestLoggingUntilKilled(t *testing.T) {
	if os.Getenv("AX_LOG_UNTIL_KILLED") == "" {
		return
	}
	l := newLab(t, oneStage(func(ctx context.Context, _ day) (string, error) {
		tick := time.NewTicker(500 * time.Microsecond)
		defer tick.Stop()
		for i := 1; ctx.Err() == nil; i++ {
			stage.Log(ctx).Info("line", "i", i)
			<-tick.C
		}
		return "", ctx.Err()
	}), func(c *Config) {
		c.Logs = LogConfig{Quiet: true, LinesPerSecond: 1e6, Burst: 1e6, Flush: 20 * time.Millisecond}
	})
	l.release("a", 1, "")
	l.hand("a", single)
	fmt.Printf("logging to %s\n", l.pool.Config().ConnString())
	<-l.done
}
