package worker

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"axflow/internal/fingerprint"
	"axflow/stage"
)

// maxFailure bounds a failure's JSON, in bytes.
const maxFailure = 8 << 10

// failure is what result.error holds, as JSON.
type failure struct {
	Code      string `json:"code"`
	Message   string `json:"message"`
	Stack     string `json:"stack,omitempty"`
	Retryable bool   `json:"retryable,omitempty"`
	// Fingerprint is the same for failures that differ only in numbers, ids, addresses and the like; Normal is what it
	// is the hash of.
	Fingerprint string `json:"fingerprint,omitempty"`
	Normal      string `json:"normal,omitempty"`
}

// identify gives the failure its fingerprint.
func (f failure) identify() failure {
	f.Fingerprint, f.Normal = fingerprint.Of(f.Code, f.Message)
	f.Normal = clean(f.Normal, 1000)
	return f
}

// encode returns the failure's JSON: valid UTF-8 without NUL, at most maxFailure bytes.
func (f failure) encode() []byte {
	f.Code = clean(f.Code, 200)
	f.Message = clean(f.Message, maxFailure/2)
	f.Stack = clean(f.Stack, maxFailure/2)
	for {
		b, err := json.Marshal(f)
		if err != nil {
			return []byte(`{"code":"` + CodeHandler + `","message":"the error cannot be encoded"}`)
		}
		if len(b) <= maxFailure {
			return b
		}
		// Escapes have made it longer: a quote is two bytes, a control character six.
		f.Stack, f.Normal = clean(f.Stack, len(f.Stack)/2), ""
		if f.Stack == "" {
			f.Message = clean(f.Message, len(f.Message)/2)
		}
	}
}

// clean makes s valid UTF-8 without NUL and cuts it to about limit bytes, saying so.
func clean(s string, limit int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.ReplaceAll(s, "\x00", "\uFFFD")
	if len(s) <= limit {
		return s
	}
	if limit < 64 {
		return ""
	}
	cut := limit - 32
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return fmt.Sprintf("%s… (%d bytes more)", s[:cut], len(s)-cut)
}

// coded is a fault of AX's own with a code.
type coded struct {
	code string
	text string
}

func (e *coded) Error() string { return e.text }
func (e *coded) Code() string  { return e.code }

func faultf(code, format string, args ...any) error {
	return &coded{code, fmt.Sprintf(format, args...)}
}

// crash is a handler's panic.
type crash struct {
	value any
	stack []byte
}

func (e *crash) Error() string { return fmt.Sprintf("panic: %v", e.value) }
func (e *crash) Code() string  { return CodePanic }

// failureOf describes a handler's error.
func failureOf(err error, retryable bool) failure {
	f := failure{Code: stage.CodeOf(err), Retryable: retryable}
	func() {
		defer func() {
			if r := recover(); r != nil {
				f.Message = fmt.Sprintf("an error of type %T, whose Error method panics", err)
			}
		}()
		f.Message = err.Error()
	}()
	if f.Code == "" {
		f.Code = CodeHandler
	}
	if c, ok := asCrash(err); ok {
		f.Stack = string(c.stack)
	}
	return f
}

func asCrash(err error) (*crash, bool) {
	c, ok := err.(*crash) //nolint:errorlint // it is made right where it is looked for
	return c, ok
}
