// Package cli is the command line of AX: of the ax program, and of every program that calls axflow.Main, which
// has its flows built in.
//
// Exit codes: 0 done; 1 failed; 2 called wrongly; 3 the run that was waited for ended otherwise than succeeded;
// 4 the waiting ended before the run did. A second signal ends the process at once with 130.
package cli
