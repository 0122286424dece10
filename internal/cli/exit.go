package cli

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"axflow/api/client"
	"axflow/api/gen"
	"axflow/engine/control"
	"axflow/internal/watch"
)

// The exit codes.
const (
	ExitOK       = 0
	ExitFailure  = 1
	ExitUsage    = 2
	ExitRunEnded = 3 // the run has failed or was cancelled
	ExitDetached = 4 // the run goes on
	ExitRefused  = 5 // there is no credential that counts, or it may not do this
	ExitKilled   = 130
)

// exitCodes says them, for help.
const exitCodes = "0 done; 1 failed; 2 called wrongly; 3 the run that was waited for failed or was cancelled; " +
	"4 the waiting ended before the run; 5 no credential, or one that may not do this."

// usageError says that the command was called wrongly.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// coded is an error with an exit code of its own. Without a text it is silent: everything was said.
type coded struct {
	code int
	text string
}

func (e coded) Error() string { return e.text }

func exitCode(err error) int {
	var c coded
	var u usageError
	var refused *control.Error
	var p *client.Error
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &c):
		return c.code
	case errors.As(err, &u):
		return ExitUsage
	case errors.Is(err, watch.ErrDetached):
		return ExitDetached
	case errors.As(err, &refused) && (refused.Code == control.CodeInvalid || refused.Code == control.CodeTooLarge):
		return ExitUsage
	case errors.As(err, &p):
		return exitCodeOf(p.Code)
	default:
		return ExitFailure
	}
}

// exitCodeOf is that of what the API refused.
func exitCodeOf(code gen.ProblemCode) int {
	switch code {
	case gen.ProblemCodeInvalid, gen.ProblemCodeTooLarge:
		return ExitUsage
	case gen.ProblemCodeUnauthenticated, gen.ProblemCodeForbidden:
		return ExitRefused
	default:
		return ExitFailure
	}
}

// plainText is what is said of an error; "" when everything was said before.
func plainText(err error) string {
	var call *url.Error
	switch {
	case errors.Is(err, watch.ErrDetached):
		return ""
	case errors.Is(err, context.Canceled):
		return "interrupted"
	case errors.As(err, &call):
		at, _, _ := strings.Cut(call.URL, "/api/v1/")
		return harmless(fmt.Sprintf("asking %s: %v", at, call.Err))
	default:
		return harmless(err.Error())
	}
}
