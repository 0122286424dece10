package client

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxLine bounds a line of an event stream: a snapshot of 2,000 stages is some 500 kB.
const maxLine = 16 << 20

// frame is one event of a stream. id is the newest that the stream has named, in this frame or before.
type frame struct {
	event, id string
	data      []byte
}

// readFrames reads an event stream as the HTML standard says, and hands on each event; one without data is an id alone. alive is told
// of every line. It returns take's first error, and io.ErrUnexpectedEOF at the end of the stream, which has none of its own.
func readFrames(r io.Reader, alive func(), take func(frame) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 4096), maxLine)
	var f frame
	for lines.Scan() {
		alive()
		line := lines.Bytes()
		if len(line) == 0 {
			if err := take(f); err != nil {
				return err
			}
			f = frame{id: f.id}
			continue
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(name) {
		case "event":
			f.event = string(value)
		case "id":
			if id := string(value); !strings.Contains(id, "\x00") {
				f.id = id
			}
		case "data":
			if f.data != nil {
				f.data = append(f.data, '\n')
			}
			f.data = append(append([]byte{}, f.data...), value...)
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return fmt.Errorf("a line of the event stream is longer than %d bytes", maxLine)
	case err != nil:
		return fmt.Errorf("reading the event stream: %w", err)
	}
	return io.ErrUnexpectedEOF
}
