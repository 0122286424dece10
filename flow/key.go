package flow

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"axflow/stage"
)

// KeyGroup returns what the key of stage ord counts in: the group that it names, or flow/stage. "" if the stage has no
// key.
func (g *Graph) KeyGroup(ord int) string {
	k := g.Stages[ord].Key
	switch {
	case k == nil:
		return ""
	case k.Group != "":
		return k.Group
	default:
		return g.Flow + "/" + g.Stages[ord].Name
	}
}

// ShardKeyGroup returns KeyGroup for a stage whose key is each shard's own, else "".
func (g *Graph) ShardKeyGroup(ord int) string {
	if k := g.Stages[ord].Key; k == nil || k.From != stage.ShardKey {
		return ""
	}
	return g.KeyGroup(ord)
}

// KeyName returns the name of a key: the group, a slash, and the value, which is cut where it is longer than
// stage.MaxKeyLen and then ends in a hash of the whole.
func KeyName(group, value string) string { return group + "/" + keyValue(value) }

// KeyOf returns the concurrency key of stage ord in a run with the given params, JSON: KeyName of the value that they
// hold at its path. Strings are taken as they are, numbers and booleans as JSON writes them, objects and lists as JSON
// without spaces and with sorted names; what is missing or null is the empty value. It is "" for a stage that has no
// key, or whose shards have keys of their own.
func (g *Graph) KeyOf(ord int, params []byte) (key string) {
	if !g.paramsKey(ord) {
		return ""
	}
	return g.keyIn(ord, decodeLoosely(params))
}

// KeysOf is KeyOf for every stage, by ord, reading the params once. It is nil if no stage has a key from them.
func (g *Graph) KeysOf(params []byte) []string {
	var keys []string
	var value any
	for ord := range g.Stages {
		if !g.paramsKey(ord) {
			continue
		}
		if keys == nil {
			keys = make([]string, len(g.Stages))
			value = decodeLoosely(params)
		}
		keys[ord] = g.keyIn(ord, value)
	}
	return keys
}

func (g *Graph) paramsKey(ord int) bool {
	k := g.Stages[ord].Key
	return k != nil && k.From != stage.ShardKey
}

func (g *Graph) keyIn(ord int, params any) string {
	path := strings.TrimPrefix(g.Stages[ord].Key.From, "params.")
	for name := range strings.SplitSeq(path, ".") {
		object, ok := params.(map[string]any)
		if !ok {
			params = nil
			break
		}
		params = object[name]
	}
	return KeyName(g.KeyGroup(ord), keyText(params))
}

// decodeLoosely reads params that were checked before; what is not JSON holds nothing.
func decodeLoosely(params []byte) any {
	d := json.NewDecoder(bytes.NewReader(params))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil
	}
	return v
}

func keyText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		return fmt.Sprint(v)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return ""
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// keyValue makes a value storable: PostgreSQL has no NUL, and an index entry must be short.
func keyValue(v string) string {
	clean := strings.ReplaceAll(strings.ToValidUTF8(v, "�"), "\x00", "�")
	if clean == v && len(v) <= stage.MaxKeyLen {
		return v
	}
	sum := sha256.Sum256([]byte(v))
	mark := "~" + hex.EncodeToString(sum[:8])
	keep := min(len(clean), stage.MaxKeyLen-len(mark))
	for keep > 0 && keep < len(clean) && !utf8.RuneStart(clean[keep]) {
		keep--
	}
	return clean[:keep] + mark
}
