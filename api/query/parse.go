package query

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"axflow/stage"
)

// Error says which term of a search is wrong.
type Error struct {
	// Term is the term as it was written; "": the search as a whole is wrong.
	Term string
	// At is where it begins: the number of the character, from 1.
	At int
	// Text says what is wrong and what is allowed.
	Text string
}

func (e *Error) Error() string {
	if e.Term == "" {
		return e.Text
	}
	return fmt.Sprintf("%s (character %d): %s", e.Term, e.At, e.Text)
}

// keys are what stands before the colon; a param's name follows its key.
var keys = []string{"flow", "state", "tag", "since", "until", "queue", "trigger", "level", "version", "parent", "param."}

// Parse reads a search. The error is an *Error.
func Parse(text string) (*Query, error) {
	switch {
	case len(text) > MaxLen:
		return nil, &Error{Text: fmt.Sprintf("the search is %d bytes long; the limit is %d", len(text), MaxLen)}
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return nil, &Error{Text: "the search has characters that are no text: write it in UTF-8, without NUL"}
	}
	p := parser{text: text, seen: make(map[string]bool)}
	for n := 0; ; n++ {
		p.at += len(p.rest()) - len(strings.TrimLeftFunc(p.rest(), isSpace))
		if p.rest() == "" {
			break
		}
		if n == MaxTerms {
			return nil, &Error{Text: fmt.Sprintf("the search has more than %d terms", MaxTerms)}
		}
		if err := p.term(); err != nil {
			return nil, err
		}
	}
	byName := func(a, b Pair) int { return strings.Compare(a.Name, b.Name) }
	slices.SortFunc(p.q.Tags, byName)
	slices.SortFunc(p.q.Params, byName)
	return &p.q, nil
}

func isSpace(r rune) bool { return unicode.IsSpace(r) }

type parser struct {
	text string
	at   int
	q    Query
	seen map[string]bool
	// inQuotes: the term at hand has a value in quotes, which may be empty.
	inQuotes bool
}

func (p *parser) rest() string { return p.text[p.at:] }

// term reads one term, to the next blank outside quotes.
func (p *parser) term() error {
	from := p.at
	bad := func(format string, args ...any) error {
		end := p.at
		for end < len(p.text) && !isSpace(firstRune(p.text[end:])) {
			end++
		}
		return &Error{Term: clip(p.text[from:end]), At: utf8.RuneCountInString(p.text[:from]) + 1, Text: fmt.Sprintf(format, args...)}
	}
	key := ""
	if i := strings.IndexFunc(p.rest(), func(r rune) bool { return r == ':' || r == '"' || isSpace(r) }); i >= 0 && p.rest()[i] == ':' {
		key = p.rest()[:i]
		p.at += i + 1
	}
	values, err := p.values()
	if err != nil {
		return bad("%v", err)
	}
	if err := p.set(key, values); err != nil {
		return bad("%v", err)
	}
	return nil
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// values reads the values of a term, parted by commas outside quotes.
func (p *parser) values() ([]string, error) {
	values := []string{""}
	p.inQuotes = false
	for rest := p.rest(); rest != ""; rest = p.rest() {
		r, size := utf8.DecodeRuneInString(rest)
		last := &values[len(values)-1]
		switch {
		case isSpace(r):
			return values, nil
		case r == ',':
			values = append(values, "")
			p.at += size
		case r == '"':
			text, length, ok := quoted(rest)
			if !ok {
				p.at = len(p.text)
				return nil, fmt.Errorf("the quote is not closed: write \" at its end, and \\\" for a quote within")
			}
			*last += text
			p.at += length
			p.inQuotes = true
		default:
			*last += string(r)
			p.at += size
		}
	}
	return values, nil
}

// quoted reads a text in quotes, and how long it is with them.
func quoted(s string) (text string, length int, ok bool) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '"':
			return b.String(), i + 1, true
		case '\\':
			if i++; i == len(s) {
				return "", 0, false
			}
			b.WriteByte(s[i])
		default:
			b.WriteByte(s[i])
		}
	}
	return "", 0, false
}

