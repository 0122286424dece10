package wheel

// farHeap is a binary min-heap by due tick, then by order of adding. Keys are stored beside the node
// numbers, so that sifting touches one array; nodes know their place, so that a timer can be cancelled.
type farHeap []farEntry

type farEntry struct {
	tick int64
	seq  uint64
	node int32
}

func (a farEntry) before(b farEntry) bool {
	return a.tick < b.tick || a.tick == b.tick && a.seq < b.seq
}

func (w *Wheel[T]) farPush(i int32) {
	n := &w.nodes[i]
	w.far = append(w.far, farEntry{tick: n.tick, seq: n.seq, node: i})
	w.farUp(len(w.far) - 1)
}

// farRemove takes the entry at place k out and returns its node.
func (w *Wheel[T]) farRemove(k int) int32 {
	i := w.far[k].node
	last := len(w.far) - 1
	moved := w.far[last]
	w.far = w.far[:last]
	if k < last {
		w.far[k] = moved
		if k > 0 && moved.before(w.far[(k-1)/2]) {
			w.farUp(k)
		} else {
			w.farDown(k)
		}
	}
	return i
}

func (w *Wheel[T]) farUp(k int) {
	e := w.far[k]
	for k > 0 {
		parent := (k - 1) / 2
		if !e.before(w.far[parent]) {
			break
		}
		w.farSet(k, w.far[parent])
		k = parent
	}
	w.farSet(k, e)
}

func (w *Wheel[T]) farDown(k int) {
	e := w.far[k]
	for {
		child := 2*k + 1
		if child >= len(w.far) {
			break
		}
		if child+1 < len(w.far) && w.far[child+1].before(w.far[child]) {
			child++
		}
		if !w.far[child].before(e) {
			break
		}
		w.farSet(k, w.far[child])
		k = child
	}
	w.farSet(k, e)
}

func (w *Wheel[T]) farSet(k int, e farEntry) {
	w.far[k] = e
	w.nodes[e.node].heap = int32(k)
}
