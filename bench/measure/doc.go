// Package measure is what the bench programs share: one PostgreSQL with one set of settings for every
// contestant (Open), what a contestant cost on it (Watch), the bare-SQL floor (Floor), medians, percentiles and
// the final JSON line.
//
// A bench measures a durable system: fsync, synchronous_commit and full_page_writes are on, whoever runs.
package measure
