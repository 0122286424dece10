// Package fingerprint tells which failures are the same failure: it takes out of an error's text what differs from one
// occurrence to the next (numbers, ids, addresses, times, quoted values) and hashes the rest. It is pure.
package fingerprint

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxRead   = 2000 // bytes of a message that are looked at
	maxNormal = 300  // bytes of a normal form
	maxQuoted = 500  // bytes between two quotes
)

// What stands in a normal form for what was taken out.
const (
	number   = "<n>"
	ident    = "<id>"
	address  = "<addr>"
	moment   = "<time>"
	duration = "<duration>"
	value    = "<value>"
)

// Of returns the fingerprint of an error with a code and a text, 16 hexadecimal digits, and the normal form that it
// is the hash of, at most 300 bytes of one line that people can read.
func Of(code, message string) (hash, normal string) {
	normal = Normal(message)
	if code != "" {
		normal = clip(code+": "+normal, maxNormal)
	}
	sum := sha256.Sum256([]byte(normal))
	return hex.EncodeToString(sum[:8]), normal
}

// Normal returns the normal form of a text. It is the same for texts that differ only in numbers, ids, hexadecimal
// digits, UUIDs, addresses, times, durations, quoted values, or such parts of paths, and in white space.
func Normal(message string) string {
	var w writer
	s := strings.ToValidUTF8(clip(message, maxRead), "\uFFFD")
	for len(s) > 0 {
		c := s[0]
		switch {
		case c == '"' || c == '`' || c == '\'' && !w.afterWord():
			if end := strings.IndexByte(s[1:], c); end >= 0 && end <= maxQuoted {
				w.placeholder(value)
				s = s[end+2:]
				continue
			}
			w.text(s[:1])
			s = s[1:]
		case c == '[':
			if n := bracketed(s); n > 0 {
				w.placeholder(address)
				s = s[n:]
				continue
			}
			w.text(s[:1])
			s = s[1:]
		case delimiter(c):
			w.text(s[:1])
			s = s[1:]
		default:
			r, size := utf8.DecodeRuneInString(s)
			if unicode.IsSpace(r) || unicode.IsControl(r) {
				w.space()
				s = s[size:]
				continue
			}
			n := chunkLen(s)
			w.chunk(s[:n])
			s = s[n:]
		}
	}
	return clip(strings.TrimRight(string(w.out), " "), maxNormal)
}

// delimiter tells what ends a chunk beside white space.
func delimiter(c byte) bool { return strings.IndexByte("()[]{}<>,;=|&?!\"`", c) >= 0 }

// chunkLen is how long the chunk is that s begins with: up to white space, a quote or a delimiter.
func chunkLen(s string) int {
	for i, r := range s {
		if i > 0 && (unicode.IsSpace(r) || unicode.IsControl(r) || r < utf8.RuneSelf && delimiter(byte(r))) {
			return i
		}
	}
	return len(s)
}

// clip cuts s to at most limit bytes, between runes.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}
