package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// paramFlag is the flag that sets a field of the params.
type paramFlag struct {
	field  field
	values []json.RawMessage
}

// Set takes a value.
func (p *paramFlag) Set(text string) error {
	raw, err := p.field.read(text)
	if err != nil {
		return err
	}
	if !p.field.array {
		p.values = p.values[:0]
	}
	p.values = append(p.values, raw)
	return nil
}

// String is nothing: help says the default itself.
func (p *paramFlag) String() string { return "" }

// Type is what help calls the value.
func (p *paramFlag) Type() string {
	switch p.field.kind {
	case "":
		return "json"
	case "integer":
		return "int"
	case "boolean":
		return "bool"
	default:
		return p.field.kind
	}
}

// read makes JSON of a flag's value, as its type asks.
func (f field) read(text string) (json.RawMessage, error) {
	if f.nullable && text == "null" {
		return json.RawMessage(text), nil
	}
	if len(f.enum) > 0 && !slices.Contains(f.enum, text) {
		return nil, usagef("it is none of %s%s", listed(f.enum), didYouMean(text, f.enum))
	}
	switch f.kind {
	case "string":
		return json.Marshal(text)
	case "integer":
		n, ok := new(big.Int).SetString(text, 10)
		if !ok {
			return nil, usagef("%q is no whole number", text)
		}
		return json.RawMessage(n.String()), nil
	case "number":
		n, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
			return nil, usagef("%q is no number", text)
		}
		return json.Marshal(n)
	case "boolean":
		b, err := strconv.ParseBool(text)
		if err != nil {
			return nil, usagef("%q is neither true nor false", text)
		}
		return json.Marshal(b)
	default:
		if json.Valid([]byte(text)) {
			return json.RawMessage(text), nil
		}
		return json.Marshal(text)
	}
}

// addParams gives a command a flag for each field that none of its own flags has the name of, and returns them; clashes are the fields
// that --param alone can set.
func addParams(cmd *cobra.Command, fields []field) (flags []*paramFlag, clashes []string) {
	for _, f := range fields {
		name := f.name()
		if cmd.Flags().Lookup(name) != nil || cmd.InheritedFlags().Lookup(name) != nil || name == "help" {
			clashes = append(clashes, name)
			continue
		}
		p := &paramFlag{field: f}
		flag := cmd.Flags().VarPF(p, name, "", f.usage())
		if f.kind == "boolean" && !f.array {
			flag.NoOptDefVal = "true"
		}
		if len(f.enum) > 0 {
			_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(f.enum, cobra.ShellCompDirectiveNoFileComp)) // it fails for a flag that is not there
		}
		flags = append(flags, p)
	}
	return flags, clashes
}

// usageOf writes help with the params' flags apart from the command's own.
func (s *starting) usageOf(name string) func(*cobra.Command) error {
	return func(cmd *cobra.Command) error {
		params, own := pflag.NewFlagSet("", pflag.ContinueOnError), pflag.NewFlagSet("", pflag.ContinueOnError)
		cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if _, ok := f.Value.(*paramFlag); ok {
				params.AddFlag(f)
			} else {
				own.AddFlag(f)
			}
		})
		var b strings.Builder
		fmt.Fprintf(&b, "Usage:\n  %s\n\nExamples:\n%s\n", cmd.UseLine(), cmd.Example)
		if params.HasFlags() {
			fmt.Fprintf(&b, "\nParams of %s:\n%s", name, params.FlagUsages())
		}
		for _, clash := range s.clashes {
			fmt.Fprintf(&b, "  (%s is set by --param %s=…: there is a flag of that name)\n", clash, clash)
		}
		fmt.Fprintf(&b, "\nFlags:\n%s\nGlobal Flags:\n%s", own.FlagUsages(), cmd.InheritedFlags().FlagUsages())
		_, err := io.WriteString(cmd.OutOrStderr(), b.String())
		return err
	}
}

// setFields puts what flags have set into the params.
func setFields(params map[string]json.RawMessage, flags []*paramFlag) error {
	for _, p := range flags {
		if len(p.values) == 0 {
			continue
		}
		raw := p.values[0]
		if p.field.array {
			var err error
			if raw, err = json.Marshal(p.values); err != nil {
				return err
			}
		}
		if err := setPath(params, p.field.path, raw); err != nil {
			return usagef("--%s: %w", p.field.name(), err)
		}
	}
	return nil
}

// setPath sets a value in nested objects, making those that are not there.
func setPath(object map[string]json.RawMessage, path []string, raw json.RawMessage) error {
	if len(path) == 1 {
		object[path[0]] = raw
		return nil
	}
	inner := map[string]json.RawMessage{}
	if was, ok := object[path[0]]; ok && string(was) != "null" {
		if err := json.Unmarshal(was, &inner); err != nil {
			return usagef("the params given have %q, which is no object", path[0])
		}
	}
	if err := setPath(inner, path[1:], raw); err != nil {
		return err
	}
	var err error
	object[path[0]], err = json.Marshal(inner)
	return err
}

var _ pflag.Value = (*paramFlag)(nil)
