package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
)

// Size is a package with its lines.
type Size struct {
	Package string `json:"package"`
	Lines   int64  `json:"lines"`
}

// Report is the output of the stage "report".
type Report struct {
	Shards   int    `json:"shards"`
	Packages int    `json:"packages"`
	Totals   Counts `json:"totals"`
	Largest  []Size `json:"largest"`
}

// writeReport is the handler of the stage "report". It reads what the shards returned as a stream.
func writeReport(ctx context.Context, _ Params) (Report, error) {
	r := Report{Totals: Counts{}}
	for _, parsed := range parse.Outputs(ctx) {
		r.Shards++
		r.Packages += parsed.Packages
		r.Totals.Add(parsed.Totals)
		r.Largest = largest(append(r.Largest, parsed.Largest...))
	}
	return r, nil
}

// largest returns the ten packages with the most lines, the largest first.
func largest(sizes []Size) []Size {
	slices.SortFunc(sizes, func(a, b Size) int {
		return cmp.Or(cmp.Compare(b.Lines, a.Lines), cmp.Compare(a.Package, b.Package))
	})
	return sizes[:min(10, len(sizes))]
}

// String returns the report as two small tables.
func (r Report) String() string {
	var b strings.Builder
	b.WriteString("Totals\n")
	for _, construct := range r.Totals.Names() {
		fmt.Fprintf(&b, "%12d  %s\n", r.Totals[construct], construct)
	}
	b.WriteString("\nPackages with the most lines\n")
	for _, s := range r.Largest {
		fmt.Fprintf(&b, "%12d  %s\n", s.Lines, s.Package)
	}
	return b.String()
}
