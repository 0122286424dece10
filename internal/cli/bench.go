package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"axflow/engine/control"
	"axflow/flow"
	"axflow/shard"
	"axflow/sql/versions"
	"axflow/stage"
)

// benchNamespace keeps what bench does apart.
const benchNamespace = "ax-bench"

// benching is what bench was asked, and what it has measured.
type benching struct {
	shards, runs int
	yes, json    bool
	began        chan time.Time // a handler has
}

// benchParams are those of bench's flows.
type benchParams struct {
	Shards int `json:"shards,omitempty"`
}

// benched is what bench answers.
type benched struct {
	ShardsPerSecond float64 `json:"shards_per_second"`
	Shards          int     `json:"shards"`
	StartP50MS      float64 `json:"start_p50_ms"`
	StartP99MS      float64 `json:"start_p99_ms"`
	Starts          int     `json:"starts"`
}

func (a *app) benchCommand() *cobra.Command {
	var b benching
	cmd := &cobra.Command{Use: "bench", Short: "Measure this database and machine: shards that do nothing, and starts", Args: takes(),
		Long: "Measure this database and machine with an engine and a worker in this process: how many shards that do nothing run a second, and how long it takes\n" +
			"from the start of a run to its handler.\n\nIt writes: some hundred bytes a shard, in the namespace " + benchNamespace + ", which stay until their retention ends. It takes what the database has to\n" +
			"give from others. If another engine leads, that one is measured. So it asks for --yes unless the database is the embedded one.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if b.shards < 1 || b.shards > shard.MaxShards || b.runs < 1 || b.runs > 10_000 {
				return usagef("--shards is 1 to %d and --runs 1 to 10000", shard.MaxShards)
			}
			return a.bench(cmd.Context(), &b)
		}}
	f := cmd.Flags()
	f.IntVar(&b.shards, "shards", 200_000, "how many shards")
	f.IntVar(&b.runs, "runs", 200, "how many starts, one after another")
	f.BoolVar(&b.yes, "yes", false, "yes, on this database")
	f.BoolVar(&b.json, "json", false, "answer in JSON")
	return cmd
}

func (a *app) bench(ctx context.Context, b *benching) error {
	t, err := a.target()
	if err != nil {
		return err
	}
	if t.remote() {
		return usagef("bench needs a database: it runs an engine and a worker; name one with --database-url")
	}
	log, err := a.logger(a.Stderr, slog.LevelError)
	if err != nil {
		return err
	}
	d, err := a.databaseAt(ctx, t.databaseURL, found, log)
	if err != nil {
		return err
	}
	defer d.close(ctx)
	if d.server == nil && !b.yes {
		return usagef("bench writes to %s and takes its power from others: call it with --yes if that is meant", d.where)
	}
	b.began = make(chan time.Time, 1)
	flows := b.flows()
	p, err := a.Open(ctx, OpenConfig{DatabaseURL: d.url, Namespace: benchNamespace, Engine: true, Flows: flows, PollOnly: a.flags.pollOnly, Logger: log})
	if err != nil {
		return err
	}
	defer p.Close()
	runCtx, stop := context.WithCancel(ctx)
	ran := make(chan error, 1)
	go func() { ran <- p.Run(runCtx) }()
	result, err := b.measure(ctx, p.Client(), flows)
	stop()
	if err := errors.Join(err, <-ran); err != nil {
		return err
	}
	if b.json {
		return a.jsonOf(result)
	}
	a.say("%.0f shards a second (%d that do nothing)", result.ShardsPerSecond, result.Shards)
	a.say("from start to handler: half within %.1f ms, 99 %% within %.1f ms (%d runs)", result.StartP50MS, result.StartP99MS, result.Starts)
	return nil
}

// flows are one of shards and one of a stage that tells when it begins.
func (b *benching) flows() []flow.Definition {
	many := shard.New("noop", func(_ context.Context, p benchParams) (shard.Plan, error) { return shard.N(p.Shards), nil },
		func(context.Context, benchParams, shard.Shard) (struct{}, error) { return struct{}{}, nil })
	one := stage.New("noop", func(context.Context, benchParams) (struct{}, error) {
		select {
		case b.began <- time.Now():
		default: // an attempt again
		}
		return struct{}{}, nil
	})
	return []flow.Definition{flow.New("ax-bench-shards", many), flow.New("ax-bench-start", one)}
}

func (b *benching) measure(ctx context.Context, c *control.Client, flows []flow.Definition) (benched, error) {
	var v [2]*versions.Version
	for i, def := range flows {
		var err error
		if v[i], err = c.Register(ctx, def); err != nil {
			return benched{}, err
		}
	}
	if _, err := b.start(ctx, c, v[1]); err != nil { // once an engine leads and the worker is known
		return benched{}, err
	}
	took := make([]time.Duration, b.runs)
	for i := range took {
		var err error
		if took[i], err = b.start(ctx, c, v[1]); err != nil {
			return benched{}, err
		}
	}
	slices.Sort(took)
	began := time.Now()
	started, err := c.Start(ctx, control.Batch{Trigger: "bench"}, []control.Start{{Version: v[0], Params: fmt.Appendf(nil, `{"shards":%d}`, b.shards)}})
	if err != nil {
		return benched{}, err
	}
	if state, err := c.Wait(ctx, started[0].Run); err != nil || state != stage.RunSucceeded {
		return benched{}, errors.Join(err, fmt.Errorf("the run of shards is %s", state))
	}
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	return benched{ShardsPerSecond: float64(b.shards) / time.Since(began).Seconds(), Shards: b.shards,
		StartP50MS: ms(took[len(took)/2]), StartP99MS: ms(took[min(len(took)-1, len(took)*99/100)]), Starts: len(took)}, nil
}

// start starts a run and returns how long it took until its handler ran.
func (b *benching) start(ctx context.Context, c *control.Client, v *versions.Version) (time.Duration, error) {
	began := time.Now()
	started, err := c.Start(ctx, control.Batch{Trigger: "bench"}, []control.Start{{Version: v, Params: []byte("{}")}})
	if err != nil {
		return 0, err
	}
	select {
	case at := <-b.began:
		_, err := c.Wait(ctx, started[0].Run)
		return at.Sub(began), err
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}
