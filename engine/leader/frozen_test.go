package leader_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	osexec "os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"axflow/engine/leader"
	"axflow/internal/pgtest"
	"axflow/sql/db"
)

// TestFrozenTransaction: a transaction that holds the fence and never moves, in a session without any
// time-out, delays the successor by the lock wait only; sessions that merely look similar are spared.
func TestFrozenTransaction(t *testing.T) {
	t.Parallel()
	pg := pgtest.New(t)
	ctx := t.Context()
	session := func(name string) *pgx.Conn {
		cc, err := pgx.ParseConfig(pg.URL)
		if err != nil {
			t.Fatal(err)
		}
		cc.RuntimeParams["application_name"] = name
		conn, err := pgx.ConnectConfig(ctx, cc)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close(context.Background()) })
		return conn
	}
	const ttl = 2 * time.Second
	exec(t, pg, "INSERT INTO ax.lease VALUES ('main', 41, 'frozen', now() + interval '1 hour', now())")
	exec(t, pg, "CREATE TABLE written (epoch bigint)")
	frozen := session("ax-leader-main-41")
	tx, err := frozen.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.New(tx).Fence(ctx, db.FenceParams{Name: "main", Epoch: 41}); err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(ctx, "INSERT INTO written VALUES (41)"); err != nil {
		t.Fatal(err)
	}
	older, spared := session("ax-leader-main-7"), []*pgx.Conn{
		session("ax-leader-main-42"), session("ax-leader-main-x-41"), session("ax-leader-main-"), session("ax-leader-mai-41"),
		session("ax-leader-main-99999999999999999999999"), session("ax-leader-main-4x"),
	}
	exec(t, pg, "UPDATE ax.lease SET renewed_at = clock_timestamp(), expires_at = clock_timestamp() + $1::interval", ttl)
	watch := pg.Stopwatch(t)
	a := start(t, pg, "a", func(cfg *leader.Config) { cfg.TTL, cfg.Renew = ttl, ttl/5 })
	r := within(t, a.terms, "a's term")
	if took := watch.Elapsed(); r.Epoch != 42 || took > ttl+5*time.Second {
		t.Errorf("epoch %d after %v, want 42 within TTL + 5 s", r.Epoch, took)
	}
	if err := tx.Commit(ctx); err == nil {
		t.Error("the frozen transaction has committed")
	}
	if n := query[int](t, pg, "SELECT count(*) FROM written"); n != 0 {
		t.Errorf("the frozen leader has written %d rows", n)
	}
	if err := older.Ping(ctx); err == nil {
		t.Error("a session of an older term lives on")
	}
	for _, conn := range spared {
		if err := conn.Ping(ctx); err != nil {
			t.Errorf("session %s was ended: %v", conn.Config().RuntimeParams["application_name"], err)
		}
	}
}

const frozenURL = "AX_TEST_FROZEN_LEADER_URL"

// TestFrozenProcess stops a whole leader process (SIGSTOP) inside a transaction. Another takes over within
// TTL + 5 s; when the stopped one wakes up, it finds its term ended and its transaction gone.
func TestFrozenProcess(t *testing.T) {
	t.Parallel()
	pgtest.Attempts(t, func(t *testing.T, at *pgtest.Attempt) {
		pg := pgtest.New(t)
		exec(t, pg, "CREATE TABLE written (epoch bigint)")
		ttl := time.Duration(min(at.N, 3)) * 3 * time.Second
		child := spawn(t, pg.URL, ttl)
		if line := child.line(t); line != "holding 1" {
			t.Fatalf("the child says %q", line)
		}
		child.signal(t, syscall.SIGSTOP)
		watch := pg.Stopwatch(t)
		if !query[bool](t, pg, "SELECT expires_at > clock_timestamp() FROM ax.lease") {
			at.Void("the child has lost its lease before it was stopped")
		}
		b := start(t, pg, "b", func(cfg *leader.Config) { cfg.TTL, cfg.Renew = ttl, ttl/5 })
		r := within(t, b.terms, "b's term")
		if took := watch.Elapsed(); r.Epoch != 2 || took > ttl+5*time.Second {
			t.Errorf("epoch %d after %v, want 2 within TTL + 5 s", r.Epoch, took)
		}
		child.signal(t, syscall.SIGCONT)
		if line := child.line(t); line != "lost: "+leader.ErrLost.Error()+": "+lateRenewal &&
			line != "lost: "+leader.ErrLost.Error()+": taken or expired" {
			t.Errorf("the child says %q", line)
		}
		if line := child.line(t); line != "refused" {
			t.Errorf("the child says %q", line)
		}
		if n := query[int](t, pg, "SELECT count(*) FROM written"); n != 0 {
			t.Errorf("the frozen leader has written %d rows", n)
		}
		if r.ctx.Err() != nil {
			if strings.HasSuffix(context.Cause(r.ctx).Error(), lateRenewal) {
				at.Void("b has lost its lease by itself")
			}
			t.Errorf("b's term ended when the frozen leader woke: %v", context.Cause(r.ctx))
		}
	})
}

// frozenChild is the process that TestFrozenProcess stops.
func frozenChild(url, ttl string) {
	cc, err := pgx.ParseConfig(url)
	must(err)
	d, err := time.ParseDuration(ttl)
	must(err)
	ctx, stop := context.WithCancel(context.Background())
	el, err := leader.New(leader.Config{
		ConnConfig: cc, Name: "main", TTL: d, Renew: d / 5,
		Lead: func(lead context.Context, term leader.Term) error {
			defer stop()
			own := cc.Copy()
			term.Configure(own)
			conn, err := pgx.ConnectConfig(ctx, own)
			must(err)
			tx, err := conn.Begin(ctx)
			must(err)
			must(db.New(tx).Fence(ctx, db.FenceParams{Name: term.Name, Epoch: term.Epoch}))
			_, err = tx.Exec(ctx, "INSERT INTO written VALUES ($1)", term.Epoch)
			must(err)
			fmt.Println("holding", term.Epoch)
			<-lead.Done()
			fmt.Println("lost:", context.Cause(lead))
			if err := tx.Commit(ctx); err != nil {
				fmt.Println("refused")
			} else {
				fmt.Println("committed")
			}
			return nil
		},
	})
	must(err)
	must(el.Run(ctx))
}

func must(err error) {
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

type child struct {
	cmd *osexec.Cmd
	out chan string
}

func spawn(t *testing.T, url string, ttl time.Duration) *child {
	t.Helper()
	c := &child{cmd: osexec.Command(os.Args[0]), out: make(chan string, 100)}
	c.cmd.Env = append(os.Environ(), frozenURL+"="+ttl.String()+" "+url)
	c.cmd.Stderr = os.Stderr
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(c.out)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			c.out <- lines.Text()
		}
	}()
	t.Cleanup(func() {
		_ = c.cmd.Process.Kill()
		for range c.out {
		}
		_ = c.cmd.Wait()
	})
	return c
}

func (c *child) line(t *testing.T) string { return within(t, c.out, "a line of the child") }

func (c *child) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := c.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

func childConfig() (url, ttl string, ok bool) {
	ttl, url, ok = strings.Cut(os.Getenv(frozenURL), " ")
	return url, ttl, ok
}
