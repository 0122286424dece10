package flow

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"axflow/stage"
)

// inspect adds to faults whatever is wrong with a flow of these stages, nil ones included.
func inspect[P any](faults *Faults, name string, defs []*stage.Def) {
	faults.add(stage.CheckName("flow", name))
	switch {
	case len(defs) == 0:
		faults.addf("it has no stages: give at least one")
	case len(defs) > MaxStages:
		faults.addf("it has %d stages, at most %d are allowed: shard stages that do the same, or split the flow", len(defs), MaxStages)
	}
	member := make(map[*stage.Def]bool, len(defs))
	named := make(map[string]int, len(defs))
	for i, d := range defs {
		switch {
		case d == nil:
			faults.addf("stage number %d is nil: remove it", i+1)
		case member[d]:
			faults.addf("stage %q is given twice: give it once", clip(d.Name))
		default:
			member[d] = true
			if named[d.Name]++; named[d.Name] == 2 {
				faults.addf("two stages have the name %q: rename one", clip(d.Name))
			}
		}
	}
	seen := make(map[*stage.Def]bool, len(defs))
	for _, d := range defs {
		if d == nil || seen[d] {
			continue
		}
		seen[d] = true
		for _, fault := range d.Faults {
			faults.addf("stage %q: %w", clip(d.Name), fault)
		}
		for _, u := range d.Upstreams {
			if !member[u] {
				faults.addf("stage %q comes after %q, which is not part of the flow: give it to the flow, or remove it from After", clip(d.Name), clip(u.Name))
			}
		}
		if want := reflect.TypeFor[P](); d.ParamsType != want {
			faults.addf("stage %q takes params of type %v, the flow's are %v: use one type", clip(d.Name), d.ParamsType, want)
		}
		if err := checkType(d.OutputType); err != nil {
			faults.addf("stage %q: its output type: %w", clip(d.Name), err)
		}
	}
	for _, c := range circles(defs, member) {
		faults.addf("stages wait for each other in a circle, %s: remove one After", c)
	}
}

// circles returns one shortest circle of each group of stages that wait for each other, such as "a -> b -> a",
// where the arrow points from a stage to one that waits for it.
func circles(defs []*stage.Def, member map[*stage.Def]bool) []string {
	var found []string
	for _, group := range knots(defs, member) {
		start := slices.MinFunc(group, func(a, b *stage.Def) int { return cmp.Compare(a.Name, b.Name) })
		// Breadth first along upstreams, until the start is met again.
		next := map[*stage.Def]*stage.Def{}
		for queue := []*stage.Def{start}; next[start] == nil; queue = queue[1:] {
			for _, u := range queue[0].Upstreams {
				if slices.Contains(group, u) && next[u] == nil {
					next[u] = queue[0]
					queue = append(queue, u)
				}
			}
		}
		names := []string{clip(start.Name)}
		for d := next[start]; d != start; d = next[d] {
			names = append(names, clip(d.Name))
		}
		found = append(found, strings.Join(append(names, clip(start.Name)), " -> "))
	}
	return found
}

// knots returns the groups of stages each of which waits for every other of its group (the strongly
// connected components, by Tarjan's algorithm), leaving out stages that wait for none of these.
func knots(defs []*stage.Def, member map[*stage.Def]bool) [][]*stage.Def {
	var (
		groups [][]*stage.Def
		stack  []*stage.Def
		num    = map[*stage.Def]int{} // in order of first visit, from 1
		low    = map[*stage.Def]int{} // the lowest number known to be reachable
		on     = map[*stage.Def]bool{}
		visit  func(*stage.Def)
	)
	visit = func(d *stage.Def) {
		num[d] = len(num) + 1
		low[d] = num[d]
		stack, on[d] = append(stack, d), true
		for _, u := range d.Upstreams {
			if !member[u] {
				continue
			}
			if num[u] == 0 {
				visit(u)
				low[d] = min(low[d], low[u])
			} else if on[u] {
				low[d] = min(low[d], num[u])
			}
		}
		if low[d] != num[d] {
			return
		}
		i := slices.Index(stack, d)
		group := slices.Clone(stack[i:])
		stack = stack[:i]
		for _, m := range group {
			on[m] = false
		}
		if len(group) > 1 || slices.Contains(d.Upstreams, d) {
			groups = append(groups, group)
		}
	}
	for _, d := range defs {
		if d != nil && num[d] == 0 {
			visit(d)
		}
	}
	return groups
}

// inOrder returns the stages by depth, then by name: upstreams before dependents, and the same order
// whatever the order of declaration. There are no circles.
func inOrder(defs []*stage.Def) []*stage.Def {
	depth := make(map[*stage.Def]int, len(defs))
	var measure func(*stage.Def) int
	measure = func(d *stage.Def) int {
		n, known := depth[d]
		if known {
			return n
		}
		for _, u := range d.Upstreams {
			n = max(n, measure(u)+1)
		}
		depth[d] = n
		return n
	}
	for _, d := range defs {
		measure(d)
	}
	return slices.SortedFunc(slices.Values(defs), func(a, b *stage.Def) int {
		return cmp.Or(cmp.Compare(depth[a], depth[b]), cmp.Compare(a.Name, b.Name))
	})
}

// checkType tells whether values of type t have JSON.
func checkType(t reflect.Type) error {
	if t == nil {
		return fmt.Errorf("it is unknown: build the stage with stage.NewDef")
	}
	_, err := reflectSchema(t)
	return err
}
