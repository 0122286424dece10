package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"axflow/api/client"
)

// answer is what every call of the API's client returns.
type answer interface {
	GetBody() []byte
	Status() string
	StatusCode() int
}

// got is a good answer: read, and as it came.
type got[T any] struct {
	is  *T
	raw []byte
}

// checked turns an answer that is a problem into an error.
func checkAnswer(r answer) error {
	return client.Check(&http.Response{Status: r.Status(), StatusCode: r.StatusCode()}, r.GetBody())
}

// take makes a value of a call whose good answer is 200 with JSON.
func take[T any, R interface {
	answer
	GetJSON200() *T
}](r R, err error) (got[T], error) {
	if err != nil {
		return got[T]{}, err
	}
	if err := checkAnswer(r); err != nil {
		return got[T]{}, err
	}
	if r.GetJSON200() == nil {
		return got[T]{}, fmt.Errorf("the server answered %s with something else than JSON: %.200s", r.Status(), r.GetBody())
	}
	return got[T]{r.GetJSON200(), r.GetBody()}, nil
}

// takeAny makes a value of a call whose good answer is 201, 202 or 200 with JSON.
func takeAny[T any](r answer, err error) (got[T], error) {
	if err != nil {
		return got[T]{}, err
	}
	if err := checkAnswer(r); err != nil {
		return got[T]{}, err
	}
	is := new(T)
	if err := json.Unmarshal(r.GetBody(), is); err != nil {
		return got[T]{}, fmt.Errorf("reading the server's answer: %w", err)
	}
	return got[T]{is, r.GetBody()}, nil
}

// json writes an answer as the API gave it, indented.
func (a *app) json(raw []byte) error {
	var b bytes.Buffer
	if err := json.Indent(&b, bytes.TrimSpace(raw), "", "  "); err != nil {
		return fmt.Errorf("the server's answer is no JSON: %w", err)
	}
	b.WriteByte('\n')
	if _, err := a.Stdout.Write(b.Bytes()); err != nil {
		return fmt.Errorf("writing the answer: %w", err)
	}
	return nil
}

// jsonOf writes a value of the command's own.
func (a *app) jsonOf(v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("writing the answer: %w", err)
	}
	return a.json(raw)
}

// jsonLine writes a value in one line, for streams.
func (a *app) jsonLine(v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("writing the answer: %w", err)
	}
	if _, err := a.Stdout.Write(append(raw, '\n')); err != nil {
		return fmt.Errorf("writing the answer: %w", err)
	}
	return nil
}

// value is what a pointer points to, or the zero value.
func value[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}

// opt is a pointer to v, or nil for the zero value.
func opt[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

// sortedKeys are a map's keys, sorted.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
