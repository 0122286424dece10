package shard

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// String returns the set as PostgreSQL writes an int4multirange: "{[0,5),[7,9)}", and "{}" for none.
func (s Set) String() string { return string(s.appendText(nil)) }

// appendText appends what String returns to b.
func (s Set) appendText(b []byte) []byte {
	b = append(b, '{')
	for i := range s.NumRanges() {
		if i > 0 {
			b = append(b, ',')
		}
		r := s.At(i)
		b = append(b, '[')
		b = strconv.AppendInt(b, int64(r.Lo), 10)
		b = append(b, ',')
		b = strconv.AppendInt(b, int64(r.Hi), 10)
		b = append(b, ')')
	}
	return append(b, '}')
}

// AppendText appends the set, as String writes it, to b. The error is always nil.
func (s Set) AppendText(b []byte) ([]byte, error) { return s.appendText(b), nil }

// MarshalText returns the set as String writes it. The error is always nil.
func (s Set) MarshalText() ([]byte, error) { return s.appendText(nil), nil }

// UnmarshalText reads what ParseSet reads.
func (s *Set) UnmarshalText(text []byte) error {
	set, err := ParseSet(string(text))
	if err != nil {
		return err
	}
	*s = set
	return nil
}

// ParseSet reads the text of a PostgreSQL int4multirange. Beside the form that PostgreSQL writes it takes
// what PostgreSQL takes: blanks, either kind of bound, "empty", ranges that overlap or are out of order.
// Ranges without a bound are refused: a set of shards is finite.
func ParseSet(text string) (Set, error) {
	bad := func(format string, args ...any) (Set, error) {
		return Set{}, fmt.Errorf("set of indices %q: %s", shorten(text), fmt.Sprintf(format, args...))
	}
	body := strings.TrimSpace(text)
	if len(body) < 2 || body[0] != '{' || body[len(body)-1] != '}' {
		return bad("write it in braces, such as {[0,5),[7,9)}")
	}
	body = strings.TrimSpace(body[1 : len(body)-1])
	var ranges []Range
	for body != "" {
		if len(ranges) > 0 || strings.HasPrefix(body, ",") {
			rest, ok := strings.CutPrefix(body, ",")
			if !ok || len(ranges) == 0 {
				return bad("ranges are parted by one comma")
			}
			if body = strings.TrimLeft(rest, " "); body == "" {
				return bad("no range follows the last comma")
			}
		}
		if rest, ok := strings.CutPrefix(body, "empty"); ok {
			ranges, body = append(ranges, Range{}), strings.TrimLeft(rest, " ")
			continue
		}
		end := strings.IndexAny(body, ")]")
		if end < 0 || body[0] != '[' && body[0] != '(' {
			return bad("a range is written as [lo,hi)")
		}
		r, err := parseRange(body[:end+1])
		if err != nil {
			return bad("%v", err)
		}
		ranges = append(ranges, r)
		body = strings.TrimLeft(body[end+1:], " ")
	}
	return OfRanges(ranges...), nil
}

// parseRange reads one range with its brackets.
func parseRange(s string) (Range, error) {
	low, high, ok := strings.Cut(s[1:len(s)-1], ",")
	if !ok {
		return Range{}, fmt.Errorf("range %q has no comma: write [lo,hi)", shorten(s))
	}
	lo, err := parseBound(low)
	if err != nil {
		return Range{}, err
	}
	hi, err := parseBound(high)
	if err != nil {
		return Range{}, err
	}
	if lo > hi {
		return Range{}, fmt.Errorf("range %q ends before it starts", s)
	}
	if s[0] == '(' {
		lo++
	}
	if s[len(s)-1] == ']' {
		hi++
	}
	if lo > math.MaxInt32 || hi > math.MaxInt32 {
		return Range{}, fmt.Errorf("range %q goes beyond the greatest index, %d", s, math.MaxInt32-1)
	}
	return Range{int32(lo), int32(hi)}, nil
}

func parseBound(s string) (int64, error) {
	s = strings.TrimSpace(s)
	if s == "" {
		return 0, fmt.Errorf("a range has no bound: a set of indices is finite")
	}
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil {
		return 0, fmt.Errorf("bound %q is no 32-bit integer", shorten(s))
	}
	return n, nil
}

// shorten keeps a value from outside at a length that suits an error.
func shorten(s string) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	return s[:most] + "..."
}
