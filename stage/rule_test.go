package stage_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"axflow/stage"
)

// page is a second reading of the page of trigger rules, written from its table alone: the final decision of
// each rule for n >= 1 decided upstreams.
var page = map[stage.Rule]func(n, s, f, u, k int) stage.Verdict{
	"all_success": func(n, s, f, u, k int) stage.Verdict {
		if s == n {
			return stage.Run
		}
		if f+u > 0 {
			return stage.UpstreamFailed
		}
		return stage.Skip
	},
	"all_failed":  runIf(func(n, s, f, u, k int) bool { return f+u == n }),
	"all_done":    runIf(func(n, s, f, u, k int) bool { return true }),
	"all_skipped": runIf(func(n, s, f, u, k int) bool { return k == n }),
	"one_success": func(n, s, f, u, k int) stage.Verdict {
		if s > 0 {
			return stage.Run
		}
		if k == n {
			return stage.Skip
		}
		return stage.UpstreamFailed
	},
	"one_failed": runIf(func(n, s, f, u, k int) bool { return f+u > 0 }),
	"one_done":   runIf(func(n, s, f, u, k int) bool { return s+f > 0 }),
	"none_failed": func(n, s, f, u, k int) stage.Verdict {
		if f+u == 0 {
			return stage.Run
		}
		return stage.UpstreamFailed
	},
	"none_failed_min_one_success": func(n, s, f, u, k int) stage.Verdict {
		if f+u > 0 {
			return stage.UpstreamFailed
		}
		if s > 0 {
			return stage.Run
		}
		return stage.Skip
	},
	"none_skipped": runIf(func(n, s, f, u, k int) bool { return k == 0 }),
	"all_done_min_one_success": func(n, s, f, u, k int) stage.Verdict {
		if k > 0 {
			return stage.Skip
		}
		if s > 0 {
			return stage.Run
		}
		return stage.UpstreamFailed
	},
	"always": runIf(func(n, s, f, u, k int) bool { return true }),
}

func runIf(holds func(n, s, f, u, k int) bool) func(n, s, f, u, k int) stage.Verdict {
	return func(n, s, f, u, k int) stage.Verdict {
		if holds(n, s, f, u, k) {
			return stage.Run
		}
		return stage.Skip
	}
}

// readPage is what the page says for any counts, by trying every way in which the undecided could end.
func readPage(r stage.Rule, c stage.Counts) stage.Verdict {
	open := c.N - c.S - c.F - c.U - c.K
	if c.N == 0 || r == "always" {
		return stage.Run
	}
	if r == "all_done" && open > 0 {
		return stage.Wait
	}
	ends := map[stage.Verdict]bool{}
	for s := 0; s <= open; s++ {
		for f := 0; f <= open-s; f++ {
			for u := 0; u <= open-s-f; u++ {
				k := open - s - f - u
				ends[page[r](c.N, c.S+s, c.F+f, c.U+u, c.K+k)] = true
			}
		}
	}
	if len(ends) == 1 {
		for v := range ends {
			return v
		}
	}
	return stage.Wait
}

func TestRulesAreThePages(t *testing.T) {
	if got := len(stage.Rules()); got != 12 {
		t.Fatalf("there are %d rules, the page has 12", got)
	}
	for _, r := range stage.Rules() {
		if page[r] == nil {
			t.Errorf("rule %q is not on the page", r)
		}
		if !r.Valid() {
			t.Errorf("rule %q is not valid", r)
		}
	}
	if stage.Rule("all_succes").Valid() || stage.Rule("").Valid() {
		t.Error("an unknown rule is valid")
	}
}

func TestDecideEveryCountToFour(t *testing.T) {
	checked := 0
	for _, r := range stage.Rules() {
		for n := 0; n <= 4; n++ {
			for s := 0; s <= n; s++ {
				for f := 0; f <= n-s; f++ {
					for u := 0; u <= n-s-f; u++ {
						for k := 0; k <= n-s-f-u; k++ {
							c := stage.Counts{N: n, S: s, F: f, U: u, K: k}
							if got, want := r.Decide(c), readPage(r, c); got != want {
								t.Errorf("%s of %+v is %v, the page says %v", r, c, got, want)
							}
							checked++
						}
					}
				}
			}
		}
	}
	// C(n+4, 4) counts for each n of 0..4: 1 + 5 + 15 + 35 + 70.
	if want := 12 * 126; checked != want {
		t.Errorf("%d counts were checked, there are %d", checked, want)
	}
}

func TestDecideManyUpstreams(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := stage.Counts{N: rapid.IntRange(0, 12).Draw(t, "n")}
		left := c.N
		for _, n := range []*int{&c.S, &c.F, &c.U, &c.K} {
			*n = rapid.IntRange(0, left).Draw(t, "count")
			left -= *n
		}
		r := rapid.SampledFrom(stage.Rules()).Draw(t, "rule")
		if got, want := r.Decide(c), readPage(r, c); got != want {
			t.Fatalf("%s of %+v is %v, the page says %v", r, c, got, want)
		}
	})
}

