package main

import (
	"fmt"
	"io"
	"strings"
)

// table prints the results in Markdown.
func table(out io.Writer, results []result) error {
	killed := 0
	text := &strings.Builder{}
	text.WriteString("| Mutant | File | Verdict |\n|---|---|---|\n")
	for _, r := range results {
		verdict := "**survived**"
		if r.killer != "" {
			killed++
			verdict = "killed by `" + r.killer + "`"
		}
		fmt.Fprintf(text, "| %s | `%s` | %s |\n", strings.ReplaceAll(r.name, "|", `\|`), r.file, verdict)
	}
	_, err := fmt.Fprintf(out, "%s\n%d of %d killed.\n", text, killed, len(results))
	return err
}
