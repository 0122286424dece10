package shard

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"axflow/stage"
)

// MaxShards is the greatest number of shards of one stage.
const MaxShards = 1_000_000

// MaxKeyLen is the greatest length of a shard's key, in bytes.
const MaxKeyLen = 500

// Plan says how a stage's work is divided. Make one with Count, N, Keys, List, IntRange, Hash or TimeRange.
// What is wrong with it is told when the plan ends, and fails the stage without a retry. The zero Plan has
// no shards. A plan of nothing has no shards, and then the stage succeeds with nothing done.
type Plan struct {
	cut    stage.Cut
	volume uint64 // items, where the number of shards is computed
	shards int    // where it is given
	sized  bool   // shards follow from volume, base, min, max
	base   int64
	min    int
	max    int // 0: none
	items  []stage.Item
	grid   *grid
	err    error
}

// Count plans for a volume of items, such as rows or bytes: one shard for each Base items (1 unless said),
// within Between. Each shard takes its part with Shard.Range, of whatever the volume was counted in.
func Count(volume int64) Plan {
	p := Plan{cut: stage.Cut{Kind: stage.CutCount, Hi: volume}, sized: true, base: 1}
	if volume < 0 {
		return p.fail("Count: the volume is %d: give 0 or more", volume)
	}
	p.volume = uint64(volume)
	return p
}

// N plans n shards. None of them has data of its own but its index.
func N(n int) Plan {
	p := Plan{cut: stage.Cut{Kind: stage.CutCount, Hi: int64(n)}, shards: n}
	if n < 0 {
		return p.fail("N: %d shards are asked for: give 0 or more", n)
	}
	return p
}

// IntRange plans for the integers [lo, hi), such as an id range: one shard for each Base integers (1 unless
// said), within Between. Shard.Ints gives each shard its part.
func IntRange(lo, hi int64) Plan {
	p := Plan{cut: stage.Cut{Kind: stage.CutInts, Lo: lo, Hi: hi}, sized: true, base: 1}
	if hi < lo {
		return p.fail("IntRange: the range [%d, %d) ends before it starts: swap its bounds", lo, hi)
	}
	p.volume = uint64(hi) - uint64(lo)
	return p
}

// Hash plans n shards among which keys are divided by their hash. Shard.Bucket tells a shard its keys.
func Hash(n int) Plan {
	p := Plan{cut: stage.Cut{Kind: stage.CutHash, Hi: int64(n)}, shards: n}
	if n < 0 {
		return p.fail("Hash: %d buckets are asked for: give 0 or more", n)
	}
	return p
}

// Keys plans one shard a key, in the given order; Shard.Key is the key. Keys are stored with the plan. They
// must differ, and be 1 to MaxKeyLen bytes of UTF-8.
func Keys(keys []string) Plan {
	p := Plan{cut: stage.Cut{Kind: stage.CutKeys}, shards: len(keys), items: make([]stage.Item, len(keys))}
	first := make(map[string]int, len(keys))
	for i, k := range keys {
		if j, twice := first[k]; twice {
			return p.fail("Keys: keys %d and %d are both %q: name each key once", j, i, shorten(k))
		}
		first[k] = i
		if k == "" {
			return p.fail("Keys: key %d is empty: give 1 to %d bytes", i, MaxKeyLen)
		}
		if err := checkKey(k); err != nil {
			return p.fail("Keys: key %d: %w", i, err)
		}
		p.items[i].Key = k
	}
	return p
}

// List plans one shard an item, in the given order; Input reads the item back. Items are stored with the
// plan as JSON. With a key function, Shard.Key is the item's key; items may share a key.
func List[T any](items []T, key ...func(T) string) Plan {
	p := Plan{cut: stage.Cut{Kind: stage.CutList}, shards: len(items), items: make([]stage.Item, len(items))}
	if len(key) > 1 {
		return p.fail("List: %d key functions are given: give one at most", len(key))
	}
	for i, item := range items {
		input, err := json.Marshal(item)
		if err != nil {
			return p.fail("List: encoding item %d: %w", i, err)
		}
		p.items[i].Input = input
		if len(key) == 0 || key[0] == nil {
			continue
		}
		k := key[0](item)
		if err := checkKey(k); err != nil {
			return p.fail("List: the key of item %d: %w", i, err)
		}
		p.items[i].Key = k
	}
	return p
}

