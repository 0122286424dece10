package metamorph

import (
	"context"
	"errors"
	"sync"
	"time"

	"axflow/engine/control"
	"axflow/shard"
)

// strike carries out one operation when its moment has come.
func (c *cluster) strike(ctx context.Context, o op, w *barrier) {
	if w != nil {
		defer close(w.struck)
		select {
		case <-w.reached:
		case <-ctx.Done():
			c.unreached(o)
			return
		}
	} else {
		rest(ctx, o.At)
		if ctx.Err() != nil {
			c.unreached(o)
			return
		}
	}
	switch o.Act {
	case killLeader, freezeLeader, flapLeader, resignLeader:
		c.strikeLeader(o)
	case killWorker, cutWorker, flapWorker, drainWorker, muteWorker:
		c.strikeWorker(o)
	default:
		c.verb(o, false)
	}
}

func (c *cluster) unreached(o op) {
	c.note("not reached: %v", o)
	c.mu.Lock()
	c.counts.unreached++
	c.mu.Unlock()
}

// leader is the engine that leads now; the first one when nobody does.
func (c *cluster) leader() *member {
	var holder string
	if err := c.pool.QueryRow(c.ctx, "SELECT holder FROM ax.lease WHERE expires_at > clock_timestamp()").Scan(&holder); err != nil {
		holder = ""
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range c.engines {
		if m.name == holder {
			return m
		}
	}
	return c.engines[0]
}

func (c *cluster) strikeLeader(o op) {
	m := c.leader()
	c.note("%v: %s", o, m.name)
	switch o.Act {
	case killLeader:
		c.kill(m)
		c.replaceEngine(m)
	case resignLeader:
		m.stop()
		c.replaceEngine(m)
	case flapLeader:
		m.plug.cut(false)
	case freezeLeader:
		c.lasts(o.For, m.plug.freeze())
	default:
	}
}

func (c *cluster) replaceEngine(old *member) {
	m, err := c.newEngine()
	if err != nil {
		c.fault("starting an engine: %v", err)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.engines {
		if c.engines[i] == old {
			c.engines[i] = m
			return
		}
	}
	c.engines = append(c.engines, m)
}

func (c *cluster) strikeWorker(o op) {
	c.mu.Lock()
	i := o.Member % len(c.workers)
	m := c.workers[i]
	c.mu.Unlock()
	c.note("%v: %s", o, m.name)
	switch o.Act {
	case killWorker:
		c.kill(m)
		c.replaceWorker(i, m)
	case drainWorker:
		m.stop()
		c.replaceWorker(i, m)
	case flapWorker:
		m.plug.cut(false)
	case cutWorker:
		m.plug.cut(true)
		c.lasts(o.For, m.plug.mend)
	case muteWorker:
		m.bus.Mute(true)
		c.lasts(o.For, func() { m.bus.Mute(false) })
	default:
	}
}

func (c *cluster) replaceWorker(i int, old *member) {
	m, err := c.newWorker(c.s.workers[i])
	if err != nil {
		c.fault("starting a worker: %v", err)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.workers[i] == old {
		c.workers[i] = m
	} else {
		c.workers = append(c.workers, m)
	}
}

// lasts ends a fault after a time, or at the end of the phase.
func (c *cluster) lasts(d time.Duration, end func()) {
	end = sync.OnceFunc(end)
	timer := time.AfterFunc(d, end)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mended = append(c.mended, func() { timer.Stop(); end() })
}

// verb carries out an operator's act.
func (c *cluster) verb(o op, quiet bool) {
	c.mu.Lock()
	id, ok := c.runs[o.Run]
	c.mu.Unlock()
	if !ok {
		c.note("%v: its run has not started", o)
		return
	}
	who := control.Who{Actor: "test", Reason: o.String()}
	var err error
	switch o.Act {
	case cancelRun, forceCancel:
		_, err = c.client.Cancel(c.ctx, id, o.Act == forceCancel, who)
	case retryRun:
		_, err = c.client.Retry(c.ctx, id, who)
	case rerunStage:
		_, err = c.client.Rerun(c.ctx, id, o.Target, who)
	case retryShards:
		_, err = c.client.RetryShards(c.ctx, id, o.Target, shard.Of(o.Index), who)
	case rerunShard:
		_, err = c.client.RerunShards(c.ctx, id, o.Target, shard.Of(o.Index), who)
	case skipStage:
		_, err = c.client.Skip(c.ctx, id, o.Target, who)
	case markSuccess:
		_, err = c.client.MarkSuccess(c.ctx, id, o.Target, shard.Set{}, markedOutput, who)
		if e, ok := errors.AsType[*control.Error](err); ok && e.Code == control.CodeInvalid { // it has no shards yet
			_, err = c.client.MarkSuccess(c.ctx, id, o.Target, shard.Set{}, nil, who)
		}
	case setLevel:
		_, err = c.client.SetLevel(c.ctx, id, o.Target, &o.Level, who)
	case discardDead:
		_, err = c.client.Discard(c.ctx, id, o.Target, shard.Set{}, who)
	case pauseRun:
		err = c.pause(o, control.HoldRun, id.String())
	case pauseFlow:
		err = c.pause(o, control.HoldFlow, o.Target)
	case pauseQueue:
		err = c.pause(o, control.HoldQueue, o.Target)
	default:
		err = errors.New("the test does not know this verb")
	}
	c.mu.Lock()
	if err == nil {
		c.counts.verbs++
		c.applied[o.Run] = append(c.applied[o.Run], applied{o, quiet})
	} else {
		c.counts.refused++
	}
	c.mu.Unlock()
	if err == nil {
		c.note("%v", o)
		return
	}
	if e, ok := errors.AsType[*control.Error](err); ok {
		c.note("%v: refused: %v", o, e)
		return
	}
	c.fault("%v: %v", o, err)
}

// markedOutput is the output that operators declare: of run -1.
var markedOutput = []byte(`{"Run":-1}`)

// hold is a pause while it lasted, by the database's clock: from when the verb had returned, until it was asked to end.
type hold struct {
	kind        control.HoldKind
	name        string
	from, until time.Time
}

// holdSlack is how long after a pause work may still be handed out: the engine hears of it at once, or else within 2 s.
const holdSlack = 2500 * time.Millisecond

func (c *cluster) pause(o op, kind control.HoldKind, name string) error {
	who := control.Who{Actor: "test", Reason: o.String()}
	if _, err := c.client.Pause(c.ctx, kind, name, who); err != nil {
		return err
	}
	h := hold{kind: kind, name: name, from: c.now()}
	c.lasts(o.For, func() {
		h.until = c.now()
		c.mu.Lock()
		c.holds = append(c.holds, h)
		c.mu.Unlock()
		if _, err := c.client.Resume(c.ctx, kind, name, who); err != nil {
			if e, ok := errors.AsType[*control.Error](err); !ok || e.Code != control.CodeConflict {
				c.fault("resuming %s %s: %v", kind, name, err)
			}
		}
	})
	return nil
}

// now is the database's time.
func (c *cluster) now() (at time.Time) {
	if err := c.pool.QueryRow(c.ctx, "SELECT clock_timestamp()").Scan(&at); err != nil {
		c.fault("reading the clock: %v", err)
	}
	return at
}
