package span

import "axflow/sql/pipe"

// BoundIdle is the statement after which PostgreSQL ends the session, and with it the open transaction, when its
// client does not speak for 6 s: the time after which a silent worker counts as dead. A process that is stopped
// while it holds flights and stages locked would otherwise keep the leader, which locks them too, from seizing
// anybody's work. The leader's own sessions have a shorter limit.
const BoundIdle = "SET LOCAL idle_in_transaction_session_timeout = '6s'"

// begin begins a transaction that holds its locks over more than one round trip.
func begin(p *pipe.Pipe) {
	p.Text("begin")
	p.Text(BoundIdle)
}
