package control

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// logPlace is how far a reader of a run's lines has come.
//
// Lines become visible after they were logged, and not in order: workers store them in batches, a worker that cannot reach the
// database stores them minutes later. A reader that remembered the last line that it has seen would miss those. It remembers
// what was visible instead, as PostgreSQL's snapshots say it: since is what it has seen all of, upto what it is reading. Whatever
// upto shows and since does not is news, however old, and each line is news once.
//
// The first time, since is nothing and lines come in the order of their ids, which is that of time; later in that of the
// transactions that stored them, and within a page in that of time.
type logPlace struct {
	since, upto snapshot
	pastTx      uint64    // the last line read of upto; counts only with since
	past        uuid.UUID // likewise
}

// snapshot is what transactions can be seen: those before xmax that are not in open. The zero value sees none and means none.
type snapshot struct {
	xmin, xmax uint64
	open       []uint64
}

// maxSnapshot bounds a written snapshot, in bytes, so that two and the rest fit into a cursor.
const maxSnapshot = 150

func (s snapshot) none() bool { return s.xmax == 0 }

// parseSnapshot reads PostgreSQL's text.
func parseSnapshot(text string) (s snapshot, err error) {
	parts := strings.Split(text, ":")
	if len(parts) != 3 {
		return s, fmt.Errorf("%q is no snapshot", text)
	}
	number := func(text string) uint64 {
		n, e := strconv.ParseUint(text, 10, 64)
		err = errors.Join(err, e)
		return n
	}
	s.xmin, s.xmax = number(parts[0]), number(parts[1])
	if parts[2] != "" {
		for x := range strings.SplitSeq(parts[2], ",") {
			s.open = append(s.open, number(x))
		}
	}
	return s, err
}

// String is PostgreSQL's text.
func (s snapshot) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d:%d:", s.xmin, s.xmax)
	for i, x := range s.open {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.FormatUint(x, 10))
	}
	return b.String()
}

// short is a snapshot that can be written: where very many transactions are open, one that sees only what came before most of
// them. What it does not see is news the next time.
func (s snapshot) short() snapshot {
	for len(s.append(nil)) > maxSnapshot {
		k := len(s.open) * 3 / 4
		s.xmax, s.open = s.open[k], s.open[:k]
	}
	return s
}

func (s snapshot) append(b []byte) []byte {
	b = binary.AppendUvarint(b, s.xmin)
	b = binary.AppendUvarint(b, s.xmax-s.xmin)
	b = binary.AppendUvarint(b, uint64(len(s.open)))
	last := s.xmin
	for _, x := range s.open {
		b = binary.AppendUvarint(b, x-last)
		last = x
	}
	return b
}

// sound tells whether PostgreSQL takes the snapshot.
func (s snapshot) sound() bool {
	return s.none() && s.xmin == 0 && len(s.open) == 0 ||
		uint32(s.xmin) != 0 && uint32(s.xmax) != 0 && s.xmin <= s.xmax && s.xmax < 1<<62 && // the low half is an xid, of which 0 is none
			slices.IsSorted(s.open) && (len(s.open) == 0 || s.open[0] >= s.xmin && s.open[len(s.open)-1] < s.xmax)
}

// placeVersion begins every place, should their form change.
const placeVersion = 1

func (p logPlace) encode() []byte {
	b := p.upto.append(p.since.append([]byte{placeVersion}))
	b = binary.AppendUvarint(b, p.pastTx)
	return append(b, p.past[:]...)
}

var errPlace = &Error{Code: CodeInvalid, Field: "cursor", Text: "this is no place in a run's logs: pass the one of the page before, or begin again without"}

// decodePlace reads a place that somebody may have made up; an empty one is the beginning.
func decodePlace(b []byte) (p logPlace, err error) {
	if len(b) == 0 {
		return p, nil
	}
	number := func() uint64 {
		n, size := binary.Uvarint(b)
		if size <= 0 || n >= 1<<62 {
			err, b = errPlace, nil
			return 0
		}
		b = b[size:]
		return n
	}
	read := func() (s snapshot) {
		s.xmin = number()
		s.xmax = s.xmin + number()
		n := number()
		if n > maxSnapshot {
			err = errPlace
			return s
		}
		last := s.xmin
		for range n {
			last += number()
			s.open = append(s.open, last)
			if last >= s.xmax {
				err = errPlace
				return s
			}
		}
		return s
	}
	if b[0] != placeVersion {
		return p, errPlace
	}
	b = b[1:]
	p.since, p.upto = read(), read()
	p.pastTx = number()
	if err != nil || len(b) != len(p.past) || !p.since.sound() || !p.upto.sound() || p.since.none() && p.upto.none() {
		return p, errPlace
	}
	p.past = uuid.UUID(b)
	return p, nil
}
