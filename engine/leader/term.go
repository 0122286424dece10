package leader

import (
	"strconv"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

// Term is one leadership: the time from winning the lease to losing or resigning it. Copies share their
// state; all methods are safe for concurrent use, also after the term.
type Term struct {
	// Name is the lease's name and Epoch the term's number: what every transaction of the leader names in
	// its fence. Epochs of a lease rise by one from term to term, beginning with 1.
	Name  string
	Epoch int64
	// ApplicationName is what the leader's sessions must bear, so that a successor can end them when the
	// leader freezes inside a transaction: "ax-leader-<name>-<epoch>". See Configure.
	ApplicationName string

	ttl   time.Duration
	state *termState
}

type termState struct {
	begin    time.Time
	trust    atomic.Int64 // until when, in nanoseconds after begin
	renewals atomic.Uint64
	failures atomic.Uint64
}

func newTerm(cfg Config, epoch int64, begin time.Time) Term {
	return Term{
		Name:            cfg.Name,
		Epoch:           epoch,
		ApplicationName: sessionPrefix(cfg.Name) + strconv.FormatInt(epoch, 10),
		ttl:             cfg.TTL,
		state:           &termState{begin: begin},
	}
}

// sessionPrefix and an epoch are the application_name of that epoch's leader sessions.
func sessionPrefix(name string) string { return "ax-leader-" + name + "-" }

// Renewals counts this term's committed renewals; winning the lease is not one. Together with Failures it
// tells whether the database was answering in a span of time: Renewals grew, Failures did not.
func (t Term) Renewals() uint64 { return t.state.renewals.Load() }

// Failures counts this term's renewals that failed or whose answer was lost; after each the connection may
// have been a new one.
func (t Term) Failures() uint64 { return t.state.failures.Load() }

// TrustedUntil is when the leader stops trusting the lease unless it is renewed before: TTL less a fifth
// after the last committed renewal was sent. It carries a monotonic reading. The lease itself runs longer,
// whatever the delays and the machine's wall clock.
func (t Term) TrustedUntil() time.Time {
	return t.state.begin.Add(time.Duration(t.state.trust.Load()))
}

func (t Term) trustUntil(until time.Time) { t.state.trust.Store(int64(until.Sub(t.state.begin))) }

// Configure gives cfg the session settings that every connection on which the leader writes must have:
// the term's application_name, and a statement_timeout and idle_in_transaction_session_timeout of a third of
// the TTL, so that a leader frozen inside a transaction does not hold up its successor. For a pool, pass the
// ConnConfig of its config. Shorter time-outs may be set after.
func (t Term) Configure(cfg *pgx.ConnConfig) {
	for k, v := range t.Settings() {
		cfg.RuntimeParams[k] = v
	}
}

// Settings are the session settings that Configure sets.
func (t Term) Settings() map[string]string {
	limit := milliseconds(t.ttl / 3)
	return map[string]string{
		"application_name":                    t.ApplicationName,
		"statement_timeout":                   limit,
		"idle_in_transaction_session_timeout": limit,
	}
}

// milliseconds writes d as PostgreSQL's time-outs want it; never 0, which would switch them off.
func milliseconds(d time.Duration) string {
	return strconv.FormatInt(max(1, d.Milliseconds()), 10)
}
