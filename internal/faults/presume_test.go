package faults

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"axflow/internal/pgtest"
)

// attempts plays a scenario on sites of its own until the machine lets it happen. The scenario says what it presumes
// of the machine (registered, reigns); an attempt in which that does not hold is void, and TTLs are longer in the next ones.
// See pgtest.Attempts.
func attempts(t *testing.T, scenario func(s *site)) {
	t.Helper()
	pgtest.Attempts(t, func(t *testing.T, a *pgtest.Attempt) {
		s := newSite(t, pgtest.New(t, pgtest.Pool(ownSessions)), nil)
		s.void = a.Void
		s.stretch = 1 << min(a.N-1, 2)
		scenario(s)
	})
}

// shortLeases and shortLives make the TTLs of the processes that are started from now on short enough to wait for.
func (s *site) shortLeases() { s.ttl = time.Duration(s.stretch) * shortTTL }

func (s *site) shortLives() { s.workerTTL = time.Duration(s.stretch) * shortWorkerTTL }

// presumption is checked while the test waits for something else.
type presumption struct{ check func() }

// presume calls check at every wait that is not over, and in enough, which ends that.
func (s *site) presume(check func()) (enough func()) {
	p := &presumption{check}
	s.presumed = append(s.presumed, p)
	return func() {
		s.t.Helper()
		check()
		s.presumed = slices.DeleteFunc(s.presumed, func(x *presumption) bool { return x == p })
	}
}

// check checks everything that is presumed.
func (s *site) check() {
	for _, p := range s.presumed {
		p.check()
	}
}

// registered waits until a worker is on the list, and presumes that it stays there under this id until enough is called.
// A worker that lives and is buried has stood still for longer than its TTL: it takes a new id, and its work moves.
func (s *site) registered(p *process) (id uuid.UUID, enough func()) {
	s.t.Helper()
	pgtest.Eventually(s.t, patience, func() (bool, string) {
		err := s.pool.QueryRow(s.ctx, "SELECT id FROM ax.worker WHERE pid = $1", p.pid()).Scan(&id)
		return err == nil, "worker " + p.name + " is not on the list"
	})
	return id, s.presume(func() {
		if !query[bool](s, "SELECT EXISTS (SELECT 1 FROM ax.worker WHERE id = $1)", id) {
			s.void("worker %s lives and has been buried", p.name)
		}
	})
}

// reigns presumes that the term of p is the last one until enough is called. The attempt is void if it ends because p
// could not renew its lease in time; it fails if it ends for another reason.
func (s *site) reigns(p *process, epoch int64) (enough func()) {
	return s.presume(func() {
		s.t.Helper()
		if holder, now := s.term(); now != epoch {
			if cause := p.leftTerm(epoch); cause != lateRenewal {
				s.t.Fatalf("%s leads in epoch %d, want %s in %d, which ended for %q", holder, now, p.name, epoch, cause)
			}
			s.void("%s has lost its lease of epoch %d by itself, and %s leads in %d", p.name, epoch, holder, now)
		}
	})
}
