package cli

import (
	"context"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"axflow/api/gen"
)

// completer proposes what an argument may be, given those before it: each a word, or a word, a tab and what it means.
type completer func(ctx context.Context, s *session, args []string, begun string) []string

// patience is how long completing may take: who waits for longer has typed on.
const patience = 2 * time.Second

// completing makes the shell's question out of a completer. What goes wrong proposes nothing.
func (a *app) completing(c completer) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if c == nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return a.proposals(cmd, func(ctx context.Context, s *session) []string { return c(ctx, s, args, begun) }, begun), cobra.ShellCompDirectiveNoFileComp
	}
}

func (a *app) proposals(cmd *cobra.Command, ask func(context.Context, *session) []string, begun string) []string {
	ctx, cancel := context.WithTimeout(cmd.Context(), patience)
	defer cancel()
	quiet := a.Stderr
	a.Stderr = io.Discard
	defer func() { a.Stderr = quiet }()
	var all []string
	_ = a.with(ctx, func(ctx context.Context, s *session) error { all = ask(ctx, s); return nil }) // no proposals, then
	var fit []string
	for _, x := range all {
		if strings.HasPrefix(x, begun) {
			fit = append(fit, x)
		}
	}
	return fit
}

// completeFlag has a flag's values proposed.
func (a *app) completeFlag(cmd *cobra.Command, flag string, c completer) {
	_ = cmd.RegisterFlagCompletionFunc(flag, a.completing(c)) // it fails for a flag that is not there
}

// nth picks the completer of the argument that is being typed.
func nth(each ...completer) completer {
	return func(ctx context.Context, s *session, args []string, begun string) []string {
		if len(args) >= len(each) || each[len(args)] == nil {
			return nil
		}
		return each[len(args)](ctx, s, args, begun)
	}
}

// fixed proposes words.
func fixed(words ...string) completer {
	return func(context.Context, *session, []string, string) []string { return words }
}

// flowNames proposes flows.
func flowNames(ctx context.Context, s *session, _ []string, _ string) []string {
	most := maxPage
	r, err := take(s.api.ListFlowsWithResponse(ctx, &gen.ListFlowsParams{Limit: &most}))
	if err != nil {
		return nil
	}
	names := make([]string, len(r.is.Items))
	for i, f := range r.is.Items {
		names[i] = f.Name
		if d := value(f.Description); d != "" {
			names[i] += "\t" + oneLine(d)
		}
	}
	return names
}

// recentRuns proposes the newest runs that fit what was begun.
func recentRuns(ctx context.Context, s *session, _ []string, begun string) []string {
	most := 50
	p := gen.ListRunsParams{Limit: &most}
	if len(begun) >= minPrefix {
		p.Q = &begun
	}
	r, err := take(s.api.ListRunsWithResponse(ctx, &p))
	if err != nil {
		return nil
	}
	ids := make([]string, len(r.is.Items))
	for i, x := range r.is.Items {
		ids[i] = x.Id.String() + "\t" + x.Flow + ", " + string(x.State) + ", " + age(&x.CreatedAt)
	}
	return ids
}

// stagesOf proposes the stages of the run that the first argument names.
func stagesOf(ctx context.Context, s *session, args []string, _ string) []string {
	if len(args) == 0 {
		return nil
	}
	id, err := s.findRun(ctx, args[0])
	if err != nil {
		return nil
	}
	r, err := take(s.api.GetRunWithResponse(ctx, id))
	if err != nil {
		return nil
	}
	names := make([]string, len(r.is.Stages))
	for i, x := range r.is.Stages {
		names[i] = x.Name + "\t" + words(string(x.State))
	}
	return names
}

// queueNames proposes queues.
func queueNames(ctx context.Context, s *session, _ []string, _ string) []string {
	r, err := take(s.api.ListQueuesWithResponse(ctx))
	if err != nil {
		return nil
	}
	names := make([]string, len(r.is.Items))
	for i, q := range r.is.Items {
		names[i] = q.Name
	}
	return names
}
