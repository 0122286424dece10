package stage

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// MaxNameLen is the greatest length, in characters, of the name of a flow, a stage, a queue or a label.
const MaxNameLen = 100

// CheckName tells whether name may name a flow, a stage or a queue: 1 to MaxNameLen characters of
// [a-zA-Z0-9._-], the first one a letter or a digit. what ("stage", "queue") goes into the error.
func CheckName(what, name string) error {
	if name == "" {
		return fmt.Errorf("%s name is empty: give it 1 to %d characters", what, MaxNameLen)
	}
	if n := utf8.RuneCountInString(name); n > MaxNameLen {
		return fmt.Errorf("%s name %q... is %d characters long, at most %d are allowed: shorten it", what, clip(name, 20), n, MaxNameLen)
	}
	if i := strings.IndexFunc(name, func(r rune) bool { return !nameRune(r) }); i >= 0 {
		r, _ := utf8.DecodeRuneInString(name[i:])
		return fmt.Errorf("%s name %q has the character %q: use letters, digits, dots, underscores and hyphens", what, name, r)
	}
	if !alphanumeric(rune(name[0])) {
		return fmt.Errorf("%s name %q starts with %q: start it with a letter or a digit", what, name, name[0])
	}
	return nil
}

// CheckLabel tells whether label may name a capability of a worker: 1 to MaxNameLen printable ASCII
// characters without blanks, commas and quotes, such as "gpu" or "region=eu".
func CheckLabel(label string) error {
	if label == "" {
		return fmt.Errorf("label is empty: give it 1 to %d characters", MaxNameLen)
	}
	if len(label) > MaxNameLen {
		return fmt.Errorf("label %q... is %d bytes long, at most %d are allowed: shorten it", clip(label, 20), len(label), MaxNameLen)
	}
	if i := strings.IndexFunc(label, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`,"'`, r) }); i >= 0 {
		r, _ := utf8.DecodeRuneInString(label[i:])
		return fmt.Errorf("label %q has the character %q: use printable ASCII without blanks, commas and quotes", label, r)
	}
	return nil
}

func nameRune(r rune) bool { return alphanumeric(r) || r == '.' || r == '_' || r == '-' }

func alphanumeric(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
}

// clip returns the first n characters of s.
func clip(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
