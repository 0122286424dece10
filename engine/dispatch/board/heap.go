package board

// placed is an element that remembers its index in a heap, so that it can leave from the middle.
type placed interface{ place(i int) }

// heap is a 4-ary min-heap ordered by (at, seq). The keys lie beside the elements because following a
// pointer for every comparison would cost a cache miss each. Its zero value is empty.
type heap[T placed] struct{ e []entry[T] }

type entry[T placed] struct {
	at   int64
	seq  uint64
	item T
}

func (a *entry[T]) before(b *entry[T]) bool {
	return a.at < b.at || a.at == b.at && a.seq < b.seq
}

func (h *heap[T]) empty() bool { return len(h.e) == 0 }

// top returns the first element; the heap must not be empty.
func (h *heap[T]) top() T { return h.e[0].item }

func (h *heap[T]) push(at int64, seq uint64, item T) {
	h.e = append(h.e, entry[T]{at, seq, item})
	h.up(len(h.e) - 1)
}

// remove takes out the element at index i and tells it so with the index -1.
func (h *heap[T]) remove(i int) {
	h.e[i].item.place(-1)
	last := len(h.e) - 1
	moved := h.e[last]
	h.e[last] = entry[T]{}
	h.e = h.e[:last]
	if i == last {
		return
	}
	h.e[i] = moved
	h.settle(i)
}

// fix gives the element at index i a new key.
func (h *heap[T]) fix(i int, at int64, seq uint64) {
	if h.e[i].at == at && h.e[i].seq == seq {
		return
	}
	h.e[i].at, h.e[i].seq = at, seq
	h.settle(i)
}

func (h *heap[T]) settle(i int) {
	if i > 0 && h.e[i].before(&h.e[(i-1)/4]) {
		h.up(i)
		return
	}
	h.down(i)
}

func (h *heap[T]) up(i int) {
	x := h.e[i]
	for i > 0 {
		parent := (i - 1) / 4
		if !x.before(&h.e[parent]) {
			break
		}
		h.e[i] = h.e[parent]
		h.e[i].item.place(i)
		i = parent
	}
	h.e[i] = x
	x.item.place(i)
}

func (h *heap[T]) down(i int) {
	x := h.e[i]
	for {
		first := 4*i + 1
		if first >= len(h.e) {
			break
		}
		least := first
		for c := first + 1; c < len(h.e) && c < first+4; c++ {
			if h.e[c].before(&h.e[least]) {
				least = c
			}
		}
		if !h.e[least].before(&x) {
			break
		}
		h.e[i] = h.e[least]
		h.e[i].item.place(i)
		i = least
	}
	h.e[i] = x
	x.item.place(i)
}

// clear forgets all elements and keeps the memory.
func (h *heap[T]) clear() {
	clear(h.e)
	h.e = h.e[:0]
}
