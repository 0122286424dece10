package hint

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/google/uuid"

	"axflow/sql/span"
)

const (
	engineChannel = "ax_engine"
	runChannel    = "ax_run"
	workerPrefix  = "ax_w_"

	// maxPayload is below PostgreSQL's 8,000 bytes.
	maxPayload = 7800
	// maxPerPayload ids of 25 bytes each fit a payload.
	maxPerPayload = 280
	// maxQueued is how many items wait for one channel before they collapse into "look".
	maxQueued = 8 * maxPerPayload
)

// workerChannel is where a worker listens.
func workerChannel(id uuid.UUID) string {
	return workerPrefix + strings.ReplaceAll(id.String(), "-", "")
}

// message is a payload: JSON with one-letter names, ids in raw base64. Across processes only ids travel; the
// receiver reads the rest.
type message struct {
	Ready   []wireID    `json:"r,omitempty"` // ready rows
	Stages  []wireStage `json:"s,omitempty"`
	Left    []wireLeft  `json:"l,omitempty"`
	Runs    []wireID    `json:"u,omitempty"`
	Flights []wireID    `json:"f,omitempty"`
	Workers bool        `json:"w,omitempty"`
	Asks    bool        `json:"a,omitempty"`
	Look    bool        `json:"k,omitempty"`
}

type wireID uuid.UUID

func (w wireID) MarshalText() ([]byte, error) {
	return base64.RawURLEncoding.AppendEncode(nil, w[:]), nil
}

func (w *wireID) UnmarshalText(text []byte) error {
	raw, err := base64.RawURLEncoding.AppendDecode(nil, text)
	if err != nil {
		return err
	}
	id, err := uuid.FromBytes(raw)
	*w = wireID(id)
	return err
}

type wireStage struct {
	Run wireID `json:"r"`
	Ord int16  `json:"o"`
}

type wireLeft struct {
	Flight wireID `json:"f"`
	Left   int    `json:"l,omitempty"`
	Done   int    `json:"d,omitempty"`
	Busy   int64  `json:"b,omitempty"` // ns
}

// payload is one NOTIFY.
type payload struct{ channel, text string }

// outbox is what waits to be sent, by channel.
type outbox struct {
	engines message
	queued  int
	runs    []wireID
	allRuns bool
	workers map[uuid.UUID]*message
}

func (o *outbox) engine(n Engine) {
	m := &o.engines
	m.Workers, m.Look = m.Workers || n.Workers, m.Look || n.Look
	o.queued += len(n.Ready) + len(n.IDs) + len(n.Stages) + len(n.Left) + len(n.Runs)
	if o.queued > maxQueued {
		// Progress of flights is all that a look does not find at once, and the next report brings it again.
		*m = message{Workers: m.Workers, Look: true}
		return
	}
	for _, r := range n.Ready {
		m.Ready = append(m.Ready, wireID(r.ID))
	}
	for _, id := range n.IDs {
		m.Ready = append(m.Ready, wireID(id))
	}
	for _, k := range n.Stages {
		m.Stages = append(m.Stages, wireStage{wireID(k.Run), k.Ord})
	}
	for _, l := range n.Left {
		m.Left = append(m.Left, wireLeft{wireID(l.Flight), l.Left, l.Done, int64(l.Busy)})
	}
	for _, id := range n.Runs {
		m.Runs = append(m.Runs, wireID(id))
	}
}

func (o *outbox) worker(id uuid.UUID, n Worker) {
	if o.workers == nil {
		o.workers = make(map[uuid.UUID]*message)
	}
	m := o.workers[id]
	if m == nil {
		m = new(message)
		o.workers[id] = m
	}
	m.Asks = m.Asks || n.Asks
	if len(m.Flights)+len(n.Flights)+len(n.IDs) > maxQueued {
		*m = message{Asks: true} // a beat finds every flight
		return
	}
	for _, a := range n.Flights {
		m.Flights = append(m.Flights, wireID(a.ID))
	}
	for _, f := range n.IDs {
		m.Flights = append(m.Flights, wireID(f))
	}
}

func (o *outbox) ended(ids []uuid.UUID) {
	if o.allRuns = o.allRuns || len(o.runs)+len(ids) > maxQueued; o.allRuns {
		o.runs = nil
		return
	}
	for _, id := range ids {
		o.runs = append(o.runs, wireID(id))
	}
}

// take empties the outbox into payloads.
func (o *outbox) take() []payload {
	var out []payload
	for _, m := range o.engines.split() {
		out = append(out, payload{engineChannel, m.encode()})
	}
	if o.allRuns {
		out = append(out, payload{runChannel, message{Look: true}.encode()})
	}
	for _, m := range (message{Runs: o.runs}).split() {
		out = append(out, payload{runChannel, m.encode()})
	}
	for id, m := range o.workers {
		for _, part := range m.split() {
			out = append(out, payload{workerChannel(id), part.encode()})
		}
	}
	*o = outbox{}
	return out
}

// split cuts a message into ones that fit a payload.
func (m message) split() []message {
	var parts []message
	part, room := message{Workers: m.Workers, Asks: m.Asks, Look: m.Look}, maxPayload-64
	used := part.Workers || part.Asks || part.Look
	add := func(cost int, put func()) {
		if room < cost {
			parts = append(parts, part)
			part, room = message{}, maxPayload-64
		}
		put()
		room -= cost
		used = true
	}
	const id, stage, left = 26, 48, 100
	for _, x := range m.Ready {
		add(id, func() { part.Ready = append(part.Ready, x) })
	}
	for _, x := range m.Stages {
		add(stage, func() { part.Stages = append(part.Stages, x) })
	}
	for _, x := range m.Left {
		add(left, func() { part.Left = append(part.Left, x) })
	}
	for _, x := range m.Runs {
		add(id, func() { part.Runs = append(part.Runs, x) })
	}
	for _, x := range m.Flights {
		add(id, func() { part.Flights = append(part.Flights, x) })
	}
	if used {
		parts = append(parts, part)
	}
	return parts
}

func (m message) encode() string {
	text, err := json.Marshal(m)
	if err != nil { // only strings, numbers and booleans: it cannot fail
		return `{"k":true}`
	}
	return string(text)
}

// decode reads a payload; one that means nothing is a look.
func decode(text string) (m message, ok bool) {
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		return message{Look: true, Asks: true}, false
	}
	return m, true
}

func (m message) toEngine() Engine {
	n := Engine{Workers: m.Workers, Look: m.Look, IDs: ids(m.Ready), Runs: ids(m.Runs)}
	for _, s := range m.Stages {
		n.Stages = append(n.Stages, span.StageKey{Run: uuid.UUID(s.Run), Ord: s.Ord})
	}
	for _, l := range m.Left {
		n.Left = append(n.Left, Left{Flight: uuid.UUID(l.Flight), Left: l.Left, Done: l.Done, Busy: duration(l.Busy)})
	}
	return n
}

func ids(w []wireID) []uuid.UUID {
	if len(w) == 0 {
		return nil
	}
	out := make([]uuid.UUID, len(w))
	for i, id := range w {
		out[i] = uuid.UUID(id)
	}
	return out
}
