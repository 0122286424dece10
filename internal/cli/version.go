package cli

import (
	"runtime"

	"github.com/spf13/cobra"
)

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Say which version this is",
		Args:  takes(),
		RunE: func(*cobra.Command, []string) error {
			a.say("%s %s, %s, %s/%s", a.Name, a.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			for _, f := range a.Flows {
				a.say("  flow %s, version %s, %d stages", f.Name(), f.Version(), len(f.Defs()))
			}
			return nil
		},
	}
}
