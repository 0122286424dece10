package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"

	"axflow/internal/pg"
)

// devDatabase is the database inside the embedded server.
const devDatabase = "ax"

// database is where a command works.
type database struct {
	url    string
	where  string // for people, without a password
	server *pg.Server
	log    *slog.Logger
}

// close ends this process's use of an embedded server.
func (d *database) close(ctx context.Context) {
	if d.server == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	if err := d.server.Stop(ctx); err != nil {
		d.log.Error("stopping PostgreSQL", "error", err)
	}
}

// need says what a command does when no database is named.
type need uint8

const (
	named need = iota // refuse
	found             // use the embedded server that `dev` has made, if it has
	made              // make an embedded server
)

// database is the one that a flag or the environment names; n says what happens if none does.
func (a *app) database(ctx context.Context, n need, log *slog.Logger) (*database, error) {
	address := a.flags.databaseURL
	if address == "" {
		address = a.Getenv(pg.EnvDatabase)
	}
	return a.databaseAt(ctx, address, n, log)
}

// databaseAt is the one at an address.
func (a *app) databaseAt(ctx context.Context, address string, n need, log *slog.Logger) (*database, error) {
	if address != "" {
		cfg, err := pgx.ParseConfig(address)
		if err != nil {
			return nil, usagef("reading the database URL: %w", err)
		}
		return &database{url: address, where: fmt.Sprintf("%s on %s:%d", cfg.Database, cfg.Host, cfg.Port), log: log}, nil
	}
	if n == named {
		return nil, usagef("no database is named: set %s or --database-url; `%s dev` runs a database of its own", pg.EnvDatabase, a.Name)
	}
	dir := a.flags.dataDir
	if dir == "" {
		dir = a.Getenv("AX_DATA_DIR")
	}
	if n == found {
		if err := a.findDev(dir); err != nil {
			return nil, err
		}
	}
	server, err := pg.Start(ctx, pg.Config{Dir: dir, Logger: log})
	if err != nil {
		return nil, fmt.Errorf("starting PostgreSQL: %w", err)
	}
	d := &database{server: server, log: log}
	if err := server.CreateDatabase(ctx, devDatabase); err != nil {
		d.close(ctx)
		return nil, err
	}
	d.url = server.SocketURL(devDatabase)
	d.where = fmt.Sprintf("embedded PostgreSQL in %s, port %d on loopback", server.Dir(), server.Port())
	return d, nil
}

// findDev fails when `dev` was never run: a database made only to be looked at would hold nothing.
func (a *app) findDev(dir string) error {
	if dir == "" {
		var err error
		if dir, err = pg.DefaultDir(); err != nil {
			return err
		}
	}
	_, err := os.Stat(filepath.Join(dir, "data", "PG_VERSION"))
	switch {
	case err == nil, errors.Is(err, fs.ErrPermission): // it is another user's, who runs the server for root
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return usagef("no database is named, and `%s dev` has not made one in %s: start it in another terminal, or set %s or --database-url",
			a.Name, dir, pg.EnvDatabase)
	default:
		return fmt.Errorf("looking for a database in %s: %w", dir, err)
	}
}
