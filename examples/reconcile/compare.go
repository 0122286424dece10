package main

import "iter"

// Kind is what is wrong with an order or its payments.
type Kind string

// The kinds of differences.
const (
	MissingPayment   Kind = "missing_payment"   // an order that nobody paid
	MissingOrder     Kind = "missing_order"     // payments for an order that there is not
	AmountMismatch   Kind = "amount_mismatch"   // one payment, of another amount
	DuplicatePayment Kind = "duplicate_payment" // several payments
)

// Difference is one order that its payments do not match. Ordered and Paid are in cents; what is missing is 0.
type Difference struct {
	Order   int64 `json:"order"`
	Kind    Kind  `json:"kind"`
	Ordered int64 `json:"ordered"`
	Paid    int64 `json:"paid"`
}

// entry is an order or a payment, as compare reads them.
type entry struct {
	order   int64
	payment bool
	cents   int64
}

// compare reads entries sorted by order and returns the differences, in that order too. An order occurs at most
// once. It holds one order at a time, however long the stream is.
func compare(entries iter.Seq2[entry, error]) ([]Difference, error) {
	var found []Difference
	var at account
	for e, err := range entries {
		if err != nil {
			return nil, err
		}
		if e.order != at.order {
			found = at.judge(found)
			at = account{order: e.order}
		}
		at.add(e)
	}
	return at.judge(found), nil
}

// account is all there is about one order.
type account struct {
	order            int64
	orders, payments int
	ordered, paid    int64
}

func (a *account) add(e entry) {
	if e.payment {
		a.payments++
		a.paid += e.cents
		return
	}
	a.orders++
	a.ordered += e.cents
}

// judge appends the account's difference, if it has one.
func (a *account) judge(found []Difference) []Difference {
	d := Difference{Order: a.order, Ordered: a.ordered, Paid: a.paid}
	switch {
	case a.orders == 0 && a.payments == 0: // before the first entry
		return found
	case a.payments == 0:
		d.Kind = MissingPayment
	case a.orders == 0:
		d.Kind = MissingOrder
	case a.payments > 1:
		d.Kind = DuplicatePayment
	case a.ordered != a.paid:
		d.Kind = AmountMismatch
	default:
		return found
	}
	return append(found, d)
}
