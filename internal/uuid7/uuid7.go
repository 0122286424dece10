// Package uuid7 mints UUIDs of version 7 (RFC 9562, section 5.7) from a clock that is passed in, so that
// ids can follow the database's time instead of the machine's.
package uuid7

import (
	"encoding/binary"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
)

// Minter makes ids that rise: each is greater, as bytes and as PostgreSQL compares uuids, than every id
// that the same Minter made before, also when its clock stands still or goes back. It is safe for
// concurrent use and does not lock.
//
// The layout is method 3 of RFC 9562, section 6.2: 48 bits of Unix milliseconds, 12 bits of the fraction
// of that millisecond (so a tick is 1/4096 ms), 62 random bits. When the clock has not moved past the last
// id's tick, the last tick plus one is used; that runs ahead of the clock only beyond 4,096,000 ids a
// second. After the clock has gone back, ids keep the highest time seen until the clock has caught up: an
// id's time is that of its minting or later, never earlier.
type Minter struct {
	now    func() time.Time
	random func() uint64
	last   atomic.Int64 // ticks of 1/4096 ms since 1970
}

// New returns a Minter on the given clock. random must return uniform 64-bit values and be safe for
// concurrent use; nil means the runtime's generator (ChaCha8, seeded by the system), which is meant for
// ids that nobody must be able to repeat by accident. Ids are never authority.
func New(now func() time.Time, random func() uint64) *Minter {
	if random == nil {
		random = rand.Uint64
	}
	return &Minter{now: now, random: random}
}

// Mint returns the next id.
func (m *Minter) Mint() uuid.UUID { return m.MintAt(m.now()) }

// MintAt returns the next id, reading the time t instead of the Minter's clock. Ids of Mint and MintAt
// rise together: a t that is in the past of the last id gives an id right after that one. Times before
// 1970 count as 1970; the format ends in the year 10889.
func (m *Minter) MintAt(t time.Time) uuid.UUID {
	// floor(ns * 4096 / 1e6) of the fraction, exactly: 4096/1e6 = 64/15625.
	tick := max(0, t.UnixMilli()<<12|int64(t.Nanosecond()%1e6)*64/15625)
	for {
		last := m.last.Load()
		next := max(tick, last+1)
		if m.last.CompareAndSwap(last, next) {
			return assemble(uint64(next), m.random())
		}
	}
}

// Time is the time in an id, to the millisecond, in UTC. For ids of other versions it means nothing.
func Time(id uuid.UUID) time.Time {
	return time.UnixMilli(int64(binary.BigEndian.Uint64(id[:8]) >> 16)).UTC()
}

func assemble(tick, random uint64) uuid.UUID {
	var id uuid.UUID
	binary.BigEndian.PutUint64(id[:8], tick>>12<<16|7<<12|tick&0xfff)
	binary.BigEndian.PutUint64(id[8:], 0b10<<62|random>>2)
	return id
}
