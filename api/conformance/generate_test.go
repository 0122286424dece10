package conformance

import (
	"encoding/base64"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/uuid"
)

// generator draws values that fit a schema. Names of fields and parameters have pools of values that exist, so that requests reach
// beyond "there is no such thing".
type generator struct {
	*rand.Rand
	pools map[string][]any
}

// odd are strings that parsers stumble over, without what no server can take (NUL, invalid UTF-8).
var odd = []string{"", " ", "0", "-1", "null", "true", "日本語", "a/b", "../..", "%00", "%2e", "' OR 1=1 --", "\"", "\\", "{}", "\u202e", "\U0001F600", "a\nb", "1e999", "0-99,117",
	"flow:sums", "state:failed since:24h", "param.x:1", "P9", "ax_"}

// value draws a value for the schema; name is the field's or parameter's.
func (g *generator) value(name string, s *openapi3.Schema, depth int) any {
	if pool := g.pools[name]; len(pool) > 0 && g.IntN(4) > 0 {
		return pool[g.IntN(len(pool))]
	}
	if len(s.Enum) > 0 {
		return s.Enum[g.IntN(len(s.Enum))]
	}
	switch {
	case s.Type == nil:
		return g.anything(3 - depth)
	case s.Type.Is("string"):
		return g.text(s)
	case s.Type.Is("integer"):
		lo, hi := bounds(s, -1000, 1000)
		return int64(lo) + g.Int64N(int64(hi)-int64(lo)+1)
	case s.Type.Is("number"):
		lo, hi := bounds(s, -1000, 1000)
		return lo + g.Float64()*(hi-lo)
	case s.Type.Is("boolean"):
		return g.IntN(2) == 0
	case s.Type.Is("array"):
		return g.list(name, s, depth)
	default:
		return g.object(s, depth)
	}
}

func bounds(s *openapi3.Schema, lo, hi float64) (float64, float64) {
	if s.Min != nil {
		lo = *s.Min
		hi = max(hi, lo)
	}
	if s.Max != nil {
		hi = *s.Max
		lo = min(lo, hi)
	}
	return lo, hi
}

func (g *generator) text(s *openapi3.Schema) any {
	switch s.Format {
	case "uuid":
		id, _ := uuid.NewRandomFromReader(reader{g})
		return id.String()
	case "date-time":
		return time.Unix(1.7e9+g.Int64N(1e8), 0).UTC().Format(time.RFC3339)
	case "byte":
		return base64.StdEncoding.EncodeToString([]byte("data"))
	}
	text := odd[g.IntN(len(odd))]
	switch g.IntN(3) {
	case 0:
		text = fmt.Sprintf("name-%d", g.IntN(1000))
	case 1:
		text = strings.Repeat(text+"x", 1+g.IntN(20))
	}
	for uint64(len([]rune(text))) < s.MinLength {
		text += "m"
	}
	if s.MaxLength != nil {
		if r := []rune(text); uint64(len(r)) > *s.MaxLength {
			text = string(r[:*s.MaxLength])
		}
	}
	return text
}

func (g *generator) list(name string, s *openapi3.Schema, depth int) any {
	n := int(s.MinItems) + g.IntN(3)
	if s.MaxItems != nil {
		n = min(n, int(*s.MaxItems))
	}
	list := []any{}
	seen := map[string]bool{}
	for range n * 4 {
		if len(list) == n {
			break
		}
		v := g.value(strings.TrimSuffix(name, "s"), s.Items.Value, depth+1)
		if s.UniqueItems && seen[fmt.Sprint(v)] {
			continue
		}
		seen[fmt.Sprint(v)] = true
		list = append(list, v)
	}
	return list
}

func (g *generator) object(s *openapi3.Schema, depth int) any {
	o := map[string]any{}
	for _, name := range sorted(s.Properties) {
		needed := false
		for _, r := range s.Required {
			needed = needed || r == name
		}
		if needed || g.IntN(3) == 0 {
			o[name] = g.value(name, s.Properties[name].Value, depth+1)
		}
	}
	if extra := s.AdditionalProperties.Schema; extra != nil {
		for range g.IntN(3) {
			o[fmt.Sprintf("k%d", g.IntN(9))] = g.value("", extra.Value, depth+1)
		}
	}
	return o
}

// anything draws any JSON value.
func (g *generator) anything(depth int) any {
	switch n := g.IntN(8); {
	case n == 0:
		return nil
	case n == 1:
		return g.IntN(2) == 0
	case n == 2:
		return math.Trunc(g.Float64() * 1e6)
	case n == 3:
		return odd[g.IntN(len(odd))]
	case n == 4 && depth > 0:
		return []any{g.anything(depth - 1), g.anything(depth - 1)}
	case n >= 5 && depth > 0:
		return map[string]any{"rows": g.IntN(30), "x": g.anything(depth - 1)}
	default:
		return "v"
	}
}

// reader makes the generator a source of bytes.
type reader struct{ g *generator }

func (r reader) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(r.g.IntN(256))
	}
	return len(b), nil
}
