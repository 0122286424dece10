package fingerprint

import (
	"bytes"
	"net/netip"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// writer collects a normal form.
type writer struct{ out []byte }

func (w *writer) text(s string) { w.out = append(w.out, s...) }

func (w *writer) endsWith(c byte) bool { return len(w.out) > 0 && w.out[len(w.out)-1] == c }

// space writes one space for any number of them.
func (w *writer) space() {
	if len(w.out) > 0 && !w.endsWith(' ') {
		w.out = append(w.out, ' ')
	}
}

// afterWord tells whether the last thing written is a letter, so that an apostrophe is no quote.
func (w *writer) afterWord() bool {
	r, _ := utf8.DecodeLastRune(w.out)
	return unicode.IsLetter(r)
}

// placeholder writes a placeholder; a list of the same one counts as one.
func (w *writer) placeholder(p string) {
	before := bytes.TrimRight(w.out, " ,.:-")
	switch string(w.out[len(before):]) {
	case "", " ", ",", ", ", ".", ":", "-":
		if bytes.HasSuffix(before, []byte(p)) {
			w.out = before
			return
		}
	}
	w.text(p)
}

// chunk writes something between white space and delimiters.
func (w *writer) chunk(s string) {
	body := strings.TrimRight(s, ".:'-")
	tail := s[len(body):]
	switch {
	case body == "":
	case isTime(body):
		w.placeholder(moment)
	case isDuration(body):
		w.placeholder(duration)
	case isAddress(body):
		w.placeholder(address)
	case strings.ContainsRune(body, '/'):
		for i, part := range strings.Split(body, "/") {
			if i > 0 {
				w.text("/")
			}
			if part != "" && isAddress(part) {
				w.placeholder(address)
			} else {
				w.words(part)
			}
		}
	default:
		w.words(body)
	}
	w.text(tail)
}

// words writes what is left: runs of letters and digits with signs between them.
func (w *writer) words(s string) {
	for len(s) > 0 {
		if isUUID(s) {
			w.placeholder(ident)
			s = s[36:]
			continue
		}
		n := 0
		for n < len(s) && alnum(s[n]) {
			n++
		}
		switch {
		case n > 0:
			w.word(s[:n])
			s = s[n:]
		case (s[0] == '-' || s[0] == '+') && len(s) > 1 && digit(s[1]) && !w.afterWord() && !w.endsWith('>'):
			s = s[1:] // the sign of a number
		default:
			_, size := utf8.DecodeRuneInString(s)
			w.text(s[:size])
			s = s[size:]
		}
	}
}

// word writes a run of letters and digits.
func (w *writer) word(s string) {
	digits, lead := 0, 0
	hexOnly := true
	for i := range len(s) {
		if digit(s[i]) {
			digits++
			if lead == i {
				lead++
			}
		}
		hexOnly = hexOnly && isHex(s[i])
	}
	letters := len(s) - digits
	switch {
	case digits == 0:
		w.text(s)
	case letters == 0:
		w.placeholder(number)
	case strings.HasPrefix(s, "0x") || strings.HasPrefix(s, "0X"), hexOnly && len(s) >= 8:
		w.placeholder(ident)
	case lead == digits && letters <= 3: // a number with its unit
		w.placeholder(number)
		w.text(s[lead:])
	case len(s) >= 6 && digits >= 2:
		w.placeholder(ident)
	default:
		for len(s) > 0 {
			n := 0
			for n < len(s) && digit(s[n]) == digit(s[0]) {
				n++
			}
			if digit(s[0]) {
				w.placeholder(number)
			} else {
				w.text(s[:n])
			}
			s = s[n:]
		}
	}
}

func digit(c byte) bool { return c >= '0' && c <= '9' }
func isHex(c byte) bool { return digit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }
func alnum(c byte) bool { return digit(c) || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' }

// isUUID tells whether s begins with a UUID.
func isUUID(s string) bool {
	if len(s) < 36 || len(s) > 36 && alnum(s[36]) {
		return false
	}
	for i := range 36 {
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if s[i] != '-' {
				return false
			}
		} else if !isHex(s[i]) {
			return false
		}
	}
	return true
}

// isTime tells whether s is a date, a time of day, or both, as ISO 8601 and log files write them.
func isTime(s string) bool {
	return shaped(s, "0000-00-00") || shaped(s, "0000/00/00") || shaped(s, "00:00:00")
}

// shaped tells whether s begins like shape, whose zeros stand for digits, and goes on with nothing that is not part
// of a time.
func shaped(s, shape string) bool {
	if len(s) < len(shape) {
		return false
	}
	for i := range len(shape) {
		if shape[i] == '0' && !digit(s[i]) || shape[i] != '0' && s[i] != shape[i] {
			return false
		}
	}
	return strings.Trim(s[len(shape):], "0123456789TtZz:.+-_") == ""
}

func isDuration(s string) bool {
	if !strings.ContainsAny(s[len(s)-1:], "smh") || !digit(s[0]) {
		return false
	}
	_, err := time.ParseDuration(s)
	return err == nil
}

// sources are the endings of files whose name with a line number looks like a host with a port.
var sources = map[string]bool{"go": true, "py": true, "js": true, "ts": true, "sql": true, "java": true, "rs": true, "rb": true,
	"cc": true, "cpp": true, "cs": true, "php": true, "sh": true, "yaml": true, "yml": true, "json": true, "csv": true, "txt": true}

// isAddress tells whether s is an IP address, or a host with a port.
func isAddress(s string) bool {
	if _, err := netip.ParseAddr(s); err == nil {
		return true
	}
	if _, err := netip.ParseAddrPort(s); err == nil {
		return true
	}
	host, port, ok := strings.Cut(s, ":")
	if !ok || len(port) == 0 || len(port) > 5 || strings.Trim(port, "0123456789") != "" || strings.Trim(host, hostChars) != "" || host == "" {
		return false
	}
	if i := strings.LastIndexByte(host, '.'); i >= 0 {
		return !sources[host[i+1:]]
	}
	return host == "localhost" || strings.ContainsAny(host, "0123456789-")
}

const hostChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_"

// bracketed is how long an IPv6 address in brackets is, with its port, that s begins with; 0 for none.
func bracketed(s string) int {
	end := strings.IndexByte(s, ']')
	if end < 0 {
		return 0
	}
	if a, err := netip.ParseAddr(s[1:end]); err != nil || !a.Is6() {
		return 0
	}
	n := end + 1
	if n < len(s) && s[n] == ':' {
		m := n + 1
		for m < len(s) && digit(s[m]) {
			m++
		}
		if m > n+1 {
			n = m
		}
	}
	return n
}
