package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"axflow/bench/measure"
)

// turnLimit ends a program that hangs.
const turnLimit = 5 * time.Minute

// turn is one contestant: a program that ends with a result line.
type turn struct {
	program string
	args    []string
	// rename gives the fields of the result line that are kept and their names in ours.
	rename map[string]string
}

// play runs the turn against the server and gives its renamed fields.
func (t turn) play(ctx context.Context, server *measure.Server) (map[string]float64, error) {
	ctx, cancel := context.WithTimeout(ctx, turnLimit)
	defer cancel()
	name := filepath.Base(t.program)
	var out, problems bytes.Buffer
	cmd := exec.CommandContext(ctx, t.program, t.args...) //nolint:gosec // our own programs
	cmd.Env = append(os.Environ(), measure.URLVariable+"="+server.URL())
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("running %s %s: %w\n%s", name, strings.Join(t.args, " "), errors.Join(err, ctx.Err()), problems.Bytes())
	}
	line, err := measure.LastLine(out.Bytes())
	if err != nil {
		return nil, fmt.Errorf("after %s: %w", name, err)
	}
	return t.keep(name, line)
}

func (t turn) keep(name string, line map[string]float64) (map[string]float64, error) {
	kept := make(map[string]float64, len(t.rename))
	for from, to := range t.rename {
		v, ok := line[from]
		if !ok {
			return nil, fmt.Errorf("the result line of %s has no number %q", name, from)
		}
		kept[to] = v
	}
	return kept, nil
}

// contest plays the turns one after another, for the given number of rounds, and adds the ratios to the medians.
// progress takes a line after every turn.
func contest(ctx context.Context, server *measure.Server, turns []turn, rounds int, progress io.Writer) (map[string]float64, error) {
	medians, err := measure.Rounds(rounds, func(round int) (map[string]float64, error) {
		all := make(map[string]float64)
		for _, t := range turns {
			got, err := t.play(ctx, server)
			if err != nil {
				return nil, err
			}
			for _, key := range []string{"river_jobs_per_s", "ax_tasks_per_s", "ax_runs_per_s"} {
				if v, ok := got[key]; ok {
					_, _ = fmt.Fprintf(progress, "round %d of %d: %s %.0f\n", round+1, rounds, key, v)
				}
			}
			for k, v := range got {
				all[k] = v
			}
		}
		return all, nil
	})
	if err != nil {
		return nil, err
	}
	return withRatios(medians), nil
}

// withRatios adds AX's rates over River's, of medians.
func withRatios(m map[string]float64) map[string]float64 {
	for ratio, rate := range map[string]string{"ratio": "ax_tasks_per_s", "singles_ratio": "ax_runs_per_s"} {
		if v, ok := m[rate]; ok {
			m[ratio] = v / m["river_jobs_per_s"]
		}
	}
	return m
}
