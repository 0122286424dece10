package worker

import "sync"

// cache keeps about the last size entries that were used. It is safe for concurrent use.
type cache[K comparable, V any] struct {
	mu         sync.Mutex
	size       int
	young, old map[K]V // what is used goes to young; when young is full, it becomes old
}

func newCache[K comparable, V any](size int) *cache[K, V] {
	return &cache[K, V]{size: size, young: make(map[K]V)}
}

func (c *cache[K, V]) get(k K) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v, ok := c.young[k]
	if !ok {
		if v, ok = c.old[k]; ok {
			c.add(k, v)
		}
	}
	return v, ok
}

func (c *cache[K, V]) put(k K, v V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.add(k, v)
}

func (c *cache[K, V]) add(k K, v V) {
	if len(c.young) >= c.size {
		c.old, c.young = c.young, make(map[K]V)
	}
	c.young[k] = v
}
