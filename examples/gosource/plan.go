package main

import (
	"cmp"
	"context"
	"slices"

	"axflow/shard"
)

// Group is the work of one shard: packages that one task parses.
type Group struct {
	Root     string    `json:"root"`
	Files    int       `json:"files"`
	Packages []Package `json:"packages"`
}

// planParse divides the packages into shards of about FilesPerShard files each. It runs once a run; its answer is
// stored, and every shard finds its Group in it.
func planParse(ctx context.Context, p Params) (shard.Plan, error) {
	listing, err := list.Output(ctx) // typed: a Listing
	if err != nil {
		return shard.Plan{}, err
	}
	per := p.filesPerShard()
	return shard.List(balance(listing, (listing.Files+per-1)/per)), nil
}

// balance puts the packages into n groups, or fewer if there are fewer packages, of nearly equal numbers of
// files: the largest package first, each into the group that has the fewest files so far.
func balance(l Listing, n int) []Group {
	groups := make([]Group, min(n, len(l.Packages)))
	bySize := slices.SortedStableFunc(slices.Values(l.Packages), func(a, b Package) int {
		return cmp.Compare(len(b.Files), len(a.Files))
	})
	for _, p := range bySize {
		least := 0
		for i := range groups {
			if groups[i].Files < groups[least].Files {
				least = i
			}
		}
		g := &groups[least]
		g.Root, g.Files, g.Packages = l.Root, g.Files+len(p.Files), append(g.Packages, p)
	}
	return groups
}
