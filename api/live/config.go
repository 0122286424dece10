package live

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"axflow/api/access"
	"axflow/sql/hint"
	"axflow/sql/versions"
)

// Path is where the stream is served. A server must not bound the time of its requests, nor compress or gather what they are answered.
const Path = "/api/v1/events"

// Config says what a Hub reads, how often, and whom it serves.
type Config struct {
	// Pool is the database. Required. The Hub uses one connection at a time.
	Pool *pgxpool.Pool
	// Bus tells of ended runs at once. nil: they are found by looking.
	Bus *hint.Bus
	// Versions may be shared with other parts of the process. Default: its own.
	Versions *versions.Cache
	// Valid tells whether a credential still allows reading runs. An error means that it could not be found out, and changes nothing.
	// Default: a credential ends at its expiry.
	Valid func(ctx context.Context, p access.Principal) (bool, error)
	// Tick is the least time between two looks, and between two batches of frames to one client. Default 250 ms.
	Tick time.Duration
	// MaxTick is the time between looks while nothing changes. Default 2 s; at least Tick.
	MaxTick time.Duration
	// Reopen is how often ended runs that are watched are looked at for having been opened again. Default 5 s; below 0 never.
	Reopen time.Duration
	// Beat is the time between comments that keep a connection. Default 15 s.
	Beat time.Duration
	// Write is how long a client may take to read what it is sent: the stream of one that takes more than half ends with a bye, of one that
	// takes all of it without. Default 10 s.
	Write time.Duration
	// Answer is how long a client waits to learn whether there is what it asks for, while the database does not answer. Default 5 s.
	Answer time.Duration
	// Linger is how long what nobody watches any more is kept for a client that comes back. Default 1 min; below 0 not at all.
	Linger time.Duration
	// Recheck is how often Valid is asked. Default 30 s; below 0 never.
	Recheck time.Duration
	// PerCredential is how many streams a credential may have; who needs none is not counted. Default 20.
	PerCredential int
	// Clients is how many streams there may be. Default 1000.
	Clients int
	// Logger gets what operators must know. Default slog.Default.
	Logger *slog.Logger
}

func (c *Config) complete() error {
	if c.Pool == nil {
		return errors.New("live: Pool is required")
	}
	for _, d := range [...]struct {
		of *time.Duration
		is time.Duration
	}{
		{&c.Tick, 250 * time.Millisecond}, {&c.MaxTick, 2 * time.Second}, {&c.Reopen, 5 * time.Second}, {&c.Beat, 15 * time.Second},
		{&c.Write, 10 * time.Second}, {&c.Answer, 5 * time.Second}, {&c.Linger, time.Minute}, {&c.Recheck, 30 * time.Second},
	} {
		if *d.of == 0 {
			*d.of = d.is
		}
	}
	c.MaxTick = max(c.MaxTick, c.Tick)
	if c.PerCredential == 0 {
		c.PerCredential = 20
	}
	if c.Clients == 0 {
		c.Clients = 1000
	}
	if c.Versions == nil {
		c.Versions = versions.New()
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	return nil
}
