package span_test

import (
	"testing"

	"github.com/google/uuid"

	"axflow/sql/db"
)

// An idempotency key binds until it expires; then it is free for the next start.
func TestKeysBindUntilTheyExpire(t *testing.T) {
	f := newFixture(t)
	q := db.New(f.product())
	claim := func(run uuid.UUID) uuid.UUID {
		rows, err := q.ClaimRunKeys(f.ctx, db.ClaimRunKeysParams{Namespace: "default", TtlS: 3600, Flows: []string{"f"}, Keys: []string{"k"}, RunIds: []uuid.UUID{run}})
		if err != nil || len(rows) != 1 {
			t.Fatalf("claiming: %v, %v, want one answer", rows, err)
		}
		return rows[0].RunID
	}
	first, second := uuid.Must(uuid.NewV7()), uuid.Must(uuid.NewV7())
	want(t, "a new key", claim(first), first)
	want(t, "a bound key", claim(second), first)
	f.exec(`UPDATE ax.run_key SET expires_at = now() - interval '1 second'`)
	want(t, "an expired key", claim(second), second)
	want(t, "bound again", claim(first), second)
	want(t, "hours that it binds", f.count(`SELECT round(extract(epoch FROM expires_at - now()) / 3600) FROM ax.run_key`), 1)
}

// Two starts with the same new key come at once: both get the run of the first.
func TestClaimAgainstClaim(t *testing.T) {
	f := newFixture(t)
	ctx := f.ctx
	claim := func(q *db.Queries, run uuid.UUID) (uuid.UUID, error) {
		rows, err := q.ClaimRunKeys(ctx, db.ClaimRunKeysParams{Namespace: "default", TtlS: 3600, Flows: []string{"f"}, Keys: []string{"k"}, RunIds: []uuid.UUID{run}})
		if err != nil || len(rows) != 1 {
			return uuid.Nil, err
		}
		return rows[0].RunID, nil
	}
	first, second := uuid.Must(uuid.NewV7()), uuid.Must(uuid.NewV7())
	tx, err := f.product().Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := claim(db.New(tx), first); err != nil || got != first {
		t.Fatalf("the first: %v, %v", got, err)
	}
	q := db.New(f.product())
	got := make(chan uuid.UUID, 1)
	go func() {
		id, err := claim(q, second)
		if err != nil {
			t.Error(err)
		}
		got <- id
	}()
	f.blocked(1)
	if err := tx.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	want(t, "the second start's run", <-got, first)
}
