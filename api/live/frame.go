package live

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// The kinds of frames.
const (
	eventSnapshot = "snapshot"
	eventDelta    = "delta"
	eventRun      = "run"
	eventLost     = "lost"
	eventBye      = "bye"
)

// beat is a comment that keeps the connection.
const beat = ": beat\n\n"

// frame is one event as it is sent, but for its id and the empty line at its end.
type frame []byte

// encode makes a frame of v's JSON, which has no line breaks.
func encode(event string, v any) (frame, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encoding a frame %s: %w", event, err)
	}
	f := make(frame, 0, len("event: \ndata: \n")+len(event)+len(data))
	f = append(append(append(f, "event: "...), event...), "\ndata: "...)
	return append(append(f, data...), '\n'), nil
}

// formatID is the id of the frames up to seq.
func formatID(boot string, seq uint64) string { return boot + "-" + strconv.FormatUint(seq, 10) }

// parseID reads an id of this boot.
func parseID(boot, id string) (seq uint64, ok bool) {
	number, ok := strings.CutPrefix(id, boot+"-")
	if !ok {
		return 0, false
	}
	seq, err := strconv.ParseUint(number, 10, 64)
	return seq, err == nil
}