// set takes a term into the query.
func (p *parser) set(key string, values []string) error {
	once, one := key, strings.Join(values, ",")
	q := &p.q
	var err error
	switch name, isParam := strings.CutPrefix(key, "param."); {
	case isParam:
		if name == "" || one == "" && !p.inQuotes {
			return fmt.Errorf("write param.name:value, or param.name:\"\" for an empty value")
		}
		q.Params = append(q.Params, Pair{name, one})
	case key == "":
		err = p.run(one)
	case one == "":
		err = fmt.Errorf("it has no value: write %s:value", key)
	case key == "flow":
		q.Flows, err = list(values)
	case key == "queue":
		q.Queues, err = list(values)
	case key == "trigger":
		q.Triggers, err = list(values)
	case key == "state":
		q.States, err = states(values)
	case key == "level":
		q.Levels, err = levels(values)
	case key == "version":
		if q.Version = strings.ToLower(one); !digits(q.Version, 16) {
			err = fmt.Errorf("%q is no content version: write %d to 16 hexadecimal digits", clip(one), MinDigits)
		}
	case key == "parent":
		var bad error
		if q.Parent, bad = uuid.Parse(one); bad != nil || q.Parent == uuid.Nil {
			err = fmt.Errorf("%q is no run: write the id of the run that started them, all 32 digits", clip(one))
		}
	case key == "tag":
		name, value, ok := strings.Cut(one, "=")
		if !ok || name == "" {
			return fmt.Errorf("a tag has a name and a value: write tag:name=value")
		}
		once = "tag " + name
		q.Tags = append(q.Tags, Pair{name, value})
	case key == "since":
		q.Since, err = parseWhen(one)
	case key == "until":
		q.Until, err = parseWhen(one)
	default:
		return fmt.Errorf("there is no key %q%s; the keys are %s", clip(key), didYouMean(key, keys), strings.Join(keys[:len(keys)-1], ", ")+" and param.name")
	}
	if err != nil {
		return err
	}
	if p.seen[once] {
		return fmt.Errorf("it stands twice: write one term, with commas between alternatives where the key takes several values")
	}
	p.seen[once] = true
	return nil
}

// run reads a run's id or its beginning.
func (p *parser) run(word string) error {
	p.q.Run = strings.ToLower(strings.ReplaceAll(word, "-", ""))
	if digits(p.q.Run, 32) {
		return nil
	}
	if _, err := stage.ParseRunState(strings.ToLower(word)); err == nil {
		return fmt.Errorf("a word alone is a run's id: write state:%s", strings.ToLower(word))
	}
	return fmt.Errorf("a word alone is a run's id or its beginning, at least %d hexadecimal digits; everything else has a key, such as flow:name or state:failed", MinDigits)
}

// digits tells whether s is hexadecimal digits, MinDigits to most.
func digits(s string, most int) bool {
	return len(s) >= MinDigits && len(s) <= most && strings.Trim(s, "0123456789abcdef") == ""
}

func list(values []string) ([]string, error) {
	if len(values) > MaxValues {
		return nil, fmt.Errorf("it has %d values; the limit is %d", len(values), MaxValues)
	}
	if slices.Contains(values, "") {
		return nil, fmt.Errorf("one of its values is empty: put one comma between two values")
	}
	slices.Sort(values)
	return slices.Compact(values), nil
}

func states(values []string) ([]stage.RunState, error) {
	var all []stage.RunState
	for _, v := range values {
		switch s, err := stage.ParseRunState(v); {
		case v == "open":
			all = append(all, open()...)
		case v == "ended":
			all = append(all, ended()...)
		case err == nil:
			all = append(all, s)
		default:
			names := []string{"open", "ended"}
			for _, s := range stage.RunStates() {
				names = append(names, s.String())
			}
			return nil, fmt.Errorf("there is no state %q%s; the states are %s", clip(v), didYouMean(v, names), strings.Join(names, ", "))
		}
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

func levels(values []string) ([]stage.Level, error) {
	var all []stage.Level
	for _, v := range values {
		l, err := stage.ParseLevel(v)
		if err != nil {
			return nil, fmt.Errorf("there is no level %q: the levels are P0 to P5", clip(v))
		}
		all = append(all, l)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// clip shortens what somebody wrote.
func clip(s string) string {
	const most = 60
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most]) + "…"
}
