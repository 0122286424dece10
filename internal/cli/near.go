package cli

import (
	"fmt"
	"slices"
	"strings"
)

// maxListed is how many names one error holds.
const maxListed = 20

// listed writes names for people.
func listed(names []string) string {
	if len(names) > maxListed {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxListed], ", "), len(names)-maxListed)
	}
	return strings.Join(names, ", ")
}

// didYouMean is "; did you mean x?" where a name is like one of those there are, else "".
func didYouMean(name string, names []string) string {
	if near := nearest(name, names); near != "" {
		return "; did you mean " + near + "?"
	}
	return ""
}

// meant is "did you mean x? " where a name is like one of those there are, else "".
func meant(name string, names []string) string {
	if near := nearest(name, names); near != "" {
		return "did you mean " + near + "? "
	}
	return ""
}

// nearest is the name that is most like another, if it is like it: a third of the letters may differ, or it begins with it.
func nearest(name string, names []string) string {
	best, least := "", len(name)/3+1
	for _, n := range slices.Sorted(slices.Values(names)) {
		if d := distance(strings.ToLower(name), strings.ToLower(n)); d <= least && (best == "" || d < least) {
			best, least = n, d
		}
	}
	if best != "" || len(name) < 3 {
		return best
	}
	for _, n := range names {
		if strings.HasPrefix(n, name) || strings.Contains(n, name) {
			return n
		}
	}
	return ""
}

// distance is how many letters have to be changed, added or taken away to make one text of the other.
func distance(a, b string) int {
	from, to := []rune(a), []rune(b)
	row := make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	for i, x := range from {
		diagonal := row[0]
		row[0] = i + 1
		for j, y := range to {
			cost := diagonal
			if x != y {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(to)]
}
