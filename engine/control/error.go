package control

// The codes of what a verb refuses.
const (
	CodeTooLarge = "too_large"
	CodeInvalid  = "invalid"
	CodeNotFound = "not_found"
	CodeConflict = "conflict" // the run's state does not allow it
)

// Error is a refusal with a code and a text that names the value, the limit and the way out.
type Error struct {
	Code string
	Text string
}

func (e *Error) Error() string { return e.Text }