func TestDecideSpotValues(t *testing.T) {
	const (
		S = "S"
		F = "F"
		U = "U"
		K = "K"
		o = "-" // undecided
	)
	for _, tc := range []struct {
		rule stage.Rule
		ends []string
		want stage.Verdict
	}{
		// The page's own.
		{stage.AllSuccess, []string{S, K}, stage.Skip},
		{stage.AllSuccess, []string{F, K}, stage.UpstreamFailed},
		{stage.OneSuccess, []string{F, K}, stage.UpstreamFailed},
		{stage.OneFailed, []string{U, U}, stage.Run},
		{stage.OneDone, []string{U, U}, stage.Skip},
		{stage.NoneSkipped, []string{U, U}, stage.Run},
		{stage.AllDoneMinOneSuccess, []string{S, K}, stage.Skip},
		{stage.AllDoneMinOneSuccess, []string{F, F}, stage.UpstreamFailed},
		{stage.NoneFailedMinOneSuccess, []string{K, K}, stage.Skip},
		// Early.
		{stage.AllSuccess, []string{F, o}, stage.UpstreamFailed},
		{stage.AllSuccess, []string{K, o}, stage.Wait}, // a failure to come would make it X
		{stage.AllSuccess, []string{S, o}, stage.Wait},
		{stage.AllFailed, []string{S, o}, stage.Skip},
		{stage.AllDone, []string{S, o}, stage.Wait},
		{stage.OneSuccess, []string{S, o, o}, stage.Run},
		{stage.OneSuccess, []string{F, o}, stage.Wait},
		{stage.OneFailed, []string{F, o}, stage.Run},
		{stage.OneDone, []string{F, o}, stage.Run},
		{stage.OneDone, []string{U, o}, stage.Wait},
		{stage.NoneFailed, []string{U, o}, stage.UpstreamFailed},
		{stage.NoneSkipped, []string{K, o}, stage.Skip},
		{stage.AllSkipped, []string{F, o}, stage.Skip},
		{stage.Always, []string{o, o}, stage.Run},
		// No upstreams, and the default.
		{stage.AllFailed, nil, stage.Run},
		{"", []string{S, S}, stage.Run},
		// Nonsense waits.
		{"no_such_rule", []string{S}, stage.Wait},
	} {
		c := stage.Counts{N: len(tc.ends)}
		for _, e := range tc.ends {
			count(&c, e)
		}
		if got := tc.rule.Decide(c); got != tc.want {
			t.Errorf("%s of %v is %v, want %v", tc.rule, tc.ends, got, tc.want)
		}
	}
	if got := stage.OneSuccess.Decide(stage.Counts{N: 1, S: 2}); got != stage.Wait {
		t.Errorf("more outcomes than upstreams give %v, want wait", got)
	}
}

func count(c *stage.Counts, end string) {
	switch end {
	case "S":
		c.S++
	case "F":
		c.F++
	case "U":
		c.U++
	case "K":
		c.K++
	}
}

// In whatever order upstreams end, the first verdict that does not wait is the final one.
func TestDecideDoesNotDependOnOrder(t *testing.T) {
	var orders [][]int
	permute([]int{0, 1, 2, 3}, 0, func(p []int) { orders = append(orders, append([]int(nil), p...)) })
	outcomes := []string{"S", "F", "U", "K"}
	for mix := range 4 * 4 * 4 * 4 {
		ends := []string{outcomes[mix%4], outcomes[mix/4%4], outcomes[mix/16%4], outcomes[mix/64]}
		for _, r := range stage.Rules() {
			decisions := map[stage.Verdict]bool{}
			for _, order := range orders {
				c := stage.Counts{N: 4}
				first := r.Decide(c)
				for _, i := range order {
					if first == stage.Wait {
						count(&c, ends[i])
						first = r.Decide(c)
					}
				}
				decisions[first] = true
			}
			if len(decisions) != 1 || decisions[stage.Wait] {
				t.Errorf("%s of %v decides %v by order", r, ends, decisions)
			}
		}
	}
}

func permute(p []int, i int, f func([]int)) {
	if i == len(p) {
		f(p)
		return
	}
	for j := i; j < len(p); j++ {
		p[i], p[j] = p[j], p[i]
		permute(p, i+1, f)
		p[i], p[j] = p[j], p[i]
	}
}

func TestDecideAllocatesNothing(t *testing.T) {
	c := stage.Counts{N: 2000, S: 1500, K: 1}
	if n := testing.AllocsPerRun(100, func() { stage.AllSuccess.Decide(c) }); n != 0 {
		t.Errorf("Decide allocates %v times", n)
	}
}

func BenchmarkDecide(b *testing.B) {
	for _, n := range []int{2, 2000} {
		b.Run(fmt.Sprintf("upstreams=%d", n), func(b *testing.B) {
			c := stage.Counts{N: n, S: n / 2}
			for b.Loop() {
				stage.AllSuccess.Decide(c)
			}
		})
	}
}
