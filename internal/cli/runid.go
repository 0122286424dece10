package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"axflow/engine/control"
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
func findRun(ctx context.Context, c *control.Client, text string) (uuid.UUID, error) {
	digits, err := readRunID(text)
	if err != nil {
		return uuid.Nil, err
	}
	if len(digits) == 32 {
		return uuid.Parse(digits)
	}
	// Ids are listed downwards from an exclusive bound: those with the prefix are the first below its last.
	last := uuid.MustParse(digits + strings.Repeat("f", 32-len(digits)))
	rows, err := c.Runs(ctx, "", last, 2)
	if err != nil {
		return uuid.Nil, err
	}
	var ids []uuid.UUID
	for _, r := range rows {
		if strings.HasPrefix(strings.ReplaceAll(r.RunID.String(), "-", ""), digits) {
			ids = append(ids, r.RunID)
		}
	}
	switch len(ids) {
	case 0:
		return uuid.Nil, &control.Error{Code: control.CodeNotFound, Text: fmt.Sprintf("no run's id begins with %s here: `run list` shows them", text)}
	case 1:
		return ids[0], nil
	default:
		return uuid.Nil, usagef("several runs' ids begin with %s (%s, %s, ...): give more digits", text, ids[0], ids[1])
	}
}

func isNotFound(err error) bool {
	var refused *control.Error
	return errors.As(err, &refused) && refused.Code == control.CodeNotFound
}
