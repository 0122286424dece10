// Package sql owns the schema: migrations, partitions, the connection settings that the statements rely on,
// and the leader's fence. The statements themselves are in queries/, compiled by sqlc into package db; the
// transactions that move work between the tables are in package span.
package sql
