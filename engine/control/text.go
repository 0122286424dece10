package control

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// MaxReason is the greatest length of an act's reason, in characters.
const MaxReason = 1_000

// text refuses what PostgreSQL's text cannot hold.
func text(field, what, s string) *Error {
	switch {
	case strings.IndexByte(s, 0) >= 0:
		return &Error{Code: CodeInvalid, Field: field, Text: fmt.Sprintf("%s has a NUL character at byte %d, which cannot be stored: remove it", what, strings.IndexByte(s, 0))}
	case !utf8.ValidString(s):
		return &Error{Code: CodeInvalid, Field: field, Text: what + " is not valid UTF-8: encode it so"}
	}
	return nil
}

// named is a text by the field that it stands in.
type named struct{ field, what, text string }

// storable names the first of several texts that PostgreSQL cannot hold.
func storable(all ...named) error {
	for _, n := range all {
		if err := text(n.field, n.what, n.text); err != nil {
			return err
		}
	}
	return nil
}

// check refuses what the audit cannot keep.
func (w Who) check() error {
	if n := utf8.RuneCountInString(w.Reason); n > MaxReason {
		return &Error{Code: CodeInvalid, Field: "/reason", Text: fmt.Sprintf("the reason is %d characters long; the limit is %d: shorten it", n, MaxReason)}
	}
	return storable(named{"/reason", "the reason", w.Reason}, named{"", "the actor", w.Actor})
}
