package cli

import "github.com/spf13/cobra"

func (a *app) runCommand() *cobra.Command {
	return a.group("run", "Start runs, look at them, steer them",
		a.startCommand(), a.listCommand(), a.showCommand(), a.watchCommand(), a.logsCommand(), a.resultCommand(), a.paramsCommand(), a.outputCommand(),
		a.failuresCommand(), a.journalCommand(), a.cancelCommand(), a.pauseCommand(), a.resumeCommand(), a.retryCommand(), a.rerunCommand(), a.skipCommand(),
		a.succeedCommand(), a.levelCommand(), a.expediteCommand(), a.demoteCommand())
}
