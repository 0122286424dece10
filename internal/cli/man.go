package cli

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

func (a *app) manCommand() *cobra.Command {
	return &cobra.Command{Use: "man FOLDER", Short: "Write the manual pages into a folder, one a command", Args: takes("FOLDER"),
		Example: "  " + a.Name + " man /usr/local/share/man/man1",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil { //nolint:gosec // manuals are for all
				return fmt.Errorf("writing manual pages: %w", err)
			}
			root := cmd.Root()
			root.DisableAutoGenTag = true
			at := time.Unix(0, 0).UTC() // the same pages each time
			if err := doc.GenManTree(root, &doc.GenManHeader{Title: a.Name, Section: "1", Source: "AX " + a.Version, Manual: "AX", Date: &at}, args[0]); err != nil {
				return fmt.Errorf("writing manual pages: %w", err)
			}
			a.say("the manual pages are in %s", args[0])
			return nil
		}}
}
