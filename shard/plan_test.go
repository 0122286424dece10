package shard_test

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"axflow/shard"
	"axflow/stage"
)

// total returns how many shards a plan has.
func total(t interface{ Fatal(...any) }, p shard.Plan) int {
	l, err := p.Layout(shard.MaxShards)
	if err != nil {
		t.Fatal(err)
	}
	return l.Total
}

func at(t interface{ Fatal(...any) }, p shard.Plan, i int) shard.Shard {
	s, err := p.Shard(i)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestNumberOfShards(t *testing.T) {
	for name, tc := range map[string]struct {
		plan shard.Plan
		want int
	}{
		"zero plan":                         {shard.Plan{}, 0},
		"count of nothing":                  {shard.Count(0), 0},
		"count of nothing, at least 3":      {shard.Count(0).Base(10).Between(3, 9), 0},
		"one an item":                       {shard.Count(7), 7},
		"full shards":                       {shard.Count(100).Base(50), 2},
		"one item over":                     {shard.Count(101).Base(50), 3},
		"less than one shard":               {shard.Count(1).Base(50_000).Between(1, 512), 1},
		"10 million rows":                   {shard.Count(10_000_000).Base(50_000).Between(1, 512), 200},
		"capped":                            {shard.Count(1_000_000_000).Base(50_000).Between(1, 512), 512},
		"raised":                            {shard.Count(10).Base(50_000).Between(8, 512), 8},
		"raised above the items":            {shard.Count(3).Between(8, 0), 8},
		"largest volume":                    {shard.Count(math.MaxInt64).Base(math.MaxInt64), 1},
		"largest volume, capped":            {shard.Count(math.MaxInt64).Between(0, 1_000_000), 1_000_000},
		"a million":                         {shard.Count(1_000_000), 1_000_000},
		"n":                                 {shard.N(12), 12},
		"n of 0":                            {shard.N(0), 0},
		"n of a million":                    {shard.N(1_000_000), 1_000_000},
		"hash":                              {shard.Hash(64), 64},
		"no integers":                       {shard.IntRange(5, 5), 0},
		"integers":                          {shard.IntRange(-5, 5).Base(3), 4},
		"integers, never more shards":       {shard.IntRange(0, 3).Between(8, 0), 3},
		"all integers":                      {shard.IntRange(math.MinInt64, math.MaxInt64).Between(1, 512), 512},
		"all integers, in the largest base": {shard.IntRange(math.MinInt64, math.MaxInt64).Base(math.MaxInt64), 3},
		"no keys":                           {shard.Keys(nil), 0},
		"keys":                              {shard.Keys([]string{"de", "fr"}), 2},
		"no items":                          {shard.List[int](nil), 0},
		"items":                             {shard.List([]int{1, 2, 3}), 3},
	} {
		if got := total(t, tc.plan); got != tc.want {
			t.Errorf("%s: %d shards, want %d", name, got, tc.want)
		}
	}
}

func TestTooManyShards(t *testing.T) {
	for want, p := range map[string]shard.Plan{
		"the plan has 1000001 shards, at most 1000000 are allowed: raise Base, or bound the number with Between":              shard.Count(1_000_001),
		"the plan has 1000002 shards, at most 1000000 are allowed: raise Base, or bound the number with Between":              shard.Count(1).Between(1_000_002, 0),
		"the plan has 18446744073709551615 shards, at most 1000000 are allowed: raise Base, or bound the number with Between": shard.IntRange(math.MinInt64, math.MaxInt64),
		"the plan has 1000003 shards, at most 1000000 are allowed: ask for fewer":                                             shard.N(1_000_003),
		"the plan has 1000004 shards, at most 1000000 are allowed: ask for fewer ":                                            shard.Hash(1_000_004),
	} {
		_, err := p.Layout(shard.MaxShards)
		if err == nil || err.Error() != strings.TrimSpace(want) {
			t.Errorf("the error is %v, want %s", err, want)
		}
		if stage.CodeOf(err) != "too_many_shards" || !stage.IsPermanent(err) {
			t.Errorf("the code of %v is %q", err, stage.CodeOf(err))
		}
	}
	_, err := shard.N(11).Layout(10)
	many, ok := errors.AsType[*shard.TooManyError](err)
	if !ok || many.Shards != 11 || many.Limit != 10 {
		t.Errorf("the error is %#v, want 11 shards over a limit of 10", err)
	}
	_, err = shard.List([]int{1, 2, 3}).Layout(2)
	if want := "the plan has 3 shards, at most 2 are allowed: give each shard more than one item"; err == nil || err.Error() != want {
		t.Errorf("the error is %v, want %s", err, want)
	}
	if l, err := shard.N(10).Layout(10); err != nil || l.Total != 10 {
		t.Errorf("10 shards under a limit of 10: %v", err)
	}
}

func TestBadPlans(t *testing.T) {
	for want, p := range map[string]shard.Plan{
		"Count: the volume is -1: give 0 or more":                                                      shard.Count(-1),
		"N: -1 shards are asked for: give 0 or more":                                                   shard.N(-1),
		"Hash: -1 buckets are asked for: give 0 or more":                                               shard.Hash(-1),
		"IntRange: the range [5, 4) ends before it starts: swap its bounds":                            shard.IntRange(5, 4).Base(2),
		"Base is 0 items a shard: give 1 or more":                                                      shard.Count(5).Base(0),
		"Base goes with Count and IntRange, not with a plan whose number of shards is given":           shard.N(5).Base(2),
		"Between goes with Count and IntRange, not with a plan whose number of shards is given":        shard.Keys([]string{"a"}).Between(1, 2),
		"Between is given -1 and 3: give 0 or more":                                                    shard.Count(5).Between(-1, 3),
		"Between is given 4 and 3: give the lesser number first":                                       shard.Count(5).Between(4, 3),
		`Keys: keys 0 and 2 are both "a": name each key once`:                                          shard.Keys([]string{"a", "b", "a"}),
		"Keys: key 1 is empty: give 1 to 500 bytes":                                                    shard.Keys([]string{"a", ""}),
		`Keys: key 0: "\xff" is not UTF-8: encode it`:                                                  shard.Keys([]string{"\xff"}),
		"Keys: key 0: it has a NUL character, which PostgreSQL cannot store: remove it":                shard.Keys([]string{"a\x00b"}),
		"List: encoding item 0: json: unsupported type: func()":                                        shard.List([]func(){nil}),
		"List: 2 key functions are given: give one at most":                                            shard.List([]int{1}, nil, nil),
		"List: the key of item 0: it has a NUL character, which PostgreSQL cannot store: remove it":    shard.List([]int{1}, func(int) string { return "\x00" }),
		`Keys: key 0: "` + strings.Repeat("k", 60) + `..." is 501 bytes long, at most 500 are allowed`: shard.Keys([]string{strings.Repeat("k", 501)}),
	} {
		_, err := p.Layout(shard.MaxShards)
		if err == nil || !strings.HasPrefix(err.Error(), want) || !stage.IsPermanent(err) {
			t.Errorf("the error is %v, want, permanently, %s", err, want)
		}
		if p.Err() == nil {
			t.Errorf("Err is nil, want %s", want)
		}
		if _, err := p.Shard(0); err == nil {
			t.Errorf("there is a shard of a bad plan, which is %s", want)
		}
	}
}

func TestShardOfPlan(t *testing.T) {
	if _, err := shard.N(3).Shard(3); err == nil || err.Error() != "the plan has no shard 3: it has 3, counted from 0" {
		t.Errorf("the error is %v", err)
	}
	if s := at(t, shard.N(3), 2); s.Index != 2 || s.Total != 3 || s.Key != "" {
		t.Errorf("the shard is %+v", s)
	}
}

// bound is where part i of n of [lo, hi) starts, in numbers without limits.
func bound(lo, hi int64, i, n int) int64 {
	width := new(big.Int).Sub(big.NewInt(hi), big.NewInt(lo))
	width.Mul(width, big.NewInt(int64(i))).Div(width, big.NewInt(int64(n)))
	return width.Add(width, big.NewInt(lo)).Int64()
}

func TestRangeCoversTheWholeOnce(t *testing.T) {
	ends := rapid.OneOf(rapid.Int64(), rapid.SampledFrom([]int64{math.MinInt64, math.MinInt64 + 1, -1, 0, 1, math.MaxInt64 - 1, math.MaxInt64}))
	rapid.Check(t, func(t *rapid.T) {
		lo, hi := ends.Draw(t, "lo"), ends.Draw(t, "hi")
		if lo > hi {
			lo, hi = hi, lo
		}
		n := rapid.IntRange(1, shard.MaxShards).Draw(t, "total")
		first, _ := shard.Shard{Index: 0, Total: n}.Range(lo, hi)
		_, last := shard.Shard{Index: n - 1, Total: n}.Range(lo, hi)
		if first != lo || last != hi {
			t.Fatalf("the shards cover [%d, %d)", first, last)
		}
		for range 20 {
			i := rapid.IntRange(0, n-1).Draw(t, "index")
			from, to := shard.Shard{Index: i, Total: n}.Range(lo, hi)
			if from != bound(lo, hi, i, n) || to != bound(lo, hi, i+1, n) {
				t.Fatalf("shard %d of %d is [%d, %d), want [%d, %d)", i, n, from, to, bound(lo, hi, i, n), bound(lo, hi, i+1, n))
			}
			size, even := uint64(to)-uint64(from), (uint64(hi)-uint64(lo))/uint64(n)
			if size != even && size != even+1 {
				t.Fatalf("shard %d of %d has %d numbers, an even part is %d", i, n, size, even)
			}
		}
	})
}

func TestRangeEdges(t *testing.T) {
	for _, tc := range []struct {
		s      shard.Shard
		lo, hi int64
		a, b   int64
	}{
		{shard.Shard{Index: 0, Total: 1}, 0, 10, 0, 10},
		{shard.Shard{Index: 1, Total: 3}, 0, 10, 3, 6},
		{shard.Shard{Index: 2, Total: 3}, 0, 10, 6, 10},
		{shard.Shard{Index: 0, Total: 4}, 0, 2, 0, 0}, // fewer numbers than shards
		{shard.Shard{Index: 1, Total: 4}, 0, 2, 0, 1},
		{shard.Shard{Index: 1, Total: 4}, 7, 7, 7, 7},
		{shard.Shard{Index: 1, Total: 4}, 7, 3, 7, 7},
		{shard.Shard{}, 7, 9, 7, 7},
	} {
		if a, b := tc.s.Range(tc.lo, tc.hi); a != tc.a || b != tc.b {
			t.Errorf("shard %d of %d of [%d, %d) is [%d, %d), want [%d, %d)", tc.s.Index, tc.s.Total, tc.lo, tc.hi, a, b, tc.a, tc.b)
		}
	}
}

func TestIntsCoverTheWholeOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lo := rapid.Int64Range(-1000, 1000).Draw(t, "lo")
		volume := rapid.Int64Range(0, 400).Draw(t, "volume")
		base := rapid.Int64Range(1, 50).Draw(t, "base")
		p := shard.IntRange(lo, lo+volume).Base(base)
		if rapid.Bool().Draw(t, "count") {
			lo, p = 0, shard.Count(volume).Base(base)
		}
		next := lo
		for i := range total(t, p) {
			from, to := at(t, p, i).Ints()
			if from != next || to <= from || to-from > base {
				t.Fatalf("shard %d is [%d, %d) after %d, with a base of %d", i, from, to, next, base)
			}
			next = to
		}
		if next != lo+volume {
			t.Fatalf("the shards end at %d, want %d", next, lo+volume)
		}
	})
}

