package control

import "time"

// The codes of what a verb refuses.
const (
	CodeTooLarge = "too_large"
	CodeInvalid  = "invalid"
	CodeNotFound = "not_found"
	CodeConflict = "conflict" // the run's state does not allow it
	// CodeOverloaded is a start that a queue has no room for: Error.RetryAfter says when to try again.
	CodeOverloaded = "overloaded"
)

// Error is a refusal with a code and a text that names the value, the limit and the way out.
type Error struct {
	Code string
	Text string
	// Field is a JSON pointer to the argument that is wrong, such as "/capacity" or "/filter/flows"; "": no single one is.
	Field string
	// RetryAfter is how long to wait before trying again; 0 where that is no use.
	RetryAfter time.Duration
}

func (e *Error) Error() string { return e.Text }
