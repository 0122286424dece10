package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"axflow/bench/measure"
)

type options struct {
	river                   contestant
	rounds                  int
	only                    string
	shardsArgs, singlesArgs string
	once                    bool // play River's turn: how peers runs itself
}

func parse(args []string) (options, error) {
	var o options
	f := flag.NewFlagSet("peers", flag.ContinueOnError)
	f.IntVar(&o.rounds, "rounds", 3, "rounds, of which the medians are the result")
	f.IntVar(&o.river.jobs, "jobs", 60_000, "jobs in River's backlog")
	f.IntVar(&o.river.workers, "workers", 2000, "River's MaxWorkers")
	f.IntVar(&o.river.clients, "clients", 1, "River's clients, all in one process")
	f.IntVar(&o.river.connections, "connections", 10, "connections in the pool of River's clients")
	f.DurationVar(&o.river.cooldown, "cooldown", 5*time.Millisecond, "River's FetchCooldown")
	f.DurationVar(&o.river.poll, "poll", 5*time.Millisecond, "River's FetchPollInterval")
	f.StringVar(&o.only, "only", "", "play only these turns: a comma-separated list of river, shards, singles")
	f.StringVar(&o.shardsArgs, "shards-args", "-rounds 1 -floor=false", "arguments for bench/shards")
	f.StringVar(&o.singlesArgs, "singles-args", "-rounds 1 -latency=false", "arguments for bench/singles")
	f.BoolVar(&o.once, "river-once", false, "only River, one round, in this process")
	if err := f.Parse(args); err != nil {
		return options{}, err
	}
	for _, l := range []struct {
		name             string
		value, low, high int
	}{
		{"rounds", o.rounds, 1, 1000},
		{"jobs", o.river.jobs, 1, 100_000_000},
		{"workers", o.river.workers, 1, 10_000}, // River's own limit
		{"clients", o.river.clients, 1, 16},
		{"connections", o.river.connections, 4 * o.river.clients, 150},
	} {
		if l.value < l.low || l.value > l.high {
			return options{}, fmt.Errorf("-%s is %d: give a value from %d to %d", l.name, l.value, l.low, l.high)
		}
	}
	if o.river.poll < o.river.cooldown {
		return options{}, fmt.Errorf("-poll is %s: River wants it no shorter than -cooldown, %s", o.river.poll, o.river.cooldown)
	}
	return o, nil
}

func (o options) turns(self, dir string) (all []turn, programs []string, err error) {
	names := []string{"river", "shards", "singles"}
	if o.only != "" {
		names = strings.Split(o.only, ",")
	}
	for _, name := range names {
		t := turn{program: filepath.Join(dir, name)}
		switch name {
		case "river":
			t.program = self
			t.args = []string{"-river-once", "-jobs", strconv.Itoa(o.river.jobs), "-workers", strconv.Itoa(o.river.workers),
				"-clients", strconv.Itoa(o.river.clients), "-connections", strconv.Itoa(o.river.connections),
				"-cooldown", o.river.cooldown.String(), "-poll", o.river.poll.String()}
			t.rename = make(map[string]string)
			for _, k := range []string{"jobs_per_s", "wal_bytes_per_job", "commits_per_job", "cpu_us_per_job",
				"server_cpu_us_per_job", "insert_per_s", "insert_wal_bytes_per_job"} {
				t.rename[k] = "river_" + k
			}
		case "shards":
			t.args = strings.Fields(o.shardsArgs)
			t.rename = map[string]string{"tasks_per_s": "ax_tasks_per_s"}
		case "singles":
			t.args = strings.Fields(o.singlesArgs)
			t.rename = map[string]string{"runs_per_s": "ax_runs_per_s"}
		default:
			return nil, nil, fmt.Errorf("-only names %q: the turns are river, shards and singles", name)
		}
		if name != "river" {
			programs = append(programs, name)
		}
		all = append(all, t)
	}
	return all, programs, nil
}

func run(ctx context.Context, args []string, log *slog.Logger) (err error) {
	o, err := parse(args)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "ax-peers-")
	if err != nil {
		return fmt.Errorf("making a folder for the programs: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this program's file: %w", err)
	}
	turns, programs, err := o.turns(self, dir)
	if err != nil {
		return err
	}
	if len(programs) > 0 && !o.once {
		if err := build(ctx, dir, programs...); err != nil {
			return err
		}
	}
	server, err := measure.Open(ctx, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	var fields map[string]float64
	if o.once {
		fields, err = o.river.work(ctx, server, log)
	} else {
		fields, err = contest(ctx, server, turns, o.rounds, os.Stderr)
	}
	if err != nil {
		return err
	}
	return measure.PrintLine(os.Stdout, fields)
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	if err := run(ctx, os.Args[1:], log); err != nil && !errors.Is(err, flag.ErrHelp) {
		log.Error("peers", "err", err)
		os.Exit(1) //nolint:gocritic // nothing is left to stop
	}
}
