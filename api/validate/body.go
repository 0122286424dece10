package validate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"axflow/api/gen"
	"axflow/api/problem"
)

// deepest is how deeply arrays and objects may be nested; PostgreSQL's own limit depends on its stack.
const deepest = 500

// Body checks a request's body, all of it. An empty one is none. The error is a *problem.Error.
func (o *Operation) Body(contentType string, body []byte) error {
	switch {
	case o.body == nil && len(body) > 0:
		return problem.New(gen.ProblemCodeInvalid, "this operation takes no body")
	case len(body) == 0 && o.bodyRequired:
		return problem.New(gen.ProblemCodeInvalid, "this operation needs a body of JSON; see the reference")
	case len(body) == 0:
		return nil
	}
	media, params, err := mime.ParseMediaType(contentType)
	if charset := params["charset"]; err != nil || media != "application/json" || charset != "" && !strings.EqualFold(charset, "utf-8") {
		return problem.New(gen.ProblemCodeUnsupportedMedia, "the body must be JSON in UTF-8: send it with the header Content-Type: application/json")
	}
	value, err := parse(body)
	if err != nil {
		return err
	}
	var f faults
	if way, what := unfit(value, 0); what != "" {
		slices.Reverse(way)
		f.value(pointerTo(way), "%s", what)
	}
	visit(o.body, value, "", true, &f)
	return f.err()
}

// parse reads one JSON value, and says where it goes wrong.
func parse(body []byte) (any, error) {
	if !utf8.Valid(body) {
		return nil, problem.New(gen.ProblemCodeInvalid, "the body is not UTF-8")
	}
	if at := loneSurrogate(body); at >= 0 {
		return nil, problem.New(gen.ProblemCodeInvalid, "the body is not text: %s holds half of a surrogate pair", position(body, at))
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	var value any
	if err := dec.Decode(&value); err != nil {
		var syntax *json.SyntaxError
		switch {
		case errors.As(err, &syntax):
			return nil, problem.New(gen.ProblemCodeInvalid, "the body is not JSON: at %s: %s", position(body, int(syntax.Offset)-1), syntax.Error())
		case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
			return nil, problem.New(gen.ProblemCodeInvalid, "the body is not JSON: it ends too early, at %s", position(body, len(body)))
		default:
			return nil, problem.New(gen.ProblemCodeInvalid, "the body is not JSON")
		}
	}
	if rest := bytes.TrimSpace(body[dec.InputOffset():]); len(rest) > 0 {
		return nil, problem.New(gen.ProblemCodeInvalid, "the body is more than one JSON value: at %s", position(body, len(body)-len(rest)))
	}
	return value, nil
}

// position is where the byte at an offset is, for people.
func position(body []byte, at int) string {
	at = max(0, min(at, len(body)))
	before := body[:at]
	line := bytes.Count(before, []byte("\n"))
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
	return fmt.Sprintf("line %d, column %d", line+1, column+1)
}

// loneSurrogate is the offset of an escape of half a surrogate pair, which is JSON but no text, and which PostgreSQL refuses;
// -1: there is none. It reads every escape, so that it takes `\\ud800` for what it is: a backslash and letters.
func loneSurrogate(body []byte) int {
	for i := 0; i < len(body); i++ {
		if body[i] != '\\' {
			continue
		}
		first := unit(body[i:])
		switch {
		case first < 0xd800 || first > 0xdfff:
			i++ // an escaped backslash begins no escape
		case first > 0xdbff:
			return i
		default:
			if second := unit(body[i+6:]); second < 0xdc00 || second > 0xdfff {
				return i
			}
			i += 11
		}
	}
	return -1
}

// unit is the UTF-16 unit that a text begins with as an escape; -1: it does not begin with one.
func unit(text []byte) int {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return -1
	}
	v, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return int(v)
}

// unfit finds the first thing in a value that JSON allows and PostgreSQL does not: a NUL character, and what is nested too deeply. It
// returns the way to it, innermost first, and what it is; "": all is well.
func unfit(value any, depth int) (way []string, what string) {
	if depth > deepest {
		return nil, fmt.Sprintf("is nested deeper than %d", deepest)
	}
	switch v := value.(type) {
	case string:
		if strings.ContainsRune(v, 0) {
			return nil, "holds a NUL character"
		}
	case []any:
		for i, item := range v {
			if way, what = unfit(item, depth+1); what != "" {
				return append(way, strconv.Itoa(i)), what
			}
		}
	case map[string]any:
		for name, item := range v {
			if strings.ContainsRune(name, 0) {
				return nil, "holds a name with a NUL character"
			}
			if way, what = unfit(item, depth+1); what != "" {
				return append(way, name), what
			}
		}
	}
	return nil, ""
}
