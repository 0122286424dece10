package arrows

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Check returns one text for each violation, sorted; none means that all arrows are right.
func Check(m Module) []string {
	var faults []string
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	for _, at := range slices.Sorted(maps.Keys(m)) {
		p := m[at]
		if vague[p.Name] {
			fault("package %s is named %q, which says nothing about what is in it: name it for its one idea", show(at), p.Name)
		}
		if _, top, ok := layer(at); !ok && !isInternal(at) {
			fault("package %s: folder %q has no place in the order of layers: give it one in internal/arrows/layer.go", show(at), top)
		}
		m.checkLayers(p, fault)
		m.checkSupport(p, fault)
		if pure[at] {
			m.checkPure(p, fault)
		}
		for _, u := range p.Uses {
			if strings.HasPrefix(u.Package, "math/rand") && !seeded[u.Name] && unrepeatable[at] == "" && unrepeatable[file(u)] == "" {
				fault("%s: %s.%s draws from a hidden source that no seed can repeat: take a *rand.Rand as an argument", u.Where, u.Package, u.Name)
			}
		}
	}
	return faults
}

// checkLayers follows p's imports; those that lead through internal packages count as p's own.
func (m Module) checkLayers(p *Package, fault func(string, ...any)) {
	from, top, placed := layer(p.Path)
	if !placed {
		return
	}
	seen := map[string]bool{}
	var follow func(chain []string, at *Package)
	follow = func(chain []string, at *Package) {
		for _, next := range at.inside() {
			if seen[next] {
				continue
			}
			seen[next] = true
			path := append(slices.Clone(chain), next)
			if isInternal(next) {
				if q := m[next]; q != nil {
					follow(path, q)
				}
				continue
			}
			to, nextTop, ok := layer(next)
			switch {
			case !ok || to < from || nextTop == top:
			case to == from:
				reason := why[top]
				if reason == "" {
					reason = "folders that share a layer do not know each other"
				}
				fault("%s must not import %s (%s): %s", show(p.Path), show(next), m.route(path), reason)
			default:
				fault("%s must not import %s (%s): imports point down only, and %s lies above %s", show(p.Path), show(next),
					m.route(path), show(nextTop), show(top))
			}
		}
	}
	follow([]string{p.Path}, p)
}

// checkSupport keeps what exists for tests out of what users run.
func (m Module) checkSupport(p *Package, fault func(string, ...any)) {
	if p.support() {
		return
	}
	for _, next := range p.inside() {
		if q := m[next]; q != nil && q.support() {
			fault("%s must not import %s (%s): it exists for tests, and only tests and what exists for them may import it",
				show(p.Path), show(next), m.route([]string{p.Path, next}))
		}
	}
}

// checkPure looks at a pure package and at the internal packages that it stands on.
func (m Module) checkPure(p *Package, fault func(string, ...any)) {
	seen := map[string]bool{}
	var follow func(chain []string, at *Package)
	follow = func(chain []string, at *Package) {
		via := ""
		if len(chain) > 1 {
			via = " (" + m.route(chain) + ")"
		}
		for _, next := range slices.Sorted(maps.Keys(at.Imports)) {
			if matches(next, impure) {
				fault("%s is pure, but %s imports %q%s: databases, networks, files and processes come in as arguments",
					show(p.Path), strings.Join(at.Imports[next], ", "), next, via)
			}
		}
		for _, u := range at.Uses {
			if !u.Test && u.Package == "time" && clocks[u.Name] {
				fault("%s is pure, but %s uses time.%s%s: time comes in as an argument", show(p.Path), u.Where, u.Name, via)
			}
		}
		for _, next := range at.inside() {
			if seen[next] {
				continue
			}
			seen[next] = true
			q := m[next]
			switch {
			case q == nil || pure[next]: // judged by itself
			case isInternal(next):
				follow(append(slices.Clone(chain), next), q)
			default:
				fault("%s is pure and must not import %s (%s), which is not", show(p.Path), show(next), m.route(append(slices.Clone(chain), next)))
			}
		}
	}
	follow([]string{p.Path}, p)
}

// route shows a chain of imports with the files that hold its last arrow.
func (m Module) route(chain []string) string {
	names := make([]string, len(chain))
	for i, at := range chain {
		names[i] = show(at)
	}
	text := strings.Join(names, " -> ")
	if q := m[chain[len(chain)-2]]; q != nil {
		text += " in " + strings.Join(q.Imports[own+chain[len(chain)-1]], ", ")
	}
	return text
}

func show(path string) string {
	if path == "" {
		return "the root package"
	}
	return path
}

// file is where a use is, without its line.
func file(u Use) string {
	name, _, _ := strings.Cut(u.Where, ":")
	return name
}
