package metamorph

import (
	"context"
	"errors"
	"fmt"
	"time"

	"axflow/flow"
	"axflow/shard"
	"axflow/stage"
)

// params of every run: who it is, for its handlers.
type params struct {
	Run      int    `json:"run"`
	Customer string `json:"customer"`
}

// output of every task says whose it is.
type output struct {
	Run        int
	Stage      string
	Generation int
	Index      int
	Value      int
}

// built is a stage under construction: one of both.
type built struct {
	single  *stage.Stage[params, output]
	sharded *shard.Stage[params, output]
}

func (b built) node() stage.Node[params] {
	if b.single != nil {
		return b.single
	}
	return b.sharded
}

// build makes a real flow of a spec. Whose handlers run is asked of the cluster.
func (c *cluster) build(f *flowSpec) (def *flow.Flow[params], err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("flow %s: %v", f.Name, r)
		}
	}()
	made := make(map[string]built, len(f.Stages))
	var nodes []stage.Node[params]
	for i := range f.Stages {
		s := &f.Stages[i]
		var b built
		opts := c.options(s, made)
		switch s.Kind {
		case stage.Single:
			b.single = stage.New(s.Name, func(ctx context.Context, p params) (output, error) {
				return c.perform(ctx, s, p, f, made)
			}, opts...)
		case stage.Sharded:
			plan := func(ctx context.Context, p params) (shard.Plan, error) { return c.plan(ctx, s, p, f, made) }
			b.sharded = shard.New(s.Name, plan, func(ctx context.Context, p params, _ shard.Shard) (output, error) {
				return c.perform(ctx, s, p, f, made)
			}, opts...)
		case stage.Aligned:
			b.sharded = shard.Aligned(s.Name, made[s.Upstreams[0]].sharded, func(ctx context.Context, p params, _ shard.Shard) (output, error) {
				return c.perform(ctx, s, p, f, made)
			}, opts...)
		}
		for j, u := range s.Upstreams {
			if s.Kind == stage.Aligned && j == 0 || u == s.Teardown {
				continue
			}
			if b.single != nil {
				b.single.After(made[u].node())
			} else {
				b.sharded.After(made[u].node())
			}
		}
		made[s.Name] = b
		nodes = append(nodes, b.node())
	}
	return flow.New(f.Name, nodes...), nil
}

func (c *cluster) options(s *stageSpec, made map[string]built) []stage.Option {
	opts := []stage.Option{
		stage.WithRule(s.Rule),
		stage.Retry{MaxAttempts: s.Attempts, InitialInterval: s.Wait, BackoffCoefficient: 1.5, MaximumInterval: 4 * s.Wait, Jitter: stage.NoJitter},
		stage.Timeout{Execution: s.execution()},
		stage.Limit(s.Limit), stage.Delay(s.Delay),
	}
	add := func(when bool, o func() stage.Option) {
		if when {
			opts = append(opts, o())
		}
	}
	add(s.Level != nil, func() stage.Option { return stage.Priority(*s.Level) })
	add(s.Queue != "", func() stage.Option { return stage.Queue(s.Queue) })
	add(s.Disabled, stage.Disabled)
	add(s.SkipEmpty, stage.SkipWhenEmpty)
	add(s.Uninterruptible, stage.Uninterruptible)
	add(s.FailFast, stage.FailFast)
	add(s.Tolerate > 0, func() stage.Option { return stage.Tolerate(s.Tolerate) })
	add(s.TolerateShare > 0, func() stage.Option { return stage.TolerateShare(s.TolerateShare) })
	add(s.Key != nil, func() stage.Option { return *s.Key })
	add(s.Rate != nil, func() stage.Option { return *s.Rate })
	add(s.RetryWindow != nil, func() stage.Option { return *s.RetryWindow })
	add(s.Breaker != nil, func() stage.Option { return *s.Breaker })
	add(s.Teardown != "", func() stage.Option { return stage.Teardown(made[s.Teardown].node()) })
	add(s.When, func() stage.Option {
		return stage.When(func(ctx context.Context, p params) (bool, error) {
			info, ok := stage.InfoFrom(ctx)
			if !ok {
				return false, errors.New("the condition has no context of a task")
			}
			return s.wants(c.s.seed, p.Run, info.Generation), nil
		})
	})
	return opts
}

// The errors of handlers.
var (
	errScripted = errors.New("the script fails here")
	errInput    = errors.New("the input is wrong")
)

