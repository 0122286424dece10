package rest

import (
	"context"
	"sync"
	"time"
)

// mostKept bounds how many answers one memory keeps.
const mostKept = 1_000

// kept remembers answers for a while, so that everybody may ask as often as they like. Those who ask for one at once make it once. The
// zero value is ready.
type kept[K comparable, V any] struct {
	mu  sync.Mutex
	all map[K]*keptOne[V]
}

type keptOne[V any] struct {
	mu    sync.Mutex
	until time.Time
	v     V
}

// get is what is kept of k, or else what fresh says, with how long it is good for. What fails is not kept. The work goes on when the
// one who asked first is gone: others may wait for it.
func (m *kept[K, V]) get(ctx context.Context, k K, fresh func(context.Context) (V, time.Duration, error)) (V, error) {
	one := m.of(k)
	one.mu.Lock()
	defer one.mu.Unlock()
	if time.Now().Before(one.until) {
		return one.v, nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keptWithin)
	defer cancel()
	v, good, err := fresh(ctx)
	if err != nil {
		return v, err
	}
	one.v, one.until = v, time.Now().Add(good)
	return v, nil
}

// keptWithin bounds how long making an answer may take.
const keptWithin = 15 * time.Second

func (m *kept[K, V]) of(k K) *keptOne[V] {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.all == nil || len(m.all) >= mostKept && m.all[k] == nil {
		m.all = make(map[K]*keptOne[V]) // those who hold one still have it
	}
	if m.all[k] == nil {
		m.all[k] = &keptOne[V]{}
	}
	return m.all[k]
}
