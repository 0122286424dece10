package main

import (
	"maps"
	"slices"
)

// Counts says how often each construct occurs in a file, a package or a whole tree. A construct that does not
// occur has no entry.
type Counts map[string]int64

// The constructs.
const (
	files      = "files"
	lines      = "lines"
	comments   = "comments" // each // line counts, and each /* */
	functions  = "functions"
	methods    = "methods"
	closures   = "closures"
	types      = "types"
	structs    = "structs"
	interfaces = "interfaces"
	gos        = "go statements"
	defers     = "defers"
	selects    = "selects"
	channels   = "channels" // channel types
)

// Add adds other to c.
func (c Counts) Add(other Counts) {
	for construct, n := range other {
		c[construct] += n
	}
}

// Names returns the constructs of c in the order of the alphabet.
func (c Counts) Names() []string { return slices.Sorted(maps.Keys(c)) }
