package control

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"axflow/engine/webhook"
	"axflow/flow"
	"axflow/internal/uuid7"
	"axflow/sql/db"
	"axflow/sql/hint"
	"axflow/sql/payload"
	"axflow/sql/versions"
)

// Config is what a Client needs. Pool and Bus are required.
type Config struct {
	Pool *pgxpool.Pool
	// Bus tells the engine of new runs at once. Without a running Bus the engine finds them at its next reload.
	Bus *hint.Bus
	// Namespace of everything the client sees. Default "default".
	Namespace string
	// Versions may be shared with other parts of the process. Default: its own.
	Versions *versions.Cache
	// Now is the database's time as well as the process knows it; run ids are minted from it. Default: the
	// machine's, corrected once by the database's when the client is made.
	Now func() time.Time
	// Codec seals params and outputs on their way to the database, and opens them. nil: they are stored as they are.
	Codec payload.Codec
	// Webhooks say where webhooks may lead, beside the internet. They should be the engine's.
	Webhooks webhook.Rules
	// Poll is how often Wait looks by itself. Default 2 s.
	Poll time.Duration
}

// Client starts runs, looks at them and steers them. It is safe for concurrent use.
type Client struct {
	cfg  Config
	q    *db.Queries
	mint *uuid7.Minter
}

// NewClient makes a Client; it asks the database for its time once, if no clock is given.
func NewClient(ctx context.Context, cfg Config) (*Client, error) {
	if cfg.Pool == nil || cfg.Bus == nil {
		return nil, errors.New("client: Pool and Bus are required")
	}
	if cfg.Namespace == "" {
		cfg.Namespace = "default"
	}
	if cfg.Versions == nil {
		cfg.Versions = versions.New()
	}
	if cfg.Poll == 0 {
		cfg.Poll = 2 * time.Second
	}
	q := db.New(cfg.Pool)
	if cfg.Now == nil {
		began := time.Now()
		at, err := q.Now(ctx)
		if err != nil {
			return nil, fmt.Errorf("asking the database for its time: %w", err)
		}
		cfg.Now = func() time.Time { return at.Add(time.Since(began)) }
	}
	return &Client{cfg: cfg, q: q, mint: uuid7.New(cfg.Now, nil)}, nil
}

// Namespace is what the client's runs belong to.
func (c *Client) Namespace() string { return c.cfg.Namespace }

// In is a client of another namespace that shares everything else with this one. It costs next to nothing.
func (c *Client) In(namespace string) *Client {
	if namespace == c.cfg.Namespace {
		return c
	}
	other := *c
	other.cfg.Namespace = namespace
	return &other
}

// Pool is the client's database.
func (c *Client) Pool() *pgxpool.Pool { return c.cfg.Pool }

// Register stores a flow's content and makes it the newest version.
func (c *Client) Register(ctx context.Context, def flow.Definition) (*versions.Version, error) {
	return c.cfg.Versions.Register(ctx, c.q, c.cfg.Namespace, def)
}

// Newest returns the newest registered version of a flow by name.
func (c *Client) Newest(ctx context.Context, name string) (*versions.Version, error) {
	row, err := c.q.NewestVersion(ctx, db.NewestVersionParams{Namespace: c.cfg.Namespace, Name: name})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, &Error{Code: CodeNotFound, Text: fmt.Sprintf("no flow %q is registered in namespace %q: start a worker that has it, or check the name", name, c.cfg.Namespace)}
	}
	if err != nil {
		return nil, fmt.Errorf("looking for flow %s: %w", name, err)
	}
	return c.cfg.Versions.Get(ctx, c.q, row.ID)
}

// Version returns a registered version of a flow by its content's hash; "": the newest.
func (c *Client) Version(ctx context.Context, name, hash string) (*versions.Version, error) {
	if err := storable(named{"/flow", "the flow's name", name}, named{"/version", "the version", hash}); err != nil {
		return nil, err
	}
	if hash == "" {
		return c.Newest(ctx, name)
	}
	id, err := c.q.FindVersion(ctx, db.FindVersionParams{Namespace: c.cfg.Namespace, Flow: name, Hash: hash})
	if errors.Is(err, pgx.ErrNoRows) {
		if _, err := c.Newest(ctx, name); err != nil {
			return nil, err
		}
		return nil, &Error{Code: CodeNotFound, Field: "/version", Text: fmt.Sprintf("flow %q has no version %q: list its versions, or leave the version out for the newest", name, hash)}
	}
	if err != nil {
		return nil, fmt.Errorf("looking for flow %s version %s: %w", name, hash, err)
	}
	return c.cfg.Versions.Get(ctx, c.q, id)
}

// Start starts runs in one transaction, all or none, and tells the engine.
func (c *Client) Start(ctx context.Context, b Batch, starts []Start) ([]Started, error) {
	inTx := b.Who != nil
	for i := range starts {
		c.prepare(&starts[i])
		inTx = inTx || starts[i].Key != ""
	}
	b.Namespace, b.Codec = c.cfg.Namespace, c.cfg.Codec
	conn, err := c.cfg.Pool.Acquire(ctx)
	if err != nil {
		return nil, fmt.Errorf("starting runs: %w", err)
	}
	defer conn.Release()
	if !inTx {
		started, news, err := StartRuns(ctx, conn, b, starts)
		if err != nil {
			return nil, err
		}
		c.cfg.Bus.ToEngine(news)
		return started, nil
	}
	var started []Started
	var news hint.Engine
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) (err error) {
		started, news, err = startAudited(ctx, tx, b, starts)
		return err
	})
	switch {
	case errors.Is(err, errDry):
		return started, nil
	case err != nil:
		return nil, err
	}
	c.cfg.Bus.ToEngine(news)
	return started, nil
}

