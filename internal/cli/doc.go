// Package cli is the command line of AX: of the ax program, and of every program that calls axflow.Main, which
// has its flows built in.
//
// Every command that looks at AX or steers it asks the API: that of a server, or that of one in this process, which works on a
// database. With --json a command prints what the API answered.
//
// Exit codes: 0 done; 1 failed; 2 called wrongly; 3 the run that was waited for ended otherwise than succeeded;
// 4 the waiting ended before the run did; 5 no credential, or one that may not do this. A second signal ends the process at once with 130.
package cli