func TestEveryKeyHasOneBucket(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.String().Draw(t, "key")
		n := rapid.IntRange(1, 50).Draw(t, "n")
		owners := 0
		for i := range n {
			if at(t, shard.Hash(n), i).Bucket(key) {
				owners++
			}
		}
		if owners != 1 {
			t.Fatalf("%d shards own key %q", owners, key)
		}
	})
	if (shard.Shard{}).Bucket("x") {
		t.Error("a shard of nothing owns a key")
	}
}

// FNV-1a's published vectors, modulo the number of buckets.
func TestBucketOfIsFNV1a(t *testing.T) {
	for key, hash := range map[string]uint64{"": 0xcbf29ce484222325, "a": 0xaf63dc4c8601ec8c, "foobar": 0x85944171f73967e8} {
		for _, n := range []int{1, 2, 7, 1000} {
			if got, want := shard.BucketOf(key, n), int(hash%uint64(n)); got != want {
				t.Errorf("%q is in bucket %d of %d, want %d", key, got, n, want)
			}
		}
	}
	counts := make([]int, 16)
	for i := range 16_000 {
		counts[shard.BucketOf("customer-"+big.NewInt(int64(i)).String(), 16)]++
	}
	for i, n := range counts {
		if n < 850 || n > 1150 { // a thousand expected, about 31 of standard deviation
			t.Errorf("bucket %d has %d of 16,000 keys", i, n)
		}
	}
}

