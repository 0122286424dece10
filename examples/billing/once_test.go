package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"axflow"
	"axflow/flow"
	"axflow/internal/pgtest"
)

// The orders cost 1 + 2 + … + 100 = 5,050 cents, but orders 39 and 79, of 40 and 80 cents, are broken: 4,930. With
// 20 % tax that is 5,916 cents, with 8 % it is 5,324.
func TestOnce(t *testing.T) {
	d := pgtest.New(t)
	t.Setenv("TMPDIR", t.TempDir())
	ctx := pgtest.Context(t, 2*time.Minute)
	for _, c := range []struct {
		p    Params
		want string
	}{
		{Params{Orders: 100, Region: "eu", Audit: true}, "billing: OK region=eu cents=5916 orders=100 broken=2\n"},
		{Params{Orders: 100, Region: "us"}, "billing: OK region=us cents=5324\n"},
	} {
		var out bytes.Buffer
		cfg := axflow.OnceConfig{DatabaseURL: d.URL, Also: []flow.Definition{invoicing}, Progress: io.Discard}
		if err := once(ctx, cfg, c.p, &out); err != nil {
			t.Fatal(err)
		}
		if out.String() != c.want {
			t.Errorf("got %q, want %q", &out, c.want)
		}
	}
	left, err := filepath.Glob(filepath.Join(os.TempDir(), "billing-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// Three broken orders are more than are tolerated; the folder goes all the same.
func TestOnceFails(t *testing.T) {
	d := pgtest.New(t)
	t.Setenv("TMPDIR", t.TempDir())
	cfg := axflow.OnceConfig{DatabaseURL: d.URL, Also: []flow.Definition{invoicing}, Progress: io.Discard}
	if err := once(pgtest.Context(t, 2*time.Minute), cfg, Params{Orders: 120, Region: "eu"}, io.Discard); err == nil {
		t.Error("no error")
	}
	left, err := filepath.Glob(filepath.Join(os.TempDir(), "billing-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
