// Mutants breaks the code on purpose, one place at a time, and sees whether the tests notice.
//
// The list (mutants.txt beside this file) says what to break and which tests must fail; see parse for its form. Each
// mutant is applied to a scratch copy of the work tree, sqlc runs anew when an SQL file was touched, and the tests
// run. A mutant that the tests pass with has survived: the program then ends with status 1. It prints a Markdown
// table for docs/testing.md on standard output and its progress on standard error.
//
//	go run ./scripts/mutants            all of them
//	go run ./scripts/mutants -only fence   those with "fence" in their names
//	go run ./scripts/mutants -check     only see whether the list fits the sources
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if errors.Is(err, flag.ErrHelp) {
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out, progress io.Writer) error {
	flags := flag.NewFlagSet("mutants", flag.ContinueOnError)
	flags.SetOutput(progress)
	root := flags.String("root", ".", "the module's root folder")
	list := flags.String("list", "", "the list of mutants (default scripts/mutants/mutants.txt below the root)")
	only := flags.String("only", "", "run only the mutants whose names contain this")
	check := flags.Bool("check", false, "only see whether every mutant's text is in its file once")
	timeout := flags.Duration("timeout", 5*time.Minute, "how long the tests of one mutant may take; a mutant that hangs is killed")
	race := flags.Bool("race", false, "run the tests with the race detector")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *list == "" {
		*list = filepath.Join(*root, "scripts", "mutants", "mutants.txt")
	}
	text, err := os.ReadFile(*list)
	if err != nil {
		return fmt.Errorf("reading the list: %w", err)
	}
	mutants, err := parse(string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", *list, err)
	}
	if *only != "" {
		var chosen []mutant
		for _, m := range mutants {
			if strings.Contains(m.name, *only) {
				chosen = append(chosen, m)
			}
		}
		mutants = chosen
	}
	if len(mutants) == 0 {
		return errors.New("no mutant to run")
	}
	if err := fit(*root, mutants); err != nil {
		return err
	}
	if *check {
		_, err := fmt.Fprintf(out, "%d mutants fit the sources\n", len(mutants))
		return err
	}
	lab, err := openLab(ctx, *root, *timeout, *race, progress)
	if err != nil {
		return err
	}
	defer lab.close()
	if err := lab.baseline(ctx, mutants); err != nil {
		return err
	}
	var results []result
	var survivors []string
	var faults []error
	for i, m := range mutants {
		r, err := lab.try(ctx, m)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			err = fmt.Errorf("mutant %q: %w", m.name, err)
			faults = append(faults, err)
			if _, err := fmt.Fprintf(progress, "%d/%d %v\n", i+1, len(mutants), err); err != nil {
				return err
			}
			continue
		}
		results = append(results, r)
		if r.killer == "" {
			survivors = append(survivors, m.name)
		}
		if _, err := fmt.Fprintf(progress, "%d/%d %s: %s (%s)\n", i+1, len(mutants), m.name, r.verdict(), r.took.Round(time.Second/10)); err != nil {
			return err
		}
	}
	if err := table(out, results); err != nil {
		return err
	}
	if len(survivors) > 0 {
		faults = append(faults, fmt.Errorf("%d of %d mutants survived: %s", len(survivors), len(mutants), strings.Join(survivors, ", ")))
	}
	return errors.Join(faults...)
}
