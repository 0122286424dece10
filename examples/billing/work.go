package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"axflow/shard"
	"axflow/stage"
)

// Order is one order of the shop.
type Order struct {
	ID       int    `json:"id"`
	Customer string `json:"customer"`
	Cents    int    `json:"cents"`
}

func makeScratch(context.Context, Params) (string, error) { return os.MkdirTemp("", "billing-") }

func removeScratch(ctx context.Context, _ Params) (struct{}, error) {
	dir, err := scratch.Output(ctx)
	if err != nil {
		return struct{}{}, err
	}
	return struct{}{}, os.RemoveAll(dir)
}

// pullOrders stores the shop's orders in the scratch folder and returns the file's name.
func pullOrders(ctx context.Context, p Params) (string, error) {
	dir, err := scratch.Output(ctx)
	if err != nil {
		return "", err
	}
	orders, err := theShop.orders(p.Orders)
	if busy, ok := errors.AsType[*throttled](err); ok {
		return "", stage.RetryAfter(busy.wait, err)
	}
	if err != nil {
		return "", stage.DownstreamError("shop", err)
	}
	text, err := json.Marshal(orders)
	if err != nil {
		return "", err
	}
	name := filepath.Join(dir, "orders.json")
	return name, os.WriteFile(name, text, 0o600)
}

func readOrders(ctx context.Context) ([]Order, error) {
	name, err := pull.Output(ctx)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var orders []Order
	return orders, json.Unmarshal(text, &orders)
}

func chooseRegion(_ context.Context, p Params) (string, error) { return p.Region, nil }

func taxOf(percent int) func(context.Context, Params) (int, error) {
	return func(context.Context, Params) (int, error) { return percent, nil }
}

func planOrders(ctx context.Context, _ Params) (shard.Plan, error) {
	orders, err := readOrders(ctx)
	if err != nil {
		return shard.Plan{}, err
	}
	return shard.List(orders, func(o Order) string { return o.Customer }), nil
}

// priceOrder returns an order's price in cents.
func priceOrder(_ context.Context, _ Params, s shard.Shard) (int, error) {
	o, err := shard.Input[Order](s)
	if err != nil {
		return 0, err
	}
	if o.Cents <= 0 { // no retry mends that
		return 0, stage.Permanent(fmt.Errorf("order %d costs %d cents", o.ID, o.Cents))
	}
	return o.Cents, nil
}

// toInvoice computes the params of the sub-flow.
func toInvoice(ctx context.Context, _ Params) (Invoice, error) {
	var i Invoice
	for _, cents := range price.Outputs(ctx) {
		i.Net += cents
	}
	var err error
	if i.Tax, err = eu.Output(ctx); errors.Is(err, stage.ErrNoOutput) { // the other branch
		i.Tax, err = us.Output(ctx)
	}
	return i, err
}

func addTax(_ context.Context, i Invoice) (int, error) { return i.Net * (100 + i.Tax) / 100, nil }

func wantsAudit(_ context.Context, p Params) (bool, error) { return p.Audit, nil }

// auditInvoice says how many orders the invoice is about and how many it lacks.
func auditInvoice(ctx context.Context, _ Params) (stage.ShardCounts, error) { return price.Counts(ctx) }
