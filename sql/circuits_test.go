package sql_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"

	"axflow/internal/pgtest"
	"axflow/sql/db"
)

// The leader moves a circuit only if nobody has since it was read, and never one that an operator holds; what it did not
// write leaves no audit row.
func TestCircuitsAreMovedByCompareAndSet(t *testing.T) {
	d := pgtest.New(t)
	ctx := context.Background()
	q := db.New(d.Pool)
	save := func(state int16, version int32) int {
		rows, err := q.SaveCircuits(ctx, db.SaveCircuitsParams{Namespaces: []string{"default"}, Kinds: []string{"downstream"}, Names: []string{"warehouse"},
			States: []int16{state}, Failures: []int32{5}, Opened: []time.Time{time.Unix(0, 0)}, Untils: []time.Time{time.Unix(0, 0)}, Errors: []string{"refused"},
			Reasons: []string{"test"}, Versions: []int32{version}, AuditIds: []uuid.UUID{uuid.New()}, Verbs: []string{"circuit.move"}, Actor: "leader/1"})
		if err != nil {
			t.Fatal(err)
		}
		return len(rows)
	}
	state := func() (state int16, version int32, audits int) {
		if err := d.Pool.QueryRow(ctx, `SELECT state, version, (SELECT count(*) FROM ax.audit) FROM ax.circuit`).Scan(&state, &version, &audits); err != nil {
			t.Fatal(err)
		}
		return state, version, audits
	}
	for _, step := range []struct {
		name           string
		before         string // an operator's statement
		state          int16
		version        int32
		written        int
		is, of, audits int // state, version and audit rows afterwards
	}{
		{"the first opening", "", 1, 0, 1, 1, 1, 1},
		{"an opening of what is there already", "", 2, 0, 0, 1, 1, 1},
		{"half open", "", 2, 1, 1, 2, 2, 2},
		{"by an old reading", "", 0, 1, 0, 2, 2, 2},
		{"what an operator holds open", `UPDATE ax.circuit SET manual = true, state = 1`, 0, 2, 0, 1, 2, 2},
	} {
		if step.before != "" {
			exec(t, d, step.before)
		}
		written := save(step.state, step.version)
		is, of, audits := state()
		if written != step.written || int(is) != step.is || int(of) != step.of || audits != step.audits {
			t.Errorf("%s: %d written, state %d, version %d, %d audit rows; want %d, %d, %d, %d", step.name, written, is, of, audits,
				step.written, step.is, step.of, step.audits)
		}
	}
}