func TestKeysAndList(t *testing.T) {
	type file struct {
		Name string `json:"name"`
		Size int    `json:"size"`
	}
	keys := shard.Keys([]string{"de", "fr", "it"})
	for i, want := range []string{"de", "fr", "it"} {
		s := at(t, keys, i)
		if s.Key != want {
			t.Errorf("key %d is %q, want %q", i, s.Key, want)
		}
		if _, err := shard.Input[file](s); err == nil || !strings.Contains(err.Error(), "has no input: only plans made by List have") {
			t.Errorf("the input of a key: %v", err)
		}
	}
	files := []file{{"a", 1}, {"b", 2}, {"a", 3}}
	list := shard.List(files, func(f file) string { return f.Name })
	for i, want := range files {
		s := at(t, list, i)
		got, err := shard.Input[file](s)
		if err != nil || got != want || s.Key != want.Name {
			t.Errorf("item %d is %+v of key %q, %v; want %+v", i, got, s.Key, err, want)
		}
	}
	if s := at(t, shard.List(files), 1); s.Key != "" {
		t.Errorf("without a key function the key is %q", s.Key)
	}
	if _, err := shard.Input[int](at(t, list, 1)); err == nil || !strings.HasPrefix(err.Error(), "reading the input of shard 1 of 3 as a int: ") {
		t.Errorf("the input as another type: %v", err)
	}
	if lo, hi := at(t, list, 1).Ints(); lo != 0 || hi != 0 {
		t.Errorf("a list has the integers [%d, %d)", lo, hi)
	}
	if from, to := at(t, list, 1).Times(); !from.IsZero() || !to.IsZero() {
		t.Errorf("a list has the times from %v to %v", from, to)
	}
}