// Base sets how many items make one shard; the last shard may have fewer. It goes with Count and IntRange.
func (p Plan) Base(items int64) Plan {
	switch {
	case p.err != nil:
		return p
	case !p.sized:
		return p.fail("Base goes with Count and IntRange, not with a plan whose number of shards is given")
	case items < 1:
		return p.fail("Base is %d items a shard: give 1 or more", items)
	}
	p.base = items
	return p
}

// Between bounds the number of shards: at least least, and at most most, which wins over Base; a most of 0
// is no bound. There are no shards for no items whatever least says, and an IntRange has never more shards
// than integers. It goes with Count and IntRange.
func (p Plan) Between(least, most int) Plan {
	switch {
	case p.err != nil:
		return p
	case !p.sized:
		return p.fail("Between goes with Count and IntRange, not with a plan whose number of shards is given")
	case least < 0 || most < 0:
		return p.fail("Between is given %d and %d: give 0 or more", least, most)
	case most > 0 && least > most:
		return p.fail("Between is given %d and %d: give the lesser number first", least, most)
	}
	p.min, p.max = least, most
	return p
}

// Err returns what is wrong with the plan so far, apart from its size.
func (p Plan) Err() error { return p.err }

// Layout returns the plan in the form that is frozen and stored, or what is wrong with it. A plan of more
// than maxShards shards is refused; none is legal.
func (p Plan) Layout(maxShards int) (stage.Layout, error) {
	if p.err != nil {
		return stage.Layout{}, p.err
	}
	total := p.total(maxShards)
	if total > uint64(max(maxShards, 0)) {
		return stage.Layout{}, stage.Permanent(&TooManyError{Shards: total, Limit: maxShards, wayOut: p.wayOut()})
	}
	l := stage.Layout{Total: int(total), Cut: p.cut}
	if len(p.items) > 0 {
		l.Items = p.items
	}
	return l, nil
}

// Shard returns shard i of the plan, for tests of handlers.
func (p Plan) Shard(i int) (Shard, error) {
	l, err := p.Layout(MaxShards)
	if err != nil {
		return Shard{}, err
	}
	if i < 0 || i >= l.Total {
		return Shard{}, fmt.Errorf("the plan has no shard %d: it has %d, counted from 0", i, l.Total)
	}
	c := stage.Call{Index: i, Total: l.Total, Cut: &l.Cut}
	if l.Items != nil {
		c.Item = l.Items[i]
	}
	return FromCall(c), nil
}

func (p Plan) total(maxShards int) uint64 {
	switch {
	case p.grid != nil:
		return p.grid.count(maxShards)
	case !p.sized:
		return uint64(p.shards)
	case p.volume == 0:
		return 0
	}
	n := (p.volume-1)/uint64(p.base) + 1
	n = max(n, uint64(p.min))
	if p.max > 0 {
		n = min(n, uint64(p.max))
	}
	if p.cut.Kind == stage.CutInts {
		n = min(n, p.volume)
	}
	return n
}

func (p Plan) wayOut() string {
	switch {
	case p.grid != nil:
		return "use a longer step, or a shorter time"
	case p.sized:
		return "raise Base, or bound the number with Between"
	case p.items != nil:
		return "give each shard more than one item"
	default:
		return "ask for fewer"
	}
}

func (p Plan) fail(format string, args ...any) Plan {
	p.err = stage.Permanent(fmt.Errorf(format, args...))
	return p
}

// TooManyError says that a plan has more shards than allowed. Its code is "too_many_shards".
type TooManyError struct {
	Shards uint64
	Limit  int
	wayOut string
}

// Error names the number, the limit and the way out.
func (e *TooManyError) Error() string {
	return fmt.Sprintf("the plan has %d shards, at most %d are allowed: %s", e.Shards, e.Limit, e.wayOut)
}

// Code returns "too_many_shards".
func (e *TooManyError) Code() string { return "too_many_shards" }

func checkKey(k string) error {
	switch {
	case len(k) > MaxKeyLen:
		return fmt.Errorf("%q is %d bytes long, at most %d are allowed: use a shorter key, or List with the long value as input", shorten(k), len(k), MaxKeyLen)
	case !utf8.ValidString(k):
		return fmt.Errorf("%q is not UTF-8: encode it", shorten(k))
	case strings.ContainsRune(k, 0):
		return errors.New("it has a NUL character, which PostgreSQL cannot store: remove it")
	}
	return nil
}
