package live

import (
	"encoding/json"
	"strings"

	"github.com/google/uuid"

	apiclient "axflow/api/client"
	"axflow/api/gen"
)

// failer is a *testing.T or a *rapid.T.
type failer interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// reading is what a client has made of the text of streams.
type reading struct {
	runs  map[uuid.UUID]*gen.LiveRun
	told  map[uuid.UUID]gen.Run
	lost  int
	bye   string
	last  string // id
	kinds []string
}

func newReading() *reading {
	return &reading{runs: make(map[uuid.UUID]*gen.LiveRun), told: make(map[uuid.UUID]gen.Run)}
}

// take reads text, or only its first cut frames if cut is not below 0.
func (r *reading) take(t failer, text string, cut int) {
	t.Helper()
	for _, block := range strings.Split(text, "\n\n") {
		fields := make(map[string]string)
		for line := range strings.SplitSeq(block, "\n") {
			name, value, ok := strings.Cut(line, ": ")
			if ok && name != "" {
				fields[name] = value
			}
		}
		if fields["event"] == "" {
			if id, ok := fields["id"]; ok {
				r.last = id
			}
			continue
		}
		if cut == 0 {
			return
		}
		cut--
		r.frame(t, fields["event"], []byte(fields["data"]))
		if id, ok := fields["id"]; ok {
			r.last = id
		}
	}
}

func (r *reading) frame(t failer, event string, data []byte) {
	t.Helper()
	r.kinds = append(r.kinds, event)
	must := func(to any) {
		t.Helper()
		if err := json.Unmarshal(data, to); err != nil {
			t.Fatalf("frame %s %s: %v", event, data, err)
		}
	}
	switch event {
	case eventSnapshot, eventDelta:
		live := new(gen.LiveRun)
		must(live)
		if r.runs[live.Id] == nil {
			if event == eventDelta {
				t.Fatalf("a delta of a run that the client does not have: %s", data)
			}
			r.runs[live.Id] = new(gen.LiveRun)
		}
		apiclient.Merge(r.runs[live.Id], apiclient.Event{Kind: apiclient.EventKind(event), Live: live})
	case eventRun:
		var told gen.Run
		must(&told)
		r.told[told.Id] = told
	case eventLost:
		r.lost++
	case eventBye:
		var said struct {
			Reason string `json:"reason"`
		}
		must(&said)
		r.bye = said.Reason
	default:
		t.Fatalf("a frame %q", event)
	}
}
