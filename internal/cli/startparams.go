package cli

import (
	"context"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"axflow/api/gen"
	"axflow/flow"
)

// foresee gives `run start FLOW` the flags of the flow's params before anything is parsed, so that parsing, help and completion know
// them like any other. For that it looks for the flow in the arguments and asks for its schema. What goes wrong on the way is an error only if
// the command is to be run.
func (a *app) foresee(ctx context.Context, root *cobra.Command, args []string) error {
	completing := len(args) > 0 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd)
	if completing {
		args = args[1:]
	}
	helping := len(args) > 0 && args[0] == "help"
	if helping {
		args = args[1:]
	}
	cmd, rest, err := root.Find(args)
	if err != nil || cmd.Name() != "start" || cmd.Parent() == nil || cmd.Parent().Name() != "run" {
		return nil
	}
	name, help, ok := flowAmong(cmd, rest)
	if !ok {
		return nil
	}
	quiet := completing || helping || help
	if quiet { // the flags are an extra there
		stderr := a.Stderr
		a.Stderr = io.Discard
		defer func() { a.Stderr = stderr }()
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, patience)
		defer cancel()
	}
	err = a.learn(ctx, cmd, name)
	if quiet {
		return nil
	}
	return err
}

// flowAmong finds the flow in a command line whose flags are not all known yet.
func flowAmong(cmd *cobra.Command, args []string) (name string, help, ok bool) {
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Usage = func() {}
	f.ParseErrorsAllowlist.UnknownFlags = true
	f.BoolVarP(&help, "help", "h", false, "")
	(&starting{}).add(f)
	f.AddFlagSet(cmd.InheritedFlags()) // their values are set here, and again to the same
	if f.Parse(args) != nil || f.NArg() != 1 {
		return "", help, false
	}
	return f.Arg(0), help, true
}

// learn reads the flow's schema and adds the flags. The session stays open for the command.
func (a *app) learn(ctx context.Context, cmd *cobra.Command, name string) error {
	cmd.SetUsageFunc(a.starting.usageOf(name))
	def := a.builtIn(name)
	if def != nil {
		a.starting.fields = fieldsOf(def.Graph().ParamsSchema)
	}
	s, err := a.openSession(ctx)
	if err != nil {
		if def != nil {
			a.starting.flags, a.starting.clashes = addParams(cmd, a.starting.fields)
		}
		return err
	}
	a.session = s
	switch {
	case def != nil && s.local != nil:
		v, err := s.local.Register(ctx, def)
		if err != nil {
			return err
		}
		a.starting.version = v.Hash
	case def == nil:
		r, err := take(s.api.GetParamsSchemaWithResponse(ctx, name, &gen.GetParamsSchemaParams{}))
		if err != nil {
			return a.noFlow(ctx, s, name, err)
		}
		a.starting.fields = fieldsOf(*r.is)
	}
	a.starting.flow = name
	a.starting.flags, a.starting.clashes = addParams(cmd, a.starting.fields)
	return nil
}

func (a *app) builtIn(name string) flow.Definition {
	for _, f := range a.Flows {
		if f.Name() == name {
			return f
		}
	}
	return nil
}

// noFlow says more about the error that a flow was not found: which there are.
func (a *app) noFlow(ctx context.Context, s *session, name string, err error) error {
	if !isCode(err, gen.ProblemCodeNotFound) {
		return err
	}
	most := maxPage
	r, listErr := take(s.api.ListFlowsWithResponse(ctx, &gen.ListFlowsParams{Limit: &most}))
	if listErr != nil {
		return err
	}
	names := make([]string, len(r.is.Items))
	for i, f := range r.is.Items {
		names[i] = f.Name
	}
	if len(names) == 0 {
		return &hintedError{err, "there is no flow at all: start a worker that has it"}
	}
	return &hintedError{err, meant(name, names) + "there are " + listed(names) + "; or start a worker that has it"}
}
