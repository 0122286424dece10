package axflow_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"axflow"
	"axflow/engine/control"
	"axflow/flow"
	"axflow/internal/pgtest"
	"axflow/shard"
	"axflow/sql/hint"
	"axflow/sql/payload"
	"axflow/stage"
	"axflow/worker"
)

// secret is what must stand in no table.
const secret = "DE02120300000000202051"

type confidential struct {
	IBAN string `json:"iban"`
}

// keys makes a codec of keys with the given numbers; the first seals.
func keys(t *testing.T, numbers ...byte) payload.Codec {
	t.Helper()
	all := make(map[string][]byte)
	for _, n := range numbers {
		all[fmt.Sprint("k", n)] = bytes.Repeat([]byte{n}, payload.KeyLen)
	}
	c, err := payload.NewAESGCM(all, fmt.Sprint("k", numbers[0]))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// confide is a flow in which every way that data takes is taken: params, a condition, outputs of a stage, of shards and of aligned
// shards, inputs of shards, an InTx stage, and a sub-flow.
func confide() (parent *flow.Flow[confidential], child flow.Definition, last *stage.Stage[confidential, string]) {
	echo := stage.New("echo", func(_ context.Context, p confidential) (string, error) { return p.IBAN, nil })
	inner := flow.New("inner", echo)
	first := stage.New("first", func(_ context.Context, p confidential) (string, error) { return "first " + p.IBAN, nil })
	list := shard.New("list", func(_ context.Context, p confidential) (shard.Plan, error) {
		return shard.List([]string{"a " + p.IBAN, "b " + p.IBAN}), nil
	}, func(_ context.Context, _ confidential, s shard.Shard) (string, error) {
		input, err := shard.Input[string](s)
		return "shard " + input, err
	}).After(first)
	each := shard.Aligned("each", list, func(ctx context.Context, _ confidential, s shard.Shard) (string, error) {
		up, err := list.Output(ctx)
		if err != nil {
			return "", err
		}
		input, err := shard.Input[string](s)
		return up + "/" + input, err
	})
	commit := worker.InTx("commit", func(ctx context.Context, p confidential) (func(context.Context, pgx.Tx) (string, error), error) {
		all := ""
		for _, out := range each.Outputs(ctx) {
			all += out + ";"
		}
		for part := range list.Outputs(ctx) {
			if input, err := shard.Input[string](part); err != nil || !strings.HasSuffix(input, p.IBAN) {
				return nil, fmt.Errorf("the input of shard %d: %q, %w", part.Index, input, err)
			}
		}
		return func(context.Context, pgx.Tx) (string, error) { return all, nil }, nil
	}, stage.When(func(ctx context.Context, p confidential) (bool, error) {
		got, err := first.Output(ctx)
		return got == "first "+p.IBAN, err
	})).After(first, each)
	sub := flow.Sub("sub", inner, echo, func(ctx context.Context, _ confidential) (confidential, error) {
		got, err := commit.Output(ctx)
		return confidential{IBAN: got}, err
	}).After(commit)
	last = stage.New("last", func(ctx context.Context, _ confidential) (string, error) { return sub.Output(ctx) }).After(sub)
	return flow.New("confide", first, list, each, commit, sub, last), inner, last
}

// holds tells which tables hold a text, as text or as bytes.
func (l *lab) holds(text string) (tables []string) {
	l.t.Helper()
	rows, err := l.p.Pool().Query(l.ctx, `SELECT c.oid::regclass::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE n.nspname = 'ax' AND c.relkind = 'r'`)
	if err != nil {
		l.t.Fatal(err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(names) < 20 {
		l.t.Fatalf("%d tables, %v", len(names), err)
	}
	for _, name := range names {
		if l.count(`SELECT count(*) FROM `+name+` t WHERE position($1 IN t::text) > 0 OR position($2 IN t::text) > 0`, text, hex.EncodeToString([]byte(text))) > 0 {
			tables = append(tables, name)
		}
	}
	return tables
}

func TestSealedPayloadsAreReadableToTheirRunAndInNoTable(t *testing.T) {
	parent, child, last := confide()
	l := open(t, func(c *axflow.Config) { c.Codec = keys(t, 1) }, parent, child)
	id := start(l, parent, confidential{IBAN: secret})
	l.ends(id, stage.RunSucceeded)
	right := fmt.Sprintf("shard a %[1]s/a %[1]s;shard b %[1]s/b %[1]s;", secret)
	wantOutput(l, id, last, right)
	run, err := l.p.Client().Run(l.ctx, id)
	if err != nil || string(run.Params) != `{"iban":"`+secret+`"}` {
		t.Errorf("the params are %q, %v", run.Params, err)
	}
	in, err := l.p.Client().Inspect(l.ctx, id, "list", 1)
	if err != nil || len(in.Attempts) != 1 || string(in.Attempts[0].Output) != `"shard b `+secret+`"` {
		t.Errorf("inspected: %+v, %v", in, err)
	}
	if tables := l.holds(secret); tables != nil {
		t.Errorf("the secret stands in %v", tables)
	}

	// What an operator gives is sealed too, and read by who comes after.
	broken := stage.New("broken", func(context.Context, confidential) (string, error) { return "", stage.Permanent(errors.New("no")) })
	after := stage.New("after", func(ctx context.Context, _ confidential) (string, error) { return broken.Output(ctx) }).After(broken)
	marked := flow.New("marked", broken, after)
	l2 := open(t, func(c *axflow.Config) { c.Codec = keys(t, 1) }, marked)
	id = start(l2, marked, confidential{IBAN: secret})
	l2.ends(id, stage.RunFailed)
	if _, err := l2.p.Client().MarkSuccess(l2.ctx, id, "broken", shard.Set{}, []byte(`"`+secret+`"`), axflow.Who{Actor: "test"}); err != nil {
		t.Fatal(err)
	}
	l2.ends(id, stage.RunSucceeded)
	wantOutput(l2, id, after, secret)
	if tables := l2.holds(secret); tables != nil {
		t.Errorf("the secret stands in %v", tables)
	}
}

func TestASealedPayloadThatWasMovedIsRefused(t *testing.T) {
	read := stage.New("read", func(_ context.Context, p confidential) (string, error) { return p.IBAN, nil })
	next := stage.New("next", func(ctx context.Context, _ confidential) (string, error) { return read.Output(ctx) }).After(read)
	f := flow.New("reading", read, next)
	l := open(t, func(c *axflow.Config) { c.Codec = keys(t, 1) }, f)
	theirs := start(l, f, confidential{IBAN: secret})
	l.ends(theirs, stage.RunSucceeded)
	exec := func(sql string, args ...any) {
		t.Helper()
		if tag, err := l.p.Pool().Exec(l.ctx, sql, args...); err != nil || tag.RowsAffected() != 1 {
			t.Fatalf("%s: %v, %v", sql, tag, err)
		}
	}
	mine := start(l, f, confidential{IBAN: "mine"}, axflow.After(1<<60))
	exec(`UPDATE ax.run SET params = (SELECT params FROM ax.run WHERE run_id = $2) WHERE run_id = $1`, mine, theirs)
	exec(`UPDATE ax.ready SET not_before = now() WHERE run_id = $1`, mine)
	l.ends(mine, stage.RunFailed)
	in, err := l.p.Client().Inspect(l.ctx, mine, "read", 0)
	if err != nil || len(in.Attempts) != 1 || in.Attempts[0].Failure.Code != worker.CodeSealed || in.Attempts[0].Failure.Retryable {
		t.Errorf("it failed by %+v, %v, want once and for good", in.Attempts, err)
	}
	run, err := l.p.Client().Run(l.ctx, mine)
	if err != nil || !payload.Sealed(run.Params) {
		t.Errorf("its params are shown as %q, %v", run.Params, err)
	}
	exec(`UPDATE ax.result SET output = (SELECT output FROM ax.result WHERE run_id = $1 AND ord = 1) WHERE run_id = $1 AND ord = 0`, theirs)
	var refused *control.Error
	if out, err := axflow.Output(l.ctx, l.p.Client(), theirs, read); !errors.As(err, &refused) || refused.Code != control.CodeConflict {
		t.Errorf("an output that was moved to another stage: %q, %v", out, err)
	}
}

// A worker that lacks the key gives work back at the cost of no attempt; one that has it beside its own takes it.
func TestKeysAreChangedWhileRunsAreOpen(t *testing.T) {
	read := stage.New("read", func(_ context.Context, p confidential) (string, error) { return p.IBAN, nil })
	f := flow.New("rotating", read)
	var url string
	l := open(t, func(c *axflow.Config) { c.Codec, url = keys(t, 1), c.DatabaseURL })
	id := start(l, f, confidential{IBAN: secret})
	worker := func(log io.Writer, codec payload.Codec) (stop func()) {
		p, err := axflow.Open(l.ctx, axflow.Config{DatabaseURL: url, Flows: []flow.Definition{f}, Codec: codec, Logger: slog.New(slog.NewTextHandler(log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(l.ctx)
		done := make(chan error, 1)
		go func() { done <- p.Run(ctx) }()
		return func() {
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
			p.Close()
		}
	}
	log := &lines{want: `lacks the key`, seen: make(chan string, 1)}
	stop := worker(log, keys(t, 2))
	if line := pgtest.Receive(t, 30*time.Second, log.seen, "the worker's complaint"); !strings.Contains(line, `k1`) {
		t.Errorf("the complaint does not name the key: %s", line)
	}
	l.eventually("the work does not go back", `SELECT count(*) = 1 FROM ax.ready WHERE run_id = $1 AND attempt = 1`, id)
	stop()
	defer worker(io.Discard, keys(t, 2, 1))()
	l.ends(id, stage.RunSucceeded)
	want(t, "attempts", l.count(`SELECT count(*) FROM ax.result WHERE run_id = $1 AND attempt = 1`, id), 1)

	bus, err := hint.New(hint.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	for i, codec := range []payload.Codec{keys(t, 2, 1), keys(t, 2), keys(t, 1), nil} {
		other, err := control.NewClient(l.ctx, control.Config{Pool: l.p.Pool(), Bus: bus, Codec: codec})
		if err != nil {
			t.Fatal(err)
		}
		out, err := axflow.Output(l.ctx, other, id, read)
		if opens := i < 2; opens != (err == nil && out == secret) {
			t.Errorf("client %d reads %q, %v", i, out, err)
		}
	}
}

// lines is a log that passes on the first line that holds a text.
type lines struct {
	want string
	seen chan string
}

func (l *lines) Write(b []byte) (int, error) {
	if strings.Contains(string(b), l.want) {
		select {
		case l.seen <- string(b):
		default:
		}
	}
	return len(b), nil
}
