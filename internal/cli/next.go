package cli

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"axflow/api/client"
	"axflow/api/gen"
	"axflow/internal/watch"
	axsql "axflow/sql"
)

// next says what to do about an error whose text does not say it.
func (a *app) next(err error, command string) string {
	var u usageError
	var hinted *hintedError
	var connect *pgconn.ConnectError
	var p *client.Error
	switch {
	case errors.As(err, &hinted):
		return hinted.next
	case errors.As(err, &u):
		return fmt.Sprintf("`%s --help`", command)
	case errors.Is(err, axsql.ErrSchemaOlder):
		return fmt.Sprintf("`%s migrate`", a.Name)
	case errors.As(err, &connect):
		return "see that PostgreSQL runs there, and that --database-url or AX_DATABASE_URL is right"
	case errors.As(err, &p):
		return a.nextOf(p, command)
	default:
		return a.nextOfCall(err)
	}
}

// nextOf says what to do about what the API refused.
func (a *app) nextOf(p *client.Error, command string) string {
	again := "try again"
	if p.RetryAfterS != nil {
		again = fmt.Sprintf("try again in %s", watch.Duration(time.Duration(*p.RetryAfterS*float64(time.Second))))
	}
	switch p.Code {
	case gen.ProblemCodeInvalid, gen.ProblemCodeTooLarge:
		return fmt.Sprintf("`%s --help`", command)
	case gen.ProblemCodeUnauthenticated:
		return fmt.Sprintf("give a token that counts, by %s, --token-file or a profile; an administrator makes one with `%s token create`", envToken, a.Name)
	case gen.ProblemCodeForbidden:
		return fmt.Sprintf("`%s me` tells what this credential may do; ask an administrator for one that may do this", a.Name)
	case gen.ProblemCodeConflict:
		return "look how it stands now, and decide again"
	case gen.ProblemCodeOverloaded:
		return again + fmt.Sprintf("; `%s queue list` shows how full the queues are", a.Name)
	case gen.ProblemCodeRateLimited:
		return again
	case gen.ProblemCodeUnavailable, gen.ProblemCodeTimeout:
		return again + fmt.Sprintf("; `%s doctor` looks for what is wrong", a.Name)
	case gen.ProblemCodeInternal:
		if p.Instance != nil {
			return fmt.Sprintf("the server's log has the cause, under request %s", *p.Instance)
		}
		return "the server's log has the cause"
	case gen.ProblemCodeNotFound:
		if strings.Count(a.asked.url, "/") > 2 {
			return "see that " + a.asked.url + " is the server's URL: it ends with its name and port, unless a proxy adds a path"
		}
		return ""
	default:
		return ""
	}
}

// nextOfCall says what to do when a server could not be asked.
func (a *app) nextOfCall(err error) string {
	var call *url.Error
	if !errors.As(err, &call) || errors.Is(err, context.Canceled) {
		return ""
	}
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	var record tls.RecordHeaderError
	switch {
	case errors.As(err, &authority):
		return "have this machine trust the server's certificate: SSL_CERT_FILE names a file with its authority's"
	case errors.As(err, &host):
		return "name the server as its certificate does"
	case errors.As(err, &record), strings.Contains(err.Error(), "HTTP response to HTTPS client"):
		return "the server speaks plain HTTP: name it with http://, or have it speak TLS"
	case strings.Contains(err.Error(), "redirects to"):
		return ""
	default:
		return fmt.Sprintf("see that a server runs there (`%s server`), and that --url, %s or the profile is right", a.Name, envURL)
	}
}

// hintedError is an error whose cure is known where it happened.
type hintedError struct {
	err  error
	next string
}

func (e *hintedError) Error() string { return e.err.Error() }
func (e *hintedError) Unwrap() error { return e.err }

// isCode tells whether the API refused with a code.
func isCode(err error, code gen.ProblemCode) bool {
	var p *client.Error
	return errors.As(err, &p) && p.Code == code
}
