package flow

// ordHeap is a binary heap of stages' numbers, the lowest first. An ascending slice is one.
type ordHeap []int

func (h *ordHeap) push(ord int) {
	s := append(*h, ord)
	for i := len(s) - 1; i > 0; {
		up := (i - 1) / 2
		if s[up] <= s[i] {
			break
		}
		s[up], s[i] = s[i], s[up]
		i = up
	}
	*h = s
}

func (h *ordHeap) pop() int {
	s := *h
	first, last := s[0], len(s)-1
	s[0] = s[last]
	s = s[:last]
	for i := 0; ; {
		low := 2*i + 1
		if low >= last {
			break
		}
		if low+1 < last && s[low+1] < s[low] {
			low++
		}
		if s[i] <= s[low] {
			break
		}
		s[i], s[low] = s[low], s[i]
		i = low
	}
	*h = s
	return first
}
