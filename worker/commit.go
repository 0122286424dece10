package worker

import (
	"context"
	"github.com/google/uuid"

	"axflow/sql/hint"
	"axflow/sql/span"
	"axflow/stage"
)

// commit writes a batch down, for as long as it takes, and tells the leader.
func (c *committer) commit(ctx context.Context, b *batch) {
	var news hint.Engine
	ok := c.finish(ctx, b, &news) && c.giveBack(ctx, b, &news) && c.retire(ctx, b, &news)
	if !ok {
		return // the worker has been stopped: what is not committed will be seized
	}
	if b.unsure {
		for i := range b.parts {
			r := &b.parts[i].report
			news.Stages = append(news.Stages, span.StageKey{Run: r.Run, Ord: r.Ord})
		}
		news.Look = true // rows that were made ready are not known
	}
	c.settle(b, &news)
	if len(news.Stages)+len(news.Ready)+len(news.Left) > 0 || news.Look {
		c.w.cfg.Bus.ToEngine(news)
	}
	for i := range b.parts {
		c.w.buffers.put(b.parts[i].report.Results)
	}
}

// learn takes what a transaction did into the news, and tells workers that were asked for something.
func (w *Worker) learn(news *hint.Engine, r *span.Receipt) {
	for _, id := range r.Asked {
		w.cfg.Bus.ToWorker(id, hint.Worker{Asks: true})
	}
	for _, d := range r.Decided {
		news.Stages = append(news.Stages, d.StageKey)
	}
	news.Ready = append(news.Ready, r.Ready...)
}

// finish commits the results.
func (c *committer) finish(ctx context.Context, b *batch, news *hint.Engine) bool {
	if b.results == 0 {
		return true
	}
	reports := make([]span.Report, 0, len(b.parts))
	for i := range b.parts {
		if len(b.parts[i].report.Results) > 0 {
			reports = append(reports, b.parts[i].report)
		}
	}
	var receipt span.Receipt
	if !c.finishAll(ctx, b, reports, &receipt) {
		return false
	}
	c.w.count.batches.Add(1)
	c.w.count.results.Add(uint64(b.results))
	c.w.learn(news, &receipt)
	there := make(map[uuid.UUID]bool, len(receipt.Accepted))
	for _, a := range receipt.Accepted {
		there[a.Execution] = true
	}
	for i := range b.parts {
		p := &b.parts[i]
		p.refused = len(p.report.Results) > 0 && !there[p.f.ID]
	}
	return true
}

// giveBack returns what has not started.
func (c *committer) giveBack(ctx context.Context, b *batch, news *hint.Engine) bool {
	var backs []span.Handback
	n := 0
	for i := range b.parts {
		if p := &b.parts[i]; !p.back.Empty() {
			backs = append(backs, span.Handback{Execution: p.f.ID, Run: p.f.Run, Ord: p.f.Ord, Set: p.back})
			n += p.back.Len()
		}
	}
	if len(backs) == 0 {
		return true
	}
	var receipt span.Receipt
	err := c.persist(ctx, b, "giving work back", false, func(ctx context.Context, conn span.Conn) (err error) {
		receipt, err = span.Return(ctx, conn, b.worker, span.GivenBack, backs)
		return err
	})
	if err != nil {
		return false
	}
	c.w.count.returned.Add(uint64(n))
	c.w.learn(news, &receipt)
	return true
}

// retire removes the rows that InTx transactions have emptied.
func (c *committer) retire(ctx context.Context, b *batch, news *hint.Engine) bool {
	var keys []span.StageKey
	var ids []uuid.UUID
	for i := range b.parts {
		if p := &b.parts[i]; p.retire {
			keys = append(keys, span.StageKey{Run: p.f.Run, Ord: p.f.Ord})
			ids = append(ids, p.f.ID)
		}
	}
	if len(keys) == 0 {
		return true
	}
	var decided []span.Decided
	err := c.persist(ctx, b, "retiring stages", false, func(ctx context.Context, conn span.Conn) (err error) {
		decided, err = span.Retire(ctx, conn, keys, ids)
		return err
	})
	if err != nil {
		return false
	}
	c.w.learn(news, &span.Receipt{Decided: decided})
	return true
}

// settle books what is committed and says how far the flights are.
func (c *committer) settle(b *batch, news *hint.Engine) {
	for i := range b.parts {
		p := &b.parts[i]
		f := p.f
		f.pool.mu.Lock()
		f.owed -= len(p.report.Results) + p.back.Len()
		for j := range p.report.Results {
			r := &p.report.Results[j]
			c.tally(r.Outcome)
			if !p.refused {
				f.over(r.Outcome)
			}
			if r.Outcome != stage.Interrupted {
				f.ended++
				f.busy += r.Finished.Sub(r.Started)
			}
		}
		over := f.owed <= 0
		lost := p.refused && f.holds()
		if over || f.owed <= f.told/2 {
			news.Left = append(news.Left, hint.Left{Flight: f.ID, Left: max(0, f.owed), Done: f.ended, Busy: max(0, f.busy)})
			f.told, f.ended, f.busy = f.owed, 0, 0
		}
		f.pool.mu.Unlock()
		switch {
		case over:
			c.w.forget(f)
		case lost:
			c.w.log.Warn("work was taken away", append(f.attrs(), "shard", f.Set.String())...)
			c.w.lose(f)
		}
	}
	c.drop(b.results, b.bytes)
}

func (c *committer) tally(o stage.Outcome) {
	n := &c.w.count
	switch o {
	case stage.Succeeded:
		n.succeeded.Add(1)
	case stage.TimedOut:
		n.timedOut.Add(1)
	case stage.Interrupted:
		n.interrupted.Add(1)
	case stage.NotNeeded:
		n.notNeeded.Add(1)
	default:
		n.failed.Add(1)
	}
}
