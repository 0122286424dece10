package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"axflow/api/gen"
)

// minPrefix is the least of a run's id, in hexadecimal digits, that names it.
const minPrefix = 8

// readRunID reads an id or the beginning of one: its digits in lower case, without hyphens.
func readRunID(text string) (string, error) {
	digits := strings.ToLower(strings.ReplaceAll(text, "-", ""))
	if digits == "" || strings.Trim(digits, "0123456789abcdef") != "" || len(digits) > 32 {
		return "", usagef("%q is no run's id: `run list` shows them", text)
	}
	if len(digits) < minPrefix {
		return "", usagef("%q is too short for a run's id: give at least %d digits", text, minPrefix)
	}
	return digits, nil
}

// findRun returns the run that an id or its unique beginning names.
func (s *session) findRun(ctx context.Context, text string) (uuid.UUID, error) {
	digits, err := readRunID(text)
	if err != nil {
		return uuid.Nil, err
	}
	if len(digits) == 32 {
		return uuid.Parse(digits)
	}
	most, begun := 2, hyphenated(digits)
	r, err := take(s.api.ListRunsWithResponse(ctx, &gen.ListRunsParams{Q: &begun, Limit: &most}))
	if err != nil {
		return uuid.Nil, err
	}
	switch ids := r.is.Items; len(ids) {
	case 0:
		return uuid.Nil, &hintedError{fmt.Errorf("no run's id begins with %s here", text), "`run list` shows them"}
	case 1:
		return ids[0].Id, nil
	default:
		return uuid.Nil, usagef("several runs' ids begin with %s (%s, %s, ...): give more digits", text, ids[0].Id, ids[1].Id)
	}
}

// hyphenated writes the beginning of an id as ids are written.
func hyphenated(digits string) string {
	var b strings.Builder
	for i, c := range digits {
		if i == 8 || i == 12 || i == 16 || i == 20 {
			b.WriteByte('-')
		}
		b.WriteRune(c)
	}
	return b.String()
}

// withRun is with for a command whose argument is a run.
func (a *app) withRun(cmd *cobra.Command, run string, do func(context.Context, *session, uuid.UUID) error) error {
	if _, err := readRunID(run); err != nil {
		return err
	}
	return a.with(cmd.Context(), func(ctx context.Context, s *session) error {
		id, err := s.findRun(ctx, run)
		if err != nil {
			return err
		}
		return do(ctx, s, id)
	})
}

// noStage says more about the error that something of a run was not found: whether it is the run, or which stages there are.
func (a *app) noStage(ctx context.Context, s *session, id uuid.UUID, stage string, err error) error {
	if !isCode(err, gen.ProblemCodeNotFound) {
		return err
	}
	r, lookErr := take(s.api.GetRunWithResponse(ctx, id))
	if lookErr != nil {
		return &hintedError{err, fmt.Sprintf("`%s run list` shows the runs there are", a.Name)}
	}
	names := make([]string, len(r.is.Stages))
	for i, x := range r.is.Stages {
		if names[i] = x.Name; x.Name == stage {
			return err
		}
	}
	return &hintedError{err, meant(stage, names) + "its stages are " + listed(names)}
}
