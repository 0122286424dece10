package live

// A ring is at most so many frames and bytes. At four frames a second a run's is 16 seconds or more.
const (
	ringFrames = 64
	ringBytes  = 64 << 10
	feedFrames = 1024
	feedBytes  = 512 << 10
)

// entry is a frame of a tick.
type entry struct {
	seq   uint64
	frame frame
}

// ring keeps the newest frames of a topic. Every frame with a number above horizon is in it.
type ring struct {
	entries   []entry
	size      int
	horizon   uint64
	maxFrames int
	maxBytes  int
}

// add appends a frame; seq does not fall.
func (r *ring) add(seq uint64, f frame) {
	r.entries = append(r.entries, entry{seq, f})
	r.size += len(f)
	if len(r.entries) > r.maxFrames || r.size > r.maxBytes {
		r.shrink()
	}
}

// shrink drops the oldest frames down to three quarters of the bounds, so that it is seldom done.
func (r *ring) shrink() {
	n := 0
	for n < len(r.entries) && (len(r.entries)-n > r.maxFrames*3/4 || r.size > r.maxBytes*3/4) {
		r.size -= len(r.entries[n].frame)
		r.horizon = r.entries[n].seq
		n++
	}
	r.entries = append([]entry(nil), r.entries[n:]...)
}

// reset drops everything: whoever has not read up to seq must begin anew.
func (r *ring) reset(seq uint64) {
	r.entries, r.size, r.horizon = nil, 0, seq
}

// since returns the frames after seq; ok is false when some of them are gone. The slice is the ring's: it is read only until
// the next add.
func (r *ring) since(seq uint64) (after []entry, ok bool) {
	if seq < r.horizon {
		return nil, false
	}
	i := len(r.entries)
	for i > 0 && r.entries[i-1].seq > seq {
		i--
	}
	return r.entries[i:], true
}
