package main

import (
	"context"
	"fmt"
	"strings"
)

// Summary is the output of the stage "summary".
type Summary struct {
	Shards  int          `json:"shards"`
	Entries int64        `json:"entries"` // orders and payments compared
	Found   map[Kind]int `json:"found"`
	First   []Difference `json:"first"` // at most ten, for a first look
}

// summarise is the handler of the stage "summary". It reads what the shards returned as a stream, so a million of
// them would fit as well.
func summarise(ctx context.Context, _ Params) (Summary, error) {
	s := Summary{Found: map[Kind]int{}}
	for _, diff := range recon.Outputs(ctx) { // typed: a Diff of each shard
		s.Shards++
		s.Entries += diff.Entries
		for kind, n := range diff.Found {
			s.Found[kind] += n
		}
		s.First = append(s.First, diff.First[:min(10-len(s.First), len(diff.First))]...)
	}
	return s, nil
}

// Differences is how many there are of all kinds.
func (s Summary) Differences() int {
	n := 0
	for _, k := range s.Found {
		n += k
	}
	return n
}

// String returns the summary as two small tables.
func (s Summary) String() string {
	var b strings.Builder
	b.WriteString("Differences found\n")
	for _, kind := range []Kind{MissingPayment, MissingOrder, AmountMismatch, DuplicatePayment} {
		fmt.Fprintf(&b, "%10d  %s\n", s.Found[kind], kind)
	}
	b.WriteString("\nThe first of them\n     order     ordered        paid\n")
	for _, d := range s.First {
		fmt.Fprintf(&b, "%10d  %10s  %10s  %s\n", d.Order, amount(d.Ordered), amount(d.Paid), d.Kind)
	}
	return b.String()
}

func amount(cents int64) string { return fmt.Sprintf("%d.%02d", cents/100, cents%100) }
