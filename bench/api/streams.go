package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"axflow"
	"axflow/api/client"
	"axflow/api/gen"
	"axflow/flow"
	"axflow/shard"
	axsql "axflow/sql"
	"axflow/worker"
)

// perCredential is how many streams a token may have.
const perCredential = 20

// slots is how many shards of the streamed run go on at once.
const slots = 32

// busy are the params of the streamed run.
type busy struct {
	Shards  int `json:"shards"`
	PauseUS int `json:"pause_us"` // of each shard
}

var streamed = flow.New("streamed", shard.New("work",
	func(_ context.Context, p busy) (shard.Plan, error) { return shard.N(p.Shards), nil },
	func(ctx context.Context, p busy, _ shard.Shard) (struct{}, error) {
		t := time.NewTimer(time.Duration(p.PauseUS) * time.Microsecond)
		defer t.Stop()
		select {
		case <-t.C:
			return struct{}{}, nil
		case <-ctx.Done():
			return struct{}{}, context.Cause(ctx)
		}
	}))

// streams measures what it costs a server to stream a run to one client, and to many.
func streams(ctx context.Context, out io.Writer, db *server, s size, fields map[string]float64) (err error) {
	name := fmt.Sprintf("ax_api_streams_%d", os.Getpid())
	if err := db.exec(ctx, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)", "CREATE DATABASE "+name); err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, db.exec(context.WithoutCancel(ctx), "DROP DATABASE "+name+" WITH (FORCE)"))
	}()
	dbURL, err := db.database(name)
	if err != nil {
		return err
	}
	if err := axsql.Migrate(ctx, dbURL); err != nil {
		return fmt.Errorf("making the schema: %w", err)
	}
	h, err := open(ctx, dbURL)
	if err != nil {
		return err
	}
	defer h.pool.Close()
	p, err := axflow.Open(ctx, axflow.Config{DatabaseURL: dbURL, Flows: []flow.Definition{streamed}, Engine: true,
		TuneWorker: func(c *worker.Config) { c.Slots = slots },
		Logger:     slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))})
	if err != nil {
		return err
	}
	defer p.Close()
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- p.Run(running) }()
	defer func() { stop(); err = errors.Join(err, <-ended) }()
	for _, clients := range []int{1, s.clients} {
		m, err := stream(ctx, h, p, s, clients)
		if err != nil {
			return fmt.Errorf("streaming to %d clients: %w", clients, err)
		}
		say(out, "%4d clients on a run of %d shards for %.1f s: server %.1f %% of a CPU, %.1f MB at most; to each client %.2f frames/s, %.0f bytes/s\n",
			clients, s.shards, m.took.Seconds(), m.cpu, m.mb, m.frames, m.bytes)
		if clients == 1 {
			fields["sse_one_cpu_pct"], fields["sse_one_mb"] = m.cpu, m.mb
		}
		fields["sse_cpu_pct"], fields["sse_mb"] = m.cpu, m.mb
		fields["sse_frames_per_s"], fields["sse_bytes_per_s"] = m.frames, m.bytes
	}
	return nil
}

// streaming is what one measurement has found; frames and bytes are a client's, by the second.
type streaming struct {
	took          time.Duration
	cpu, mb       float64
	frames, bytes float64
}

