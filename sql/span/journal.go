package span

import (
	"context"
	"encoding/json"

	"github.com/google/uuid"

	"axflow/sql/db"
)

// Entry is one line of a run's journal.
type Entry struct {
	Run        uuid.UUID
	Ord        int16 // -1: the whole run
	Generation int16
	Detail     map[string]any
}

// Write appends entries of one kind by one actor to the journal, in q's transaction.
func Write(ctx context.Context, q *db.Queries, kind, actor string, entries []Entry) error {
	p := db.JournalParams{Kind: kind, Actor: actor}
	for _, e := range entries {
		detail, err := json.Marshal(e.Detail)
		if err != nil {
			return err
		}
		p.RunIds = append(p.RunIds, e.Run)
		p.Ids = append(p.Ids, newID())
		p.Ords = append(p.Ords, e.Ord)
		p.Generations = append(p.Generations, e.Generation)
		p.Details = append(p.Details, detail)
	}
	return q.Journal(ctx, p)
}
