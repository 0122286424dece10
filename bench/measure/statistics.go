package measure

import (
	"math"
	"slices"
	"time"
)

// Median is the middle value, or the mean of the two middle ones; NaN for none. values stay as they are.
func Median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	v := slices.Sorted(slices.Values(values))
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

// Percentile is the nearest-rank percentile: the smallest duration that at least p percent of all durations do
// not exceed. p is 0 to 100; 0 gives the smallest. It is 0 for no durations. durations stay as they are.
func Percentile(durations []time.Duration, p float64) time.Duration {
	if len(durations) == 0 {
		return 0
	}
	d := slices.Sorted(slices.Values(durations))
	rank := int(math.Ceil(p / 100 * float64(len(d))))
	return d[min(max(rank, 1), len(d))-1]
}

// Milliseconds is d in milliseconds, to the microsecond.
func Milliseconds(d time.Duration) float64 { return float64(d.Round(time.Microsecond)) / 1e6 }

// Round is v to three significant digits after the point at most: what a result line shows.
func Round(v float64) float64 { return math.Round(v*1000) / 1000 }

// Rounds runs f n times and gives, for every name in f's answers, the median over the rounds that have it.
func Rounds(n int, f func(round int) (map[string]float64, error)) (map[string]float64, error) {
	all := make(map[string][]float64)
	for i := range n {
		got, err := f(i)
		if err != nil {
			return nil, err
		}
		for k, v := range got {
			all[k] = append(all[k], v)
		}
	}
	medians := make(map[string]float64, len(all))
	for k, v := range all {
		medians[k] = Median(v)
	}
	return medians, nil
}