// stream has a new server stream a new run to clients, until the run's end.
func stream(ctx context.Context, h *history, p *axflow.Process, s size, clients int) (m streaming, err error) {
	srv, err := serve(ctx, h.url)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, srv.end()) }()
	tokens := make([]string, (clients+perCredential-1)/perCredential)
	for i := range tokens {
		if tokens[i], err = h.newToken(ctx); err != nil {
			return m, err
		}
	}
	pause := time.Duration(float64(s.lasts) * slots / float64(s.shards))
	id, err := axflow.Start(ctx, p.Client(), streamed, busy{s.shards, int(pause.Microseconds())})
	if err != nil {
		return m, err
	}
	reading, hangUp := context.WithCancel(ctx)
	defer hangUp()
	var tally tally
	transport := &http.Transport{DisableCompression: true}
	defer transport.CloseIdleConnections()
	g, gctx := errgroup.WithContext(reading)
	for i := range clients - 1 {
		a := &asker{srv.url, tokens[(i+1)/perCredential], &http.Client{Transport: transport}}
		g.Go(func() error { return a.follow(gctx, id, &tally) })
	}
	// One client reads as programs do, and must end up with what is.
	var known gen.LiveRun
	g.Go(func() error {
		cfg := client.Config{URL: srv.url, Token: tokens[0], HTTP: &http.Client{Transport: counting{transport, &tally}}}
		for e, err := range client.Events(gctx, cfg, client.Watch{Runs: []uuid.UUID{id}}) {
			if err != nil {
				return err
			}
			if client.Merge(&known, e); known.State != nil && *known.State != gen.RunStateRunning {
				return nil
			}
		}
		return nil
	})
	for tally.open.Load() < int64(clients) { // all are there before anything is counted
		select {
		case <-time.After(5 * time.Millisecond):
		case <-gctx.Done():
			return m, errors.Join(errors.New("a client has gone"), g.Wait())
		}
	}
	load := watchLoad(srv.pid)
	began, frames, read := time.Now(), tally.frames.Load(), tally.bytes.Load()
	done := make(chan error, 1)
	go func() { done <- g.Wait() }()
	every := time.NewTicker(200 * time.Millisecond)
	defer every.Stop()
	for {
		select {
		case <-every.C:
			load.look()
			continue
		case err := <-done:
			if err != nil {
				return m, err
			}
		}
		break
	}
	m.took = time.Since(began)
	m.cpu, m.mb = load.end()
	m.frames = float64(tally.frames.Load()-frames) / m.took.Seconds() / float64(clients)
	m.bytes = float64(tally.bytes.Load()-read) / m.took.Seconds() / float64(clients)
	work := known.Stages["work"]
	if *known.State != gen.RunStateSucceeded || *work.Succeeded != s.shards || *work.Total != s.shards {
		return m, fmt.Errorf("the stream ended with %s, %d of %d shards succeeded; want all %d", *known.State, *work.Succeeded, *work.Total, s.shards)
	}
	return m, nil
}

// tally counts what all clients get.
type tally struct {
	open, frames, bytes atomic.Int64
}

// follow reads a stream until it tells the end of its run, and only counts.
func (a *asker) follow(ctx context.Context, id uuid.UUID, t *tally) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, a.base+"/api/v1/events?run="+id.String(), http.NoBody)
	if err != nil {
		return fmt.Errorf("following: %w", err)
	}
	req.Header.Set("Authorization", "Bearer "+a.token)
	res, err := a.client.Do(req)
	if err != nil {
		return fmt.Errorf("following: %w", err)
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("following: %s", res.Status)
	}
	lines := bufio.NewScanner(&countedBody{res.Body, t})
	for first := true; lines.Scan(); {
		line := lines.Bytes()
		switch {
		case bytes.HasPrefix(line, []byte("event: bye")):
			return errors.New("the server has ended the stream")
		case bytes.HasPrefix(line, []byte("event: ")):
			t.frames.Add(1)
			if first {
				first = false
				t.open.Add(1)
			}
		case bytes.HasPrefix(line, []byte("data: ")) && bytes.Contains(line, []byte(`,"state":"succeeded"}`)):
			return nil
		}
	}
	return errors.Join(errors.New("the stream broke"), lines.Err())
}

// countedBody counts what is read.
type countedBody struct {
	io.ReadCloser
	t *tally
}

func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.t.bytes.Add(int64(n))
	return n, err
}

// counting counts the frames of a client that reads as programs do.
type counting struct {
	http.RoundTripper
	t *tally
}

// RoundTrip implements http.RoundTripper.
func (c counting) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := c.RoundTripper.RoundTrip(req)
	if err == nil && res.StatusCode == http.StatusOK {
		c.t.open.Add(1)
		res.Body = &countedFrames{countedBody{res.Body, c.t}}
	}
	return res, err //nolint:wrapcheck // as it came
}

type countedFrames struct{ countedBody }

func (b *countedFrames) Read(p []byte) (int, error) {
	n, err := b.countedBody.Read(p)
	b.t.frames.Add(int64(bytes.Count(p[:n], []byte("event: "))))
	return n, err
}
