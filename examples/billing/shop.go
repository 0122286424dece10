package main

import (
	"fmt"
	"sync/atomic"
	"time"
)

// shop is the system that the orders come from. It answers every other call with "too many requests", and every
// fortieth order is broken.
type shop struct{ calls atomic.Int64 }

var theShop shop

// throttled is the shop's "429 too many requests", with its Retry-After.
type throttled struct{ wait time.Duration }

func (e *throttled) Error() string { return fmt.Sprintf("the shop is busy: try again in %v", e.wait) }

func (s *shop) orders(n int) ([]Order, error) {
	if s.calls.Add(1)%2 == 1 {
		return nil, &throttled{200 * time.Millisecond}
	}
	orders := make([]Order, n)
	for i := range orders {
		orders[i] = Order{ID: i, Customer: fmt.Sprintf("customer-%d", i%7), Cents: i + 1}
		if i%40 == 39 {
			orders[i].Cents = 0
		}
	}
	return orders, nil
}
