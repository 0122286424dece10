package hint

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/google/uuid"

	"axflow/sql/span"
)

const (
	// maxPayload is in bytes; PostgreSQL takes less than 8,000.
	maxPayload = 7900
	// payloadRoom is what a payload holds beside its braces, names and flags, which take 72 bytes at most.
	payloadRoom = maxPayload - 72

	// The greatest lengths of list entries with their commas.
	idCost    = len(`"0123456789012345678901",`)
	stageCost = len(`{"r":"0123456789012345678901","o":-32768},`)
	leftCost  = len(`{"f":"0123456789012345678901","l":9223372036854775807,"d":9223372036854775807,"b":9223372036854775807},`)
)

// message is a payload: a JSON object with one-letter names and without what is empty; ids are 22 characters of URL-safe
// base64 without padding (RFC 4648, section 5). Across processes only ids travel; the receiver reads the rest. A receiver
// that does not understand all of a payload takes it for a look, so that versions may be mixed.
type message struct {
	Ready    []wireID    `json:"r,omitempty"` // ready rows
	Stages   []wireStage `json:"s,omitempty"`
	Left     []wireLeft  `json:"l,omitempty"`
	Runs     []wireID    `json:"u,omitempty"` // to the leader: to look at; to waiters: ended
	Flights  []wireID    `json:"f,omitempty"`
	Workers  bool        `json:"w,omitempty"`
	Asks     bool        `json:"a,omitempty"`
	Policies bool        `json:"p,omitempty"`
	Look     bool        `json:"k,omitempty"`
}

type wireID uuid.UUID

// MarshalText gives 22 characters.
func (w wireID) MarshalText() ([]byte, error) {
	return base64.RawURLEncoding.AppendEncode(make([]byte, 0, 22), w[:]), nil
}

// UnmarshalText takes nothing but what MarshalText gives.
func (w *wireID) UnmarshalText(text []byte) error {
	var raw [18]byte // room for what a longer text decodes to
	if len(text) != 22 {
		return errors.New("an id must have 22 characters")
	}
	n, err := base64.RawURLEncoding.Strict().Decode(raw[:], text)
	if err != nil {
		return err
	}
	if n != len(w) { // Decode skips line ends
		return errors.New("an id must have 16 bytes")
	}
	copy(w[:], raw[:])
	return nil
}

type wireStage struct {
	Run wireID `json:"r"`
	Ord int16  `json:"o"`
}

type wireLeft struct {
	Flight wireID        `json:"f"`
	Left   int           `json:"l,omitempty"`
	Done   int           `json:"d,omitempty"`
	Busy   time.Duration `json:"b,omitempty"` // ns
}

// garbage is what a payload that cannot be read means, to whomever it came.
var garbage = message{Look: true, Workers: true, Asks: true, Policies: true}

// empty says that the message says nothing.
func (m message) empty() bool {
	return len(m.Ready)+len(m.Stages)+len(m.Left)+len(m.Runs)+len(m.Flights) == 0 && !m.Workers && !m.Asks && !m.Look && !m.Policies
}

// split cuts a message into ones that fit a payload; none when it is empty.
func (m message) split() iter.Seq[message] {
	return func(yield func(message) bool) {
		for rest := m; !rest.empty(); {
			part := message{Workers: rest.Workers, Asks: rest.Asks, Look: rest.Look, Policies: rest.Policies}
			rest.Workers, rest.Asks, rest.Look, rest.Policies = false, false, false, false
			room := payloadRoom
			part.Left = cut(&rest.Left, leftCost, &room)
			part.Stages = cut(&rest.Stages, stageCost, &room)
			part.Ready = cut(&rest.Ready, idCost, &room)
			part.Runs = cut(&rest.Runs, idCost, &room)
			part.Flights = cut(&rest.Flights, idCost, &room)
			if !yield(part) {
				return
			}
		}
	}
}

// cut takes what fits into room from the front of a list.
func cut[T any](list *[]T, cost int, room *int) []T {
	n := min(len(*list), *room/cost)
	part := (*list)[:n:n]
	*list = (*list)[n:]
	*room -= n * cost
	return part
}

func (m message) encode() string {
	text, err := json.Marshal(m)
	if err != nil { // only strings, numbers and booleans: it cannot fail
		return `{"w":true,"a":true,"k":true}`
	}
	return string(text)
}

// decode reads a payload; one that cannot be read in full, or says nothing, is garbage.
func decode(text string) (m message, ok bool) {
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil || m.empty() {
		return garbage, false
	}
	if _, err := d.Token(); err != io.EOF {
		return garbage, false
	}
	for _, l := range m.Left {
		if l.Left < 0 || l.Done < 0 || l.Busy < 0 {
			return garbage, false
		}
	}
	return m, true
}

func (m message) toEngine() Engine {
	n := Engine{Workers: m.Workers, Look: m.Look, Policies: m.Policies, IDs: ids(m.Ready), Runs: ids(m.Runs)}
	for _, s := range m.Stages {
		n.Stages = append(n.Stages, span.StageKey{Run: uuid.UUID(s.Run), Ord: s.Ord})
	}
	for _, l := range m.Left {
		n.Left = append(n.Left, Left{Flight: uuid.UUID(l.Flight), Left: l.Left, Done: l.Done, Busy: l.Busy})
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

func appendIDs(w []wireID, ids []uuid.UUID) []wireID {
	for _, id := range ids {
		w = append(w, wireID(id))
	}
	return w
}
