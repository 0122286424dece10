package cli

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// table is rows of cells, the head first.
type table [][]string

// write aligns the columns; numbers are not told apart.
func (t table) write(w io.Writer) error {
	var widths []int
	for _, cells := range t {
		for i, c := range cells {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(c))
		}
	}
	var b strings.Builder
	for _, cells := range t {
		var l strings.Builder
		for i, c := range cells {
			_, _ = fmt.Fprintf(&l, "%-*s  ", widths[i], c)
		}
		b.WriteString(strings.TrimRight(l.String(), " ") + "\n")
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("writing the answer: %w", err)
	}
	return nil
}
