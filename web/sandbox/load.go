package main

import (
	"context"
	"time"
)

// load keeps the content moving, gently, until ctx ends.
func (c *content) load(ctx context.Context) error {
	for n := 0; ; n++ {
		if err := pause(ctx, 6*time.Second); err != nil {
			return nil //nolint:nilerr // it is over
		}
		s := start{"billing", billingParams{Orders: 41 + c.rnd.IntN(60), Region: "eu"}, nil}
		switch n % 5 {
		case 1, 3:
			s = start{"daily-recon", reconParams{Date: day(c.rnd.IntN(90)), Region: []string{"eu", "us", "apac"}[c.rnd.IntN(3)]}, tagged(map[string]string{"team": "finance"})}
		case 2:
			s = start{"orders-sync", syncParams{Source: "pos", Shards: 120, Median: 30}, tagged(map[string]string{"team": "commerce"})}
		case 4:
			s = start{"wide", paceParams{Pace: 3}, nil}
		}
		if _, err := c.start(ctx, s); err != nil && ctx.Err() == nil {
			return err
		}
	}
}
