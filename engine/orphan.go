package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"axflow/engine/control"
	"axflow/sql/db"
	"axflow/sql/hint"
	"axflow/sql/versions"
)

// orphans cancels runs of sub-flows whose parent does not wait for them any more: it was run again, or given up, while
// its cancel did not get through.
type orphans struct {
	pool     *pgxpool.Pool
	bus      *hint.Bus
	versions *versions.Cache
	who      control.Who
}

func (o *orphans) cancel(ctx context.Context, ids []uuid.UUID) error {
	if len(ids) == 0 {
		return nil
	}
	heads, err := db.New(o.pool).RunHeads(ctx, ids)
	if err != nil {
		return fmt.Errorf("reading %d runs without parents: %w", len(ids), err)
	}
	clients := make(map[string]*control.Client)
	for _, h := range heads {
		c := clients[h.Namespace]
		if c == nil {
			if c, err = control.NewClient(ctx, control.Config{Pool: o.pool, Bus: o.bus, Namespace: h.Namespace, Versions: o.versions}); err != nil {
				return err
			}
			clients[h.Namespace] = c
		}
		var refused *control.Error // it has ended, or is being cancelled
		if _, err := c.Cancel(ctx, h.RunID, false, o.who); err != nil && !errors.As(err, &refused) {
			return fmt.Errorf("cancelling run %s, whose parent does not wait for it: %w", h.RunID, err)
		}
	}
	return nil
}
