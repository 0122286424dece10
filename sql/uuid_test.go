package sql_test

import (
	"context"
	"slices"
	"testing"

	"github.com/google/uuid"

	"axflow/internal/pgtest"
	axsql "axflow/sql"
)

// What goes to the database and back is the same with and without Register, for none, one, many and nil.
func TestIDsTravelAsTheyAre(t *testing.T) {
	ctx := context.Background()
	for _, registered := range []bool{false, true} {
		conn, err := pgtest.New(t).Pool.Acquire(ctx)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Release()
		if registered {
			axsql.Register(conn.Conn().TypeMap())
		}
		for _, n := range []int{0, 1, 3, 1000} {
			ids := make([]uuid.UUID, n)
			for i := range ids {
				ids[i] = uuid.New()
			}
			var back []uuid.UUID
			var text []string
			var size int
			if err := conn.QueryRow(ctx, "SELECT $1::uuid[], $1::uuid[]::text[], cardinality($1::uuid[])", ids).Scan(&back, &text, &size); err != nil {
				t.Fatalf("registered %t, %d ids: %v", registered, n, err)
			}
			if size != n || !slices.Equal(back, ids) || len(text) != n || n > 0 && text[n-1] != ids[n-1].String() {
				t.Errorf("registered %t: %d ids came back as %d: %v", registered, n, size, text)
			}
		}
		one := uuid.New()
		var id uuid.UUID
		var null *uuid.UUID
		var isNull bool
		if err := conn.QueryRow(ctx, "SELECT $1::uuid, NULL::uuid, $2::uuid[] IS NULL", one, []uuid.UUID(nil)).Scan(&id, &null, &isNull); err != nil {
			t.Fatal(err)
		}
		if id != one || null != nil || !isNull {
			t.Errorf("registered %t: %s came back as %s, null as %v, nil is null: %t", registered, one, id, null, isNull)
		}
	}
}
