package faults

import (
	"fmt"
	"testing"

	"axflow/internal/pgtest"
)

// Ten processes start on the same empty database at the same moment, each as engine and worker: they migrate it once,
// one of them leads, all of them work, and all leave in good order.
func TestTenProcessesMigrateAtOnce(t *testing.T) {
	db := pgtest.New(t, pgtest.Empty(), pgtest.Pool(ownSessions))
	g := newGates(t)
	const n = 10
	all := make([]*process, n)
	for i := range all {
		all[i] = spawn(t, role{Name: fmt.Sprintf("p%d", i), URL: db.URL, Socket: g.path, Barrier: true, Migrate: true, Engine: true, Worker: true, Slots: 2})
	}
	begin := func(a *arrival) bool { return a.Point == "begin" }
	g.await(n, "processes", begin)
	g.open()
	pgtest.Eventually(t, patience, func() (bool, string) {
		var workers int
		if err := db.Pool.QueryRow(t.Context(), "SELECT count(*) FROM ax.worker").Scan(&workers); err != nil {
			return false, err.Error()
		}
		return workers == n, fmt.Sprintf("%d workers, want %d", workers, n)
	})
	s := newSite(t, db, nil)
	s.gates.open()
	if twice := query[int](s, "SELECT count(*) FROM (SELECT 1 FROM ax.schema_version GROUP BY version_id HAVING count(*) > 1) d"); twice > 0 {
		t.Errorf("%d migrations were applied more than once", twice)
	}
	if terms := query[int](s, "SELECT count(*) FROM ax.lease_term"); terms != 1 {
		t.Errorf("%d terms, want 1", terms)
	}
	if _, err := s.start(s.work, 5, params{Shards: 200}); err != nil {
		t.Fatal(err)
	}
	s.settled()
	for _, p := range all {
		p.terminate()
	}
	for _, p := range all {
		p.leaves()
	}
	if left := query[int](s, "SELECT count(*) FROM ax.worker"); left > 0 {
		t.Errorf("%d workers are still on the list", left)
	}
}
