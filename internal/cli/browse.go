package cli

import (
	"context"
	"os/exec"
	"runtime"
)

// browse opens an address in the user's browser, as the system does. The browser outlives the command.
func browse(ctx context.Context, url string) error {
	name, args := browser(runtime.GOOS, url)
	cmd := exec.CommandContext(context.WithoutCancel(ctx), name, args...)
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}

// browser is the program that opens an address on a system.
func browser(system, url string) (name string, args []string) {
	switch system {
	case "darwin":
		return "open", []string{url}
	case "windows":
		return "rundll32", []string{"url.dll,FileProtocolHandler", url}
	default:
		return "xdg-open", []string{url}
	}
}
