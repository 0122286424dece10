package worker

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// logEncoder makes JSON of attributes, as slog does: values resolved, groups as objects, errors as texts.
type logEncoder struct {
	buf     bytes.Buffer
	handler slog.Handler
}

// logEncoders are used one call at a time each, so a value that logs while it is encoded gets another.
var logEncoders = sync.Pool{New: func() any {
	e := new(logEncoder)
	e.handler = slog.NewJSONHandler(&e.buf, nil)
	return e
}}

// logHead is how slog writes a line that has nothing but attributes.
const logHead = `{"level":"INFO","msg":""`

// appendAttrs appends a record's attributes to b as the inside of a JSON object.
func appendAttrs(ctx context.Context, b []byte, r slog.Record) []byte {
	if r.NumAttrs() == 0 {
		return b
	}
	e := logEncoders.Get().(*logEncoder) //nolint:errcheck // nothing else is put there
	e.buf.Reset()
	r.Time, r.Level, r.Message, r.PC = time.Time{}, slog.LevelInfo, "", 0
	if err := e.handler.Handle(ctx, r); err == nil { // a buffer takes everything
		if text := bytes.TrimSuffix(e.buf.Bytes(), []byte("}\n")); len(text) > len(logHead) {
			b = append(b, text[len(logHead)+1:]...)
		}
	}
	if e.buf.Cap() <= 64<<10 {
		logEncoders.Put(e)
	}
	return b
}

// joinAttrs puts a comma where one is needed before the next member of an object.
func joinAttrs(b []byte) []byte {
	if n := len(b); n > 0 && b[n-1] != '{' {
		return append(b, ',')
	}
	return b
}

// tidyAttrs makes an object of what is inside one: without NUL, at most MaxLogAttributes long; "" for none.
func tidyAttrs(inside []byte) string {
	if len(inside) == 0 {
		return ""
	}
	b := make([]byte, 0, len(inside)+2)
	b = append(append(append(b, '{'), inside...), '}')
	b = withoutNUL(b)
	if len(b) <= MaxLogAttributes {
		return string(b)
	}
	return string(cutAttrs(b))
}

// withoutNUL replaces the escape of NUL, which no text of PostgreSQL can hold once it is decoded.
func withoutNUL(b []byte) []byte {
	escape := []byte(`\u0000`)
	if !bytes.Contains(b, escape) {
		return b
	}
	for i := 0; i < len(b); i++ {
		if b[i] != '\\' {
			continue
		}
		if bytes.HasPrefix(b[i:], escape) {
			copy(b[i:], `\ufffd`)
		}
		i++ // what is escaped
	}
	return b
}

// cutMark is the attribute that says how many others were cut or left out.
const cutMark = "!cut"

// cutAttrs makes an object short enough: small attributes stay, big ones become the beginning of their text, and what does not
// fit is left out.
func cutAttrs(object []byte) []byte {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(object, &all); err != nil {
		return []byte(`{"` + cutMark + `":"the attributes cannot be read"}`)
	}
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	size := func(name string) int { return len(name) + len(all[name]) + 16 }
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(size(a)-size(b), cmp.Compare(a, b)) })
	kept := make(map[string]any, len(all))
	room, cuts := MaxLogAttributes-64, 0
	for i, name := range names {
		share := room / (len(names) - i)
		if size(name) <= share {
			kept[name] = all[name]
			room -= size(name)
			continue
		}
		cuts++
		if len(name)+256 > share {
			continue // no room for a useful piece
		}
		text := string(all[name])
		var s string
		if json.Unmarshal(all[name], &s) == nil {
			text = s
		}
		text = clean(text, (share-len(name)-64)/2)
		for len(text) > 0 {
			b, err := json.Marshal(text)
			if err == nil && len(name)+len(b)+16 <= share {
				kept[name] = json.RawMessage(b)
				room -= len(name) + len(b) + 16
				break
			}
			text = clean(text, len(text)/2)
		}
	}
	kept[cutMark] = cuts
	b, err := json.Marshal(kept)
	if err != nil || len(b) > MaxLogAttributes {
		return []byte(`{"` + cutMark + `":"the attributes are too large"}`)
	}
	return b
}

// appendName appends a member's name.
func appendName(b []byte, name string) []byte {
	text, err := json.Marshal(name)
	if err != nil { // no string fails
		text = []byte(`""`)
	}
	return append(b, text...)
}
