// Package pgtest gives every test a real PostgreSQL database of its own.
//
// One ephemeral server serves a whole test binary and starts with the first New; the kernel's closing of the
// process's files stops and removes it, so that no TestMain is needed and a killed test leaves nothing behind.
// A database is a clone of a template that was migrated once.
//
// AX_TEST_DATABASE_URL names a server to use instead: its role must be a superuser, and tests that restart the
// server use Own, which always starts one.
package pgtest
