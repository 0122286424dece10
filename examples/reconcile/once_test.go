package main

import (
	"bytes"
	"context"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"axflow"
	"axflow/internal/pgtest"
)

// Twice on one database, and of different sizes: the second run must not see the rows of the first.
func TestOnce(t *testing.T) {
	d := pgtest.New(t)
	ctx := pgtest.Context(t, 2*time.Minute)
	for _, c := range []struct {
		p    Params
		want string
	}{
		// 120,000 orders make three shards of 40,000; 48, 36, 24 and 12 of them differ. Of the rows 36 orders and
		// 48 payments are missing, and 12 payments are there twice.
		{Params{Rows: 120_000, Seed: 1}, `rows=239928 orders=119964 payments=119964 shards=3 differences=120`},
		{Params{Rows: 20_000, Seed: 9}, `rows=39988 orders=19994 payments=19994 shards=1 differences=20`},
	} {
		var out bytes.Buffer
		if err := once(ctx, axflow.OnceConfig{DatabaseURL: d.URL, Progress: io.Discard}, c.p, &out); err != nil {
			t.Fatal(err)
		}
		if !regexp.MustCompile(`(?m)^reconcile: OK ` + c.want + ` seconds=\S+ rows/s=\S+$`).Match(out.Bytes()) {
			t.Errorf("got\n%swant a line with %s", &out, c.want)
		}
	}
}

// What was changed behind the generator's back is found, and fails the check.
func TestCheckFindsAnotherDifference(t *testing.T) {
	d := pgtest.New(t)
	ctx := pgtest.Context(t, 2*time.Minute)
	p := Params{Rows: 1000, Seed: 2}
	cfg := axflow.OnceConfig{DatabaseURL: d.URL, Progress: io.Discard}
	err := axflow.Once(ctx, cfg, reconcile, p, func(context.Context, *axflow.Client, uuid.UUID) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	tx, err := d.Pool.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(ctx) }()
	var changed int64
	err = tx.QueryRow(ctx, `UPDATE recon_payment SET cents = cents + 1 WHERE id = (
		SELECT min(id) FROM recon_payment WHERE order_id NOT IN (SELECT order_id FROM recon_difference)) RETURNING order_id`).Scan(&changed)
	if err != nil {
		t.Fatal(err)
	}
	var n int64
	found, err := compare(entries(ctx, tx, 1, 1001, &n))
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 5 { // one of each kind, and this one
		t.Errorf("found %v, want five differences", found)
	}
	err = sameDifferences(newLedger(p).differences(), found)
	if err == nil || !strings.Contains(err.Error(), "found and not put in") {
		t.Errorf("got %v, want an error about order %d", err, changed)
	}
}
