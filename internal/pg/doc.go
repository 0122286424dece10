// Package pg runs a PostgreSQL server that needs no set-up: it finds the binaries (or fetches them as a last
// resort), makes a data folder once, listens on a unix socket and on loopback only, and stops the server when
// the last process that uses it is gone, however that process ended.
//
// Two things keep a shared server honest, both released by the kernel when a process dies: a shared flock on
// the folder's "users" file counts who uses the server, and a FIFO that every user holds open tells a small
// watcher beside the server that nobody is left.
//
// It works on Linux, macOS and the BSDs. Elsewhere Start says so; set AX_DATABASE_URL there.
package pg
