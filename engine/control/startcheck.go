package control

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"axflow/stage"
)

// check refuses a start that could not be stored, or found again.
func (s *Start) check() *Error {
	refuse := func(code, field, format string, args ...any) *Error {
		return &Error{Code: code, Field: field, Text: fmt.Sprintf(format, args...)}
	}
	switch {
	case len(s.Params) > MaxParams:
		return refuse(CodeTooLarge, "/params", "the params are %d bytes; the limit is %d: pass a reference to the data instead", len(s.Params), MaxParams)
	case !json.Valid(s.Params):
		return refuse(CodeInvalid, "/params", "the params are not valid JSON")
	case !utf8.Valid(s.Params):
		return refuse(CodeInvalid, "/params", "the params are not valid UTF-8: encode them so")
	case holdsNUL(s.Params):
		return refuse(CodeInvalid, "/params", `the params hold a NUL character (\u0000), which cannot be stored: remove it`)
	case len(s.Key) > MaxKey:
		return refuse(CodeTooLarge, "/key", "the idempotency key is %d bytes; the limit is %d", len(s.Key), MaxKey)
	case s.Level != nil && !s.Level.Valid():
		return refuse(CodeInvalid, "/level", "level %d is none: use P0 (most urgent) to P5", *s.Level)
	case len(s.Tags) > MaxTags:
		return refuse(CodeInvalid, "/tags", "%d tags; the limit is %d: keep those that runs are searched by", len(s.Tags), MaxTags)
	}
	if s.Key != "" {
		if err := text("/key", "the idempotency key", s.Key); err != nil {
			return err
		}
	}
	if s.Queue != "" {
		if err := stage.CheckName("queue", s.Queue); err != nil {
			return refuse(CodeInvalid, "/queue", "%v", err)
		}
	}
	if len(s.Tags) > 0 {
		return checkTags("/tags", s.Tags)
	}
	return nil
}

// checkTags names the first tag, by name, that could not be stored.
func checkTags(field string, tags map[string]string) *Error {
	for _, name := range slices.Sorted(maps.Keys(tags)) {
		value := tags[name]
		at := field + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(strings.ToValidUTF8(name, "\uFFFD"))
		switch {
		case name == "":
			return &Error{Code: CodeInvalid, Field: field, Text: fmt.Sprintf("a tag has no name: give it 1 to %d bytes", MaxTagName)}
		case len(name) > MaxTagName:
			return &Error{Code: CodeInvalid, Field: at, Text: fmt.Sprintf("the tag's name is %d bytes; the limit is %d", len(name), MaxTagName)}
		case len(value) > MaxTagValue:
			return &Error{Code: CodeInvalid, Field: at, Text: fmt.Sprintf("the tag's value is %d bytes; the limit is %d", len(value), MaxTagValue)}
		}
		if err := text(at, "the tag's name", name); err != nil {
			return err
		}
		if err := text(at, "the tag's value", value); err != nil {
			return err
		}
	}
	return nil
}

// holdsNUL tells whether a string in a JSON text has a NUL character, which is always written as an escape.
func holdsNUL(text []byte) bool {
	for {
		i := bytes.Index(text, []byte(`\u0000`))
		if i < 0 {
			return false
		}
		before := i
		for before > 0 && text[before-1] == '\\' {
			before--
		}
		if (i-before)%2 == 0 { // an even number of backslashes before this one escape each other
			return true
		}
		text = text[i+1:]
	}
}
