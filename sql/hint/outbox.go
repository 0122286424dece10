package hint

import (
	"strings"

	"github.com/google/uuid"
)

const (
	engineChannel = "ax_engine"
	runChannel    = "ax_run"
	workerPrefix  = "ax_w_" // + the worker's id
	probePrefix   = "ax_p_" // + a random id for each connection of a listener

	// maxPayloads is how many payloads one flush may send to one channel; what needs more becomes a look.
	maxPayloads = 8
	// maxQueued is what waits for one channel at most, in bytes of payload.
	maxQueued = maxPayloads * (payloadRoom - leftCost)
	// maxWorkers is what waits for all workers at most, in bytes of payload.
	maxWorkers = 1 << 20
)

// lookEngine is what the leader hears when hints may have been lost.
var lookEngine = Engine{Look: true, Workers: true, Policies: true}

// channelOf is a prefix and the id's 32 hex digits.
func channelOf(prefix string, id uuid.UUID) string {
	return prefix + strings.ReplaceAll(id.String(), "-", "")
}

// payload is one NOTIFY.
type payload struct{ channel, text string }

// queued is what waits for one channel.
type queued struct {
	message
	bytes int // of its lists, at most; stays above maxQueued once it has collapsed
}

// room counts more bytes and says whether they still fit.
func (q *queued) room(bytes int) bool {
	q.bytes += bytes
	return q.bytes <= maxQueued
}

// outbox is what waits to be sent. Its memory is bounded: what grows too large collapses into "look".
type outbox struct {
	leader  queued
	runs    queued
	workers map[uuid.UUID]*queued
	bytes   int    // of all workers
	probe   string // channel of the listener's probe
}

func (o *outbox) engine(n Engine) {
	m := &o.leader.message
	m.Workers, m.Look, m.Policies = m.Workers || n.Workers, m.Look || n.Look, m.Policies || n.Policies
	if !o.leader.room(idCost*(len(n.Ready)+len(n.IDs)+len(n.Runs)) + stageCost*len(n.Stages) + leftCost*len(n.Left)) {
		*m = message{Workers: m.Workers, Policies: m.Policies, Look: true}
		return
	}
	for i := range n.Ready {
		m.Ready = append(m.Ready, wireID(n.Ready[i].ID))
	}
	m.Ready = appendIDs(m.Ready, n.IDs)
	m.Runs = appendIDs(m.Runs, n.Runs)
	for _, k := range n.Stages {
		m.Stages = append(m.Stages, wireStage{wireID(k.Run), k.Ord})
	}
	for _, l := range n.Left {
		m.Left = append(m.Left, wireLeft{wireID(l.Flight), l.Left, l.Done, l.Busy})
	}
}

func (o *outbox) worker(id uuid.UUID, n Worker) {
	q := o.workers[id]
	if q == nil {
		if o.workers == nil {
			o.workers = make(map[uuid.UUID]*queued)
		}
		q = new(queued)
		o.workers[id] = q
	}
	q.Asks = q.Asks || n.Asks
	bytes := idCost * (len(n.Flights) + len(n.IDs))
	if !q.room(bytes) {
		q.message = message{Asks: true} // a beat finds every flight
		return
	}
	for i := range n.Flights {
		q.Flights = append(q.Flights, wireID(n.Flights[i].ID))
	}
	q.Flights = appendIDs(q.Flights, n.IDs)
	if o.bytes += bytes; o.bytes > maxWorkers {
		o.bytes = 0
		for _, q := range o.workers {
			*q = queued{message: message{Asks: true}}
		}
	}
}

func (o *outbox) ended(ids []uuid.UUID) {
	if !o.runs.room(idCost * len(ids)) {
		o.look(runChannel)
		return
	}
	o.runs.Runs = appendIDs(o.runs.Runs, ids)
}

// look sends "look" to the leader or to those who wait for runs instead of all that waits for them.
func (o *outbox) look(channel string) {
	q := &o.leader
	if channel == runChannel {
		q = &o.runs
	}
	q.message, q.bytes = message{Look: true, Workers: q.Workers, Policies: q.Policies}, maxQueued+1
}

// take empties the outbox into payloads.
func (o *outbox) take() []payload {
	var out []payload
	add := func(channel string, m message) {
		for part := range m.split() {
			out = append(out, payload{channel, part.encode()})
		}
	}
	add(engineChannel, o.leader.message)
	add(runChannel, o.runs.message)
	for id, q := range o.workers {
		add(channelOf(workerPrefix, id), q.message)
	}
	if o.probe != "" {
		out = append(out, payload{channel: o.probe})
	}
	*o = outbox{}
	return out
}

// collapse replaces the payloads of every channel by one look, and forgets probes: their time is over.
func collapse(payloads []payload) []payload {
	seen := make(map[string]bool)
	kept := payloads[:0]
	for _, p := range payloads {
		if seen[p.channel] || isProbe(p) {
			continue
		}
		seen[p.channel] = true
		kept = append(kept, payload{p.channel, garbage.encode()})
	}
	clear(payloads[len(kept):])
	return kept
}

func isProbe(p payload) bool { return strings.HasPrefix(p.channel, probePrefix) }
