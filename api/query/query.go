// Package query reads the search language for runs: terms such as state:failed, all of which must hold. It is pure: what is
// relative to now stays so until it is asked for.
package query

import (
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"axflow/stage"
)

// The limits of a search.
const (
	MaxLen    = 2000 // bytes
	MaxTerms  = 50
	MaxValues = 100 // of one term
	MinDigits = 4   // of a run's id, or of a version
)

// Query is what is asked of runs; the zero value asks nothing, and every run holds to it. The values of one field are alternatives
// and sorted; tags and params must all be there.
type Query struct {
	Flows    []string
	States   []stage.RunState
	Queues   []string
	Triggers []string
	Levels   []stage.Level
	// Version is the beginning of a content version, hexadecimal digits; "": any.
	Version string
	// Tags and Params are sorted by name; a name stands once.
	Tags, Params []Pair
	// Since and Until are about when a run was created: at or after, and before.
	Since, Until When
	// Parent is the run whose sub-flow stages started it; the zero id: any, or none.
	Parent uuid.UUID
	// Run is the beginning of a run's id, hexadecimal digits in lower case without hyphens; "": any.
	Run string
}

// Pair is a tag or a param with its value.
type Pair struct{ Name, Value string }

// When is a time, or a duration before now; the zero value is none.
type When struct {
	At  time.Time
	Ago time.Duration
}

// IsZero tells whether no time was given.
func (w When) IsZero() bool { return w.At.IsZero() && w.Ago == 0 }

// Time is the time that is meant when it is now.
func (w When) Time(now time.Time) time.Time {
	if w.Ago != 0 {
		return now.Add(-w.Ago)
	}
	return w.At
}

// Empty tells whether nothing is asked.
func (q *Query) Empty() bool { return q.String() == "" }

// open and ended are what state:open and state:ended stand for.
func open() []stage.RunState {
	return slices.DeleteFunc(stage.RunStates(), func(s stage.RunState) bool { return s.Ended() })
}

func ended() []stage.RunState {
	return slices.DeleteFunc(stage.RunStates(), func(s stage.RunState) bool { return !s.Ended() })
}

// String writes the query so that Parse reads the same one, whatever the order and the spelling that it was read from.
func (q *Query) String() string {
	var terms []string
	list := func(key string, values []string) {
		if len(values) > 0 {
			quoted := make([]string, len(values))
			for i, v := range values {
				quoted[i] = quote(v, ",")
			}
			terms = append(terms, key+":"+strings.Join(quoted, ","))
		}
	}
	list("flow", q.Flows)
	list("state", q.stateNames())
	list("queue", q.Queues)
	list("trigger", q.Triggers)
	levels := make([]string, len(q.Levels))
	for i, l := range q.Levels {
		levels[i] = l.String()
	}
	list("level", levels)
	if q.Version != "" {
		terms = append(terms, "version:"+q.Version)
	}
	if q.Parent != uuid.Nil {
		terms = append(terms, "parent:"+q.Parent.String())
	}
	for _, t := range q.Tags {
		terms = append(terms, "tag:"+quote(t.Name+"="+t.Value, ""))
	}
	for _, p := range q.Params {
		terms = append(terms, "param."+p.Name+":"+quote(p.Value, ""))
	}
	if !q.Since.IsZero() {
		terms = append(terms, "since:"+q.Since.String())
	}
	if !q.Until.IsZero() {
		terms = append(terms, "until:"+q.Until.String())
	}
	if q.Run != "" {
		terms = append(terms, q.Run)
	}
	return strings.Join(terms, " ")
}

// stateNames are the states as they are written, those together that have a name together.
func (q *Query) stateNames() []string {
	var names []string
	left := slices.Clone(q.States)
	for _, group := range []struct {
		name   string
		states []stage.RunState
	}{{"open", open()}, {"ended", ended()}} {
		if !slices.ContainsFunc(group.states, func(s stage.RunState) bool { return !slices.Contains(left, s) }) {
			names = append(names, group.name)
			left = slices.DeleteFunc(left, func(s stage.RunState) bool { return slices.Contains(group.states, s) })
		}
	}
	for _, s := range left {
		names = append(names, s.String())
	}
	return names
}

// quote writes a value, in quotes where it has blanks, quotes, or one of special.
func quote(v, special string) string {
	if v != "" && !strings.ContainsFunc(v, isSpace) && !strings.ContainsAny(v, `"\`+special) {
		return v
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(v) + `"`
}
