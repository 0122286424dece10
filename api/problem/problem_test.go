package problem_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/puddle/v2"

	"axflow/api/gen"
	"axflow/api/problem"
	"axflow/engine/control"
	axsql "axflow/sql"
)

func TestErrorsBecomeProblems(t *testing.T) {
	state := func(code string) error {
		return fmt.Errorf("reading: %w", &pgconn.PgError{Code: code, Message: `relation "hush" does not exist`})
	}
	for name, c := range map[string]struct {
		err    error
		code   gen.ProblemCode
		status int
		retry  string
		logged bool
	}{
		"a refusal":               {fmt.Errorf("x: %w", problem.Field("limit", "too great")), "invalid", 422, "", false},
		"control: invalid":        {&control.Error{Code: control.CodeInvalid, Text: "t"}, "invalid", 422, "", false},
		"control: not found":      {&control.Error{Code: control.CodeNotFound, Text: "t"}, "not_found", 404, "", false},
		"control: conflict":       {&control.Error{Code: control.CodeConflict, Text: "t"}, "conflict", 409, "", false},
		"control: too large":      {&control.Error{Code: control.CodeTooLarge, Text: "t"}, "too_large", 413, "", false},
		"control: overloaded":     {&control.Error{Code: control.CodeOverloaded, Text: "t", RetryAfter: 1500 * time.Millisecond}, "overloaded", 429, "2", false},
		"control: what is new":    {&control.Error{Code: "new", Text: "hush"}, "internal", 500, "", true},
		"too slow":                {fmt.Errorf("hush: %w", context.DeadlineExceeded), "timeout", 504, "", true},
		"statement_timeout":       {state("57014"), "timeout", 504, "", true},
		"lock_timeout":            {state("55P03"), "timeout", 504, "", true},
		"shut down":               {state("57P01"), "unavailable", 503, "2", true},
		"starting":                {state("57P03"), "unavailable", 503, "2", true},
		"too many connections":    {state("53300"), "unavailable", 503, "2", true},
		"a deadlock":              {state("40P01"), "unavailable", 503, "2", true},
		"read only":               {state("25006"), "unavailable", 503, "2", true},
		"no such table":           {state("42P01"), "internal", 500, "", true},
		"a constraint":            {state("23505"), "internal", 500, "", true},
		"no such character":       {state("22021"), "invalid", 422, "", true},
		"an odd state":            {state(""), "internal", 500, "", true},
		"no connection":           {&net.OpError{Op: "dial", Err: errors.New("hush refused")}, "unavailable", 503, "2", true},
		"a connection cut":        {fmt.Errorf("hush: %w", io.ErrUnexpectedEOF), "unavailable", 503, "2", true},
		"a pool that is closed":   {puddle.ErrClosedPool, "unavailable", 503, "2", true},
		"an old schema":           {axsql.ErrSchemaOlder, "unavailable", 503, "2", true},
		"a client that is gone":   {context.Canceled, "internal", 500, "", true},
		"what nobody thought of":  {errors.New("hush"), "internal", 500, "", true},
		"a joined error":          {errors.Join(errors.New("hush"), problem.New(gen.ProblemCodeNotFound, "t")), "not_found", 404, "", false},
		"less than a second away": {&problem.Error{Code: gen.ProblemCodeRateLimited, RetryAfterS: 0.02}, "rate_limited", 429, "1", false},
	} {
		p := problem.From(c.err)
		if p.Code != c.code || p.HTTPStatus() != c.status || p.RetryAfter() != c.retry || (p.Cause != nil) != c.logged {
			t.Errorf("%s: %s %d %q, cause %v; want %s %d %q, a cause: %t", name, p.Code, p.HTTPStatus(), p.RetryAfter(), p.Cause, c.code, c.status, c.retry, c.logged)
		}
		body := p.Body("id")
		if body.Detail != nil && strings.Contains(*body.Detail, "hush") || body.Title == "" || body.Type != "/api/docs#"+string(c.code) || *body.Instance != "id" {
			t.Errorf("%s: the body is %+v", name, body)
		}
	}
}
