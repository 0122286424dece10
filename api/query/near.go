package query

import "fmt"

// didYouMean names the one of known that is nearest to what was written, if one is near.
func didYouMean(written string, known []string) string {
	best, least := "", 3
	for _, k := range known {
		if d := distance(written, k, least); d < least {
			best, least = k, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", best)
}

// distance is how many letters must be changed, added or taken out to make b of a; from most on it is most.
func distance(a, b string, most int) int {
	if len(a) > len(b)+most || len(b) > len(a)+most {
		return most
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return min(row[len(b)], most)
}
