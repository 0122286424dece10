package leader_test

import (
	"context"
	"flag"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"axflow/engine/leader"
	"axflow/internal/pgtest"
)

// patience bounds every wait for something that should happen; a loaded machine must not fail a test.
const patience = 30 * time.Second

// lateRenewal ends what is said of a term whose leader, or its machine, stood still for too long.
const lateRenewal = "not renewed in time"

// wire is an elector's network: it can be cut, which breaks its connections and refuses new ones.
type wire struct {
	mu    sync.Mutex
	cut   bool
	conns []net.Conn
}

func (w *wire) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cut {
		return nil, fmt.Errorf("dialling %s: the wire is cut", addr)
	}
	c, err := new(net.Dialer).DialContext(ctx, network, addr)
	if err == nil {
		w.conns = append(w.conns, c)
	}
	return c, err
}

func (w *wire) set(cut bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut = cut
	if cut {
		for _, c := range w.conns {
			_ = c.Close()
		}
		w.conns = nil
	}
}

// engine runs one elector; its terms come out of terms, with Lead's ctx.
type engine struct {
	wire
	terms chan reign
	stop  context.CancelFunc
	ended chan struct{}
}

type reign struct {
	leader.Term
	ctx  context.Context
	quit chan error // makes Lead return
}

// start runs an elector until the test ends. change may change its config.
func start(t *testing.T, db *pgtest.DB, holder string, change func(*leader.Config)) *engine {
	t.Helper()
	e := &engine{terms: make(chan reign, 100), ended: make(chan struct{})}
	cc, err := pgx.ParseConfig(db.URL)
	if err != nil {
		t.Fatal(err)
	}
	cc.DialFunc = e.dial
	cfg := leader.Config{
		ConnConfig: cc, Name: "main", Holder: holder, TTL: 3 * time.Second, Renew: time.Second,
		Lead: func(ctx context.Context, term leader.Term) error {
			r := reign{term, ctx, make(chan error)}
			e.terms <- r
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case err := <-r.quit:
				return err
			}
		},
	}
	if change != nil {
		change(&cfg)
	}
	el, err := leader.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	e.stop = stop
	go func() {
		defer close(e.ended)
		if err := el.Run(ctx); err != nil {
			t.Errorf("Run of %s: %v", holder, err)
		}
	}()
	t.Cleanup(func() {
		stop()
		within(t, e.ended, "the end of Run")
	})
	return e
}

// within receives from ch, or fails the test.
func within[T any](t *testing.T, ch <-chan T, what string) (v T) {
	t.Helper()
	select {
	case v = <-ch:
	case <-time.After(patience):
		t.Fatalf("%s did not come within %v", what, patience)
	}
	return v
}

// eventually tries f until it holds, or fails the test.
func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	late := time.After(patience)
	for !f() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("%s: not within %v", what, patience)
		}
	}
}

// query reads one value.
func query[T any](t *testing.T, db *pgtest.DB, sql string, args ...any) (v T) {
	t.Helper()
	if err := db.Pool.QueryRow(context.Background(), sql, args...).Scan(&v); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return v
}

func exec(t *testing.T, db *pgtest.DB, sql string, args ...any) {
	t.Helper()
	if _, err := db.Pool.Exec(context.Background(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func TestMain(m *testing.M) {
	if url, ttl, ok := childConfig(); ok {
		frozenChild(url, ttl)
		return
	}
	// These tests wait for leases to run out; they hardly compute.
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}
