package main

import (
	"slices"
	"testing"
)

func TestLedgerHasTheRightNumbers(t *testing.T) {
	l := newLedger(Params{Rows: 100_000, Seed: 7})
	count := map[Kind]int{}
	for _, d := range l.differences() {
		count[d.Kind]++
	}
	// 4, 3, 2 and 1 of 10,000.
	for kind, want := range map[Kind]int{MissingPayment: 40, MissingOrder: 30, AmountMismatch: 20, DuplicatePayment: 10} {
		if count[kind] != want {
			t.Errorf("%d differences of kind %s, want %d", count[kind], kind, want)
		}
	}
	orders, payments, ids := 0, 0, map[int64]bool{}
	for o := range l.orders(1, l.rows+1) {
		orders++
		if o.Cents < 100 || o.Cents > 100_000 {
			t.Fatalf("order %d has %d cents, want 100 to 100000", o.ID, o.Cents)
		}
	}
	for p := range l.payments(1, l.rows+1) {
		payments++
		if ids[p.ID] {
			t.Fatalf("payment %d occurs twice", p.ID)
		}
		ids[p.ID] = true
	}
	if orders != 100_000-30 || payments != 100_000-40+10 {
		t.Errorf("%d orders and %d payments, want 99970 and 99970", orders, payments)
	}
}

func TestSmallLedgerHasOneOfEachKind(t *testing.T) {
	if got := newLedger(Params{Rows: 100}).differences(); len(got) != 4 {
		t.Errorf("got %v, want one of each of the four kinds", got)
	}
}

// Any cut of the ids gives the same data.
func TestLedgerDoesNotDependOnTheShards(t *testing.T) {
	l := newLedger(Params{Rows: 1000, Seed: 3})
	whole := slices.Collect(l.payments(1, 1001))
	parts := slices.Collect(l.payments(1, 400))
	parts = slices.AppendSeq(parts, newLedger(Params{Rows: 1000, Seed: 3}).payments(400, 1001))
	if !slices.Equal(whole, parts) {
		t.Error("two shards generate other payments than one")
	}
	if slices.Equal(whole, slices.Collect(newLedger(Params{Rows: 1000, Seed: 4}).payments(1, 1001))) {
		t.Error("another seed generates the same payments")
	}
}

// The first value of SplitMix64 for seed 1234567, from the reference implementation's published test values.
func TestNoise(t *testing.T) {
	l := ledger{seed: 1234567}
	for i, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423} {
		if got := l.noise(int64(i + 1)); got != want {
			t.Errorf("noise(%d) is %d, want %d", i+1, got, want)
		}
	}
}