// StartTx starts runs in the caller's transaction: they exist if and when it commits. The engine is told by a
// NOTIFY that PostgreSQL delivers with the commit.
func (c *Client) StartTx(ctx context.Context, tx pgx.Tx, b Batch, starts []Start) ([]Started, error) {
	for i := range starts {
		c.prepare(&starts[i])
	}
	b.Namespace, b.Codec = c.cfg.Namespace, c.cfg.Codec
	var started []Started
	var news hint.Engine
	start := func(tx pgx.Tx) (err error) {
		started, news, err = startAudited(ctx, tx, b, starts)
		return err
	}
	if b.Who != nil && b.Who.DryRun { // the caller's transaction goes on as it was
		if err := pgx.BeginFunc(ctx, tx, start); !errors.Is(err, errDry) {
			return nil, err
		}
		return started, nil
	}
	if err := start(tx); err != nil {
		return nil, err
	}
	if err := c.cfg.Bus.NotifyTx(ctx, tx, news); err != nil {
		return nil, fmt.Errorf("telling the engine: %w", err)
	}
	return started, nil
}

// startAudited is StartRuns with what Batch.Who asks for; the transaction of a dry run is to be taken back (errDry).
func startAudited(ctx context.Context, tx pgx.Tx, b Batch, starts []Start) ([]Started, hint.Engine, error) {
	if b.Who == nil {
		return StartRuns(ctx, tx, b, starts)
	}
	if err := b.Who.check(); err != nil {
		return nil, hint.Engine{}, err
	}
	started, news, err := StartRuns(ctx, tx, b, starts)
	switch {
	case err != nil:
		return nil, hint.Engine{}, err
	case b.Who.DryRun:
		return started, hint.Engine{}, errDry
	}
	q := db.New(tx)
	for i, s := range started {
		if s.Existing {
			continue
		}
		detail := map[string]any{"flow": starts[i].Version.Flow, "version": starts[i].Version.Hash, "trigger": b.Trigger}
		if starts[i].Key != "" {
			detail["key"] = starts[i].Key
		}
		if err := audit(ctx, q, b.Namespace, "start", "run/"+s.Run.String(), *b.Who, detail); err != nil {
			return nil, hint.Engine{}, err
		}
	}
	return started, news, nil
}

func (c *Client) prepare(s *Start) {
	if s.ID == uuid.Nil {
		s.ID = c.mint.Mint()
	}
}

// Run returns a run. Its params are opened; those that this process lacks the key for stay sealed (see payload.Sealed), and
// OpenPayload says why.
func (c *Client) Run(ctx context.Context, id uuid.UUID) (db.RunRow, error) {
	row, err := c.q.Run(ctx, id)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && row.Namespace != c.cfg.Namespace {
		return db.RunRow{}, notFound(id)
	}
	if err != nil {
		return db.RunRow{}, fmt.Errorf("reading run %s: %w", id, err)
	}
	if plain, err := c.OpenPayload(ctx, payload.Place{Kind: payload.Params, Run: id}, row.Params); err == nil {
		row.Params = plain
	}
	return row, nil
}

func notFound(id uuid.UUID) error {
	return &Error{Code: CodeNotFound, Text: fmt.Sprintf("there is no run %s here", id)}
}

// Runs lists runs, newest first. before is exclusive, the zero id means from the newest; name "" means every flow.
func (c *Client) Runs(ctx context.Context, name string, before uuid.UUID, most int) ([]db.RunsRow, error) {
	if before == uuid.Nil {
		before = uuid.Max
	}
	rows, err := c.q.Runs(ctx, db.RunsParams{Namespace: c.cfg.Namespace, Before: before, Flow: name, Most: int32(min(most, 1000))})
	if err != nil {
		return nil, fmt.Errorf("listing runs: %w", err)
	}
	return rows, nil
}

// Failures returns a run's newest failed attempts.
func (c *Client) Failures(ctx context.Context, id uuid.UUID, most int) ([]db.LastErrorsRow, error) {
	if _, err := c.Run(ctx, id); err != nil {
		return nil, err
	}
	rows, err := c.q.LastErrors(ctx, db.LastErrorsParams{RunID: id, Most: int32(min(most, 1000))})
	if err != nil {
		return nil, fmt.Errorf("reading the errors of run %s: %w", id, err)
	}
	return rows, nil
}

// Output returns the JSON output of an unsharded stage of a run (index 0) or of one shard. It is nil for a stage
// whose output type is struct{}; a shard that has not succeeded is CodeNotFound.
func (c *Client) Output(ctx context.Context, id uuid.UUID, stageName string, index int) ([]byte, error) {
	run, err := c.Run(ctx, id)
	if err != nil {
		return nil, err
	}
	v, err := c.cfg.Versions.Get(ctx, c.q, run.VersionID)
	if err != nil {
		return nil, err
	}
	ord, ok := v.Graph.Ord(stageName)
	if !ok {
		return nil, &Error{Code: CodeNotFound, Text: fmt.Sprintf("flow %s version %s has no stage %q", v.Flow, v.Hash, stageName)}
	}
	out, err := c.q.Output(ctx, db.OutputParams{RunID: id, Ord: int16(ord), Shard: int32(index)})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, &Error{Code: CodeNotFound, Text: fmt.Sprintf("stage %q of run %s has no output at index %d: it has not succeeded", stageName, id, index)}
	}
	if err != nil {
		return nil, fmt.Errorf("reading the output of stage %s of run %s: %w", stageName, id, err)
	}
	return c.OpenPayload(ctx, payload.Place{Kind: payload.Output, Run: id, Ord: ord}, out)
}
