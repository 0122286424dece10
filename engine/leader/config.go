package leader

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"time"

	"github.com/jackc/pgx/v5"
)

// Defaults of Config.
const (
	DefaultTTL   = 15 * time.Second
	DefaultRenew = 3 * time.Second
)

// minTTL keeps the shares of a term (trust, time-outs) well above a millisecond.
const minTTL = 100 * time.Millisecond

// names are short because a lease's name and an epoch share an application_name, which PostgreSQL cuts at
// 63 bytes.
var names = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9._-]{0,31}$`)

// Config says how an Elector contends and what it does when it leads.
type Config struct {
	// ConnConfig, made by pgx.ParseConfig, opens the elector's own connection: never one of a pool, which
	// could be exhausted, and not through a transaction pooler. It is copied. Required.
	ConnConfig *pgx.ConnConfig
	// Name is the lease's: 1 to 32 of a-z, A-Z, 0-9, '.', '_', '-', the first a letter or digit. Required.
	Name string
	// Holder says who leads, for people to read; it decides nothing. Default: empty.
	Holder string
	// TTL is how long the lease runs from its last renewal. The leader stops trusting it a fifth earlier.
	// Default 15 s; at least 100 ms.
	TTL time.Duration
	// Renew is the time from one renewal to the next, and how often a contender looks. At most TTL/3.
	// Default: 3 s, or TTL/5 where a TTL is given.
	Renew time.Duration
	// PollOnly makes contenders look every Renew without LISTEN, for connections that cannot have it; a
	// resignation is then seen up to Renew later.
	PollOnly bool
	// Lead is called with each term won, and leads until its ctx ends: when the lease is lost (the cause
	// is ErrLost) or when Run's ctx ends. It must return promptly then; the elector waits TTL/5 before it
	// gives the lease away, and as long as it takes before it contends again. When Lead returns by itself,
	// with an error or without, the lease is given away, and this elector contends again after Renew.
	// Required.
	Lead func(ctx context.Context, term Term) error
	// Logger gets terms won and lost, and what goes wrong. Default: none.
	Logger *slog.Logger
}

func (c Config) checked() (Config, error) {
	var faults []error
	if c.ConnConfig == nil {
		faults = append(faults, errors.New("ConnConfig is nil; make one with pgx.ParseConfig"))
	} else {
		c.ConnConfig = c.ConnConfig.Copy()
	}
	if !names.MatchString(c.Name) {
		faults = append(faults, fmt.Errorf("name %q is not 1 to 32 of a-z, A-Z, 0-9, '.', '_', '-' beginning with a letter or digit", c.Name))
	}
	switch {
	case c.TTL == 0 && c.Renew == 0:
		c.TTL, c.Renew = DefaultTTL, DefaultRenew
	case c.TTL == 0:
		c.TTL = DefaultTTL
	case c.Renew == 0:
		c.Renew = c.TTL / 5
	}
	if c.TTL < minTTL {
		faults = append(faults, fmt.Errorf("TTL %v is below %v", c.TTL, minTTL))
	}
	if c.Renew <= 0 || c.Renew > c.TTL/3 {
		faults = append(faults, fmt.Errorf("renew %v is not between 0 and a third of TTL %v; one renewal must be able to fail", c.Renew, c.TTL))
	}
	if c.Lead == nil {
		faults = append(faults, errors.New("lead is nil; nothing to do when elected"))
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c, errors.Join(faults...)
}

// margin is how much earlier than its expiry a lease is no longer trusted.
func (c Config) margin() time.Duration { return c.TTL / 5 }

// lockWait is how long a take-over waits for transactions that hold the fence before it ends their sessions.
func (c Config) lockWait() time.Duration { return min(time.Second, c.TTL/5) }