// perform is every handler.
func (c *cluster) perform(ctx context.Context, s *stageSpec, p params, f *flowSpec, made map[string]built) (output, error) {
	info, ok := stage.InfoFrom(ctx)
	if !ok {
		return output{}, errors.New("the handler has no context of a task")
	}
	end := c.book.start(ctx, p.Run, s, &info)
	defer end()
	if err := c.act(ctx, s, p, &info); err != nil {
		return output{}, err
	}
	if err := c.readUpstreams(ctx, s, p, f, made); err != nil {
		return output{}, err
	}
	return output{p.Run, s.Name, info.Generation, info.Index, s.value(c.s.seed, p.Run, info.Generation, info.Index)}, nil
}

// plan is every plan. Shards have keys, for limits by key.
func (c *cluster) plan(ctx context.Context, s *stageSpec, p params, f *flowSpec, made map[string]built) (shard.Plan, error) {
	info, ok := stage.InfoFrom(ctx)
	if !ok {
		return shard.Plan{}, errors.New("the plan has no context of a task")
	}
	end := c.book.start(ctx, p.Run, s, &info)
	defer end()
	if err := c.act(ctx, s, p, &info); err != nil {
		return shard.Plan{}, err
	}
	if err := c.readUpstreams(ctx, s, p, f, made); err != nil {
		return shard.Plan{}, err
	}
	n := s.shards(c.s.seed, p.Run, info.Generation)
	if s.Key == nil || s.Key.From != stage.ShardKey {
		return shard.N(n), nil
	}
	items := make([]int, n)
	for i := range items {
		items[i] = i
	}
	return shard.List(items, func(i int) string { return string(rune('x' + i%3)) }), nil
}

// act does what the script says.
func (c *cluster) act(ctx context.Context, s *stageSpec, p params, info *stage.Info) error {
	if d := s.takes(c.s.seed, p.Run, info.Generation, info.Index, info.Attempt); d > 0 {
		rest(ctx, d)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	switch s.deedOf(c.s.seed, p.Run, info.Generation, info.Index, info.Attempt) {
	case fail:
		return errScripted
	case permanent:
		return stage.Permanent(errScripted)
	case crash:
		panic(errScripted)
	case hang:
		<-ctx.Done()
		return context.Cause(ctx)
	case succeed:
	}
	return nil
}

// readUpstreams reads what comes before the stage and compares it with what must have been written. What is wrong fails the
// attempt for good, which the model then wonders about; a zombie's attempt counts for nothing.
func (c *cluster) readUpstreams(ctx context.Context, s *stageSpec, p params, f *flowSpec, made map[string]built) error {
	wrong := func(format string, args ...any) error {
		return stage.Permanent(fmt.Errorf("%w: %s", errInput, fmt.Sprintf(format, args...)))
	}
	info, _ := stage.InfoFrom(ctx)
	check := func(o output, name string, index int) error {
		u := f.stage(name)
		if o.Run == -1 { // an operator's word
			return nil
		}
		if o.Run != p.Run || o.Stage != name || o.Index != index || o.Value != u.value(c.s.seed, p.Run, o.Generation, index) {
			return wrong("index %d of stage %s of run %d is %+v", index, name, p.Run, o)
		}
		return nil
	}
	for j, name := range s.Upstreams {
		up := made[name]
		aligned := s.Kind == stage.Aligned && j == 0
		switch {
		case up.single != nil:
			o, err := insist(ctx, up.single.Output)
			switch {
			case errors.Is(err, stage.ErrNoOutput):
				if s.Rule == stage.AllSuccess && s.Teardown == "" {
					return wrong("stage %s has no output and must have succeeded", name)
				}
			case err != nil:
				return err
			default:
				if err := check(o, name, 0); err != nil {
					return err
				}
			}
		case aligned:
			o, err := insist(ctx, up.sharded.Output)
			if err != nil {
				return err
			}
			if err := check(o, name, info.Index); err != nil {
				return err
			}
		case s.Kind == stage.Single || info.Index == planIndex:
			last := -1
			for sh, o := range up.sharded.Outputs(ctx) {
				if sh.Index <= last {
					return wrong("shard %d of stage %s comes after shard %d", sh.Index, name, last)
				}
				last = sh.Index
				if err := check(o, name, sh.Index); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// insist reads until the database answers: cut connections are no business of the script.
func insist(ctx context.Context, read func(context.Context) (output, error)) (output, error) {
	for {
		o, err := read(ctx)
		if err == nil || errors.Is(err, stage.ErrNoOutput) || errors.Is(err, stage.ErrNotUpstream) || ctx.Err() != nil {
			return o, err
		}
		rest(ctx, 20*time.Millisecond)
	}
}
