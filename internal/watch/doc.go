// Package watch shows the progress of a run while it runs: redrawn in place in a terminal, one line a change
// elsewhere. It reads a Source and writes text; it changes nothing about the run.
package watch
