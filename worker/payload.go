package worker

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"axflow/sql/payload"
	"axflow/stage"
)

// openParams opens a run's params. Those that no worker can open come back as corrupt: each task says so. With a key that only this
// worker lacks, the work is unreadable here and goes back.
func (w *Worker) openParams(ctx context.Context, namespace string, run uuid.UUID, stored []byte) (raw []byte, corrupt, err error) {
	raw, err = payload.Open(ctx, w.cfg.Codec, payload.Place{Kind: payload.Params, Namespace: namespace, Run: run}, stored)
	switch {
	case errors.Is(err, payload.ErrNoKey):
		return nil, nil, fmt.Errorf("%w: the params of run %s: %w", errUnreadable, run, err)
	case errors.Is(err, payload.ErrCorrupt):
		return []byte("null"), sealFault(err), nil
	case err != nil:
		return nil, nil, fmt.Errorf("reading the params of run %s: %w", run, err)
	}
	return raw, nil, nil
}

// openAt opens what belongs to a stage of the task's run.
func (t *task) openAt(ctx context.Context, kind payload.Kind, ord int, stored []byte) ([]byte, error) {
	plain, err := payload.Open(ctx, t.f.pool.w.cfg.Codec, payload.Place{Kind: kind, Namespace: t.f.Namespace, Run: t.f.Run, Ord: ord}, stored)
	if err != nil {
		return nil, sealFault(err)
	}
	return plain, nil
}

// seal is what is stored of the task's output.
func (t *task) seal(output []byte) ([]byte, error) {
	sealed, err := payload.Seal(context.WithoutCancel(t), t.f.pool.w.cfg.Codec,
		payload.Place{Kind: payload.Output, Namespace: t.f.Namespace, Run: t.f.Run, Ord: int(t.f.Ord)}, output)
	if err != nil {
		return nil, sealFault(err)
	}
	return sealed, nil
}

// sealItems is what is stored of a plan's items: their inputs sealed.
func (t *task) sealItems(items []stage.Item) ([]stage.Item, error) {
	codec := t.f.pool.w.cfg.Codec
	if codec == nil || items == nil {
		return items, nil
	}
	at := payload.Place{Kind: payload.Input, Namespace: t.f.Namespace, Run: t.f.Run, Ord: int(t.f.Ord)}
	sealed := make([]stage.Item, len(items))
	for i, it := range items {
		input, err := payload.Seal(t, codec, at, it.Input)
		if err != nil {
			return nil, sealFault(err)
		}
		sealed[i] = stage.Item{Key: it.Key, Input: input}
	}
	return sealed, nil
}

// sealFault is the failure of an attempt by a payload that could not be sealed or opened. Another worker may have the key; what is
// corrupt stays so.
func sealFault(err error) error {
	fault := faultf(CodeSealed, "%s", err)
	if errors.Is(err, payload.ErrCorrupt) {
		return stage.Permanent(fault)
	}
	return fault
}
