package main

import (
	"errors"
	"iter"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func stream(entries ...entry) iter.Seq2[entry, error] {
	return func(yield func(entry, error) bool) {
		for _, e := range entries {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func TestCompare(t *testing.T) {
	order := func(id, cents int64) entry { return entry{order: id, cents: cents} }
	payment := func(id, cents int64) entry { return entry{order: id, payment: true, cents: cents} }
	for name, c := range map[string]struct {
		entries []entry
		want    []Difference
	}{
		"nothing": {},
		"equal":   {entries: []entry{order(1, 5), payment(1, 5), payment(2, 7), order(2, 7)}},
		"missing payment at the end": {
			entries: []entry{order(1, 5), payment(1, 5), order(2, 7)},
			want:    []Difference{{2, MissingPayment, 7, 0}},
		},
		"missing order at the start": {
			entries: []entry{payment(1, 5), order(2, 7), payment(2, 7)},
			want:    []Difference{{1, MissingOrder, 0, 5}},
		},
		"two payments without an order are one missing order": {
			entries: []entry{payment(3, 5), payment(3, 6)},
			want:    []Difference{{3, MissingOrder, 0, 11}},
		},
		"other amount": {
			entries: []entry{order(1, 5), payment(1, 4)},
			want:    []Difference{{1, AmountMismatch, 5, 4}},
		},
		"paid twice": {
			entries: []entry{order(1, 5), payment(1, 5), payment(1, 5)},
			want:    []Difference{{1, DuplicatePayment, 5, 10}},
		},
		"two payments that add up are still two": {
			entries: []entry{payment(1, 2), order(1, 5), payment(1, 3)},
			want:    []Difference{{1, DuplicatePayment, 5, 5}},
		},
		"each kind": {
			entries: []entry{order(1, 1), order(2, 2), payment(2, 3), payment(3, 3), order(4, 4), payment(4, 4), payment(4, 4), order(5, 5), payment(5, 5)},
			want:    []Difference{{1, MissingPayment, 1, 0}, {2, AmountMismatch, 2, 3}, {3, MissingOrder, 0, 3}, {4, DuplicatePayment, 4, 8}},
		},
	} {
		got, err := compare(stream(c.entries...))
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, %v, want %v", name, got, err, c.want)
		}
	}
}

func TestCompareReturnsTheStreamsError(t *testing.T) {
	broken := errors.New("broken")
	_, err := compare(func(yield func(entry, error) bool) { yield(entry{}, broken) })
	if !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

// Whatever the seed and the size, comparing what the ledger generates finds what it says it put in.
func TestCompareFindsWhatTheLedgerPutIn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := newLedger(Params{Rows: rapid.Int64Range(100, 3000).Draw(t, "rows"), Seed: rapid.Uint64().Draw(t, "seed")})
		var entries []entry
		for o := range l.orders(1, l.rows+1) {
			entries = append(entries, entry{order: o.ID, cents: o.Cents})
		}
		for p := range l.payments(1, l.rows+1) {
			entries = append(entries, entry{order: p.Order, payment: true, cents: p.Cents})
		}
		slices.SortStableFunc(entries, func(a, b entry) int { return int(a.order - b.order) })
		found, err := compare(stream(entries...))
		if err != nil {
			t.Fatal(err)
		}
		if err := sameDifferences(l.differences(), found); err != nil {
			t.Fatal(err)
		}
	})
}
