// Command peers measures AX beside River (github.com/riverqueue/river), the fastest job queue on PostgreSQL that
// Go has, on one server, in one run, in turns: River, bench/shards, bench/singles, River, and so on. Each turn is
// a process of its own on a database of its own, after a checkpoint; results are medians over the rounds.
//
// It is a Go module of its own, so that River stays out of the product's go.mod. Run it here:
//
//	cd bench/peers && go run .
//
// The last line is JSON:
//
//	ratio                    shards' tasks_per_s over river_jobs_per_s
//	singles_ratio            singles' runs_per_s over river_jobs_per_s
//	ax_tasks_per_s           bench/shards: no-op shards of one stage
//	ax_runs_per_s            bench/singles: one-stage runs started in batches
//	river_jobs_per_s         no-op jobs, from the client's start to the commit of the last completion
//	river_wal_bytes_per_job  of working a job: its insertion is not in it, as a shard has none
//	river_commits_per_job    all committed transactions of working, read-only ones included
//	river_insert_per_s, river_insert_wal_bytes_per_job, river_cpu_us_per_job, river_server_cpu_us_per_job
//
// # River's settings
//
// The contest is only worth something against River at its best, so it has what its source and trials show to
// be fastest:
//
//   - The backlog is inserted first, with InsertManyFast (COPY), so that River neither inserts nor is notified
//     while it is measured. It is not charged for the insertion, neither time nor WAL, though AX is charged for
//     all of its own: bench/singles starts its runs inside the measured time.
//   - MaxWorkers 2,000, as in River's own `river bench`: a fetch asks for as many jobs as workers are free, so
//     this is the size of a fetch and what one round trip costs is shared by up to 2,000 jobs.
//   - FetchCooldown 5 ms. The cooldown bounds fetches to one per interval, and the default of 100 ms would bound
//     River to 20,000 jobs a second. A fetch of 2,000 jobs itself takes several times 5 ms; a shorter cooldown
//     only makes smaller fetches.
//   - FetchPollInterval 5 ms, the least that Config accepts with that cooldown (it may not be shorter). It is a
//     safety net: after a full fetch River fetches again by itself as soon as workers are free.
//   - Completions go through River's batch completer (what a client uses unless told otherwise): one UPDATE for up
//     to 5,000 jobs, at the latest every 250 ms.
//   - The no-op worker does nothing; no hooks, middleware, periodic jobs, uniqueness, tags or metadata. Completion is
//     seen through a subscription, as in `river bench`, which trials did not show to cost anything measurable.
//   - One client in one process, as AX. A second client on the queue was not faster on 2 cores.
//
// Trials on 2 cores (a shared machine; 60,000 jobs; 4 to 6 interleaved trials each, medians in jobs a second): the
// rate is a plateau, since PostgreSQL's CPU is the limit, at about 90 to 115 µs of both cores a job.
//
//	workers  cooldown  poll   clients  jobs/s
//	2,000    5 ms      5 ms   1        15,400
//	2,000    10 ms     10 ms  1        14,700
//	2,000    1 ms      1 ms   1        14,600
//	2,000    2 ms      20 ms  1        16,300  (what `river bench` uses)
//	5,000    5 ms      5 ms   1        14,700
//	1,000    5 ms      5 ms   1        13,600  (an earlier, busier hour, in which the first line had 13,100)
//	500      5 ms      5 ms   1        13,400  (the same hour)
//	2,000    5 ms      5 ms   2        13,900  (the same hour; a fifth more CPU a job)
//
// Flags change all of these.
package main
