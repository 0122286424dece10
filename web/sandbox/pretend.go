package main

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"time"

	"axflow/stage"
)

// chance is a number of [0, 1) that the names decide: the same in every sandbox.
func chance(names ...any) float64 {
	h := fnv.New64a()
	_, _ = fmt.Fprint(h, names...)
	// FNV changes the low bits most: mix before the high ones are taken.
	z := h.Sum64()
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return float64((z^z>>31)>>11) / (1 << 53)
}

// pause is work that takes a time: it ends early with its context.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// skewed is a duration with a long tail: most are near the median, one in fifty takes ten times as long.
func skewed(median time.Duration, u float64) time.Duration {
	f := math.Exp(0.5 * math.Tan(math.Pi*(0.02+0.93*u-0.5)) / 2)
	return time.Duration(float64(median) * min(max(f, 0.3), 12))
}

// work pauses in steps and reports its progress.
func work(ctx context.Context, d time.Duration, steps int, doing string) error {
	for i := range steps {
		stage.Progress(ctx, i, steps)
		stage.Detail(ctx, doing)
		if err := pause(ctx, d/time.Duration(steps)); err != nil {
			return err
		}
	}
	stage.Progress(ctx, steps, steps)
	return nil
}

// coded is an error with a code, as the systems that handlers talk to have them.
type coded struct{ code, text string }

func (e coded) Error() string { return e.text }

// Code is what the error is known by.
func (e coded) Code() string { return e.code }

var errConnection = errors.New("connection refused")
