package main

import (
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
)

// Order is what somebody owes.
type Order struct{ ID, Cents int64 }

// Payment is what somebody paid for an order.
type Payment struct{ ID, Order, Cents int64 }

// ledger generates orders with the ids 1 to rows and their payments. All but a few payments are right; it knows
// which are not. Everything in it follows from rows and seed.
type ledger struct {
	rows   int64
	seed   uint64
	faults map[int64]Kind // by the order's id
}

// perMyriad is how many of 10,000 orders have a difference of each kind: 1,000 of 1,000,000 in all.
var perMyriad = []struct {
	kind Kind
	n    int64
}{{MissingPayment, 4}, {MissingOrder, 3}, {AmountMismatch, 2}, {DuplicatePayment, 1}}

// newLedger chooses the orders that get a difference; there is at least one of each kind.
func newLedger(p Params) ledger {
	l := ledger{rows: p.rows(), seed: p.Seed, faults: map[int64]Kind{}}
	random := rand.New(rand.NewPCG(l.seed, uint64(l.rows)))
	for _, k := range perMyriad {
		for range max(1, l.rows*k.n/10_000) {
			id := 1 + random.Int64N(l.rows)
			for l.faults[id] != "" {
				id = 1 + random.Int64N(l.rows)
			}
			l.faults[id] = k.kind
		}
	}
	return l
}

// orders yields the orders whose ids are in [lo, hi).
func (l ledger) orders(lo, hi int64) iter.Seq[Order] {
	return func(yield func(Order) bool) {
		for id := lo; id < hi; id++ {
			if l.faults[id] != MissingOrder && !yield(Order{ID: id, Cents: l.cents(id)}) {
				return
			}
		}
	}
}

// payments yields the payments for the orders whose ids are in [lo, hi).
func (l ledger) payments(lo, hi int64) iter.Seq[Payment] {
	return func(yield func(Payment) bool) {
		for id := lo; id < hi; id++ {
			p := Payment{ID: id, Order: id, Cents: l.cents(id)}
			switch l.faults[id] {
			case MissingPayment:
				continue
			case AmountMismatch:
				p.Cents += l.excess(id)
			case DuplicatePayment:
				if !yield(Payment{ID: l.rows + id, Order: id, Cents: p.Cents}) {
					return
				}
			}
			if !yield(p) {
				return
			}
		}
	}
}

// differences returns what a right reconciliation finds, in the order of the ids.
func (l ledger) differences() []Difference {
	found := make([]Difference, 0, len(l.faults))
	for _, id := range slices.Sorted(maps.Keys(l.faults)) {
		cents := l.cents(id)
		d := Difference{Order: id, Kind: l.faults[id], Ordered: cents, Paid: cents}
		switch d.Kind {
		case MissingPayment:
			d.Paid = 0
		case MissingOrder:
			d.Ordered = 0
		case AmountMismatch:
			d.Paid += l.excess(id)
		case DuplicatePayment:
			d.Paid = 2 * cents
		}
		found = append(found, d)
	}
	return found
}

// cents is the amount of an order: 1.00 to 1,000.00.
func (l ledger) cents(id int64) int64 { return 100 + int64(l.noise(id)%99_901) }

// excess is what was paid too much for an order: 0.01 to 5.00.
func (l ledger) excess(id int64) int64 { return 1 + int64(l.noise(-id)%500) }

// noise is the SplitMix64 generator (Steele, Lea and Flood, 2014) at position id of the seed's sequence, so any
// part of the data can be made without the parts before it.
func (l ledger) noise(id int64) uint64 {
	z := l.seed + uint64(id)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
