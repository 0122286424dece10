package span

import "axflow/shard"

// indices collects indices that come in rising order, as results of a span mostly do, at the cost of a few
// ranges.
type indices struct{ ranges []shard.Range }

func (x *indices) add(i int32) {
	if n := len(x.ranges); n > 0 && x.ranges[n-1].Hi == i {
		x.ranges[n-1].Hi++
		return
	}
	x.ranges = append(x.ranges, shard.Range{Lo: i, Hi: i + 1})
}

func (x *indices) set() shard.Set { return shard.OfRanges(x.ranges...) }
