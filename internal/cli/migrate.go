package cli

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"

	axsql "axflow/sql"
)

func (a *app) migrateCommand() *cobra.Command {
	var roles bool
	var prefix string
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Bring the database's schema up to this binary's",
		Long: `Bring the database's schema up to this binary's. Safe to call from any number of places at once; a newer schema is left alone.

With --roles it makes PostgreSQL roles for the engine, workers, the API and readers, each with what its part needs and no more; they cannot
log in, and become the roles of users that can. The database's user must own schema ax, and may create roles. Once a database has roles, every
migration brings them up to date too. See docs/security.md.`,
		Example: `  ax migrate
  ax migrate --roles
  psql -c "CREATE ROLE etl_worker LOGIN PASSWORD '…'" -c "GRANT ax_worker TO etl_worker"`,
		Args: takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			log, err := a.logger(a.Stderr, slog.LevelWarn)
			if err != nil {
				return err
			}
			d, err := a.database(cmd.Context(), found, log)
			if err != nil {
				return err
			}
			defer d.close(cmd.Context())
			if err := axsql.Migrate(cmd.Context(), d.url); err != nil {
				return err
			}
			a.say("the schema of %s is up to date", d.where)
			if !roles {
				prefix = ""
			}
			made, err := bringRoles(cmd.Context(), d.url, prefix)
			if err != nil {
				return fmt.Errorf("the schema is up to date, the roles are not: %w", err)
			}
			if made != "" {
				a.say("the roles %s_engine, %s_worker, %s_api and %s_reader have what their parts need", made, made, made, made)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&roles, "roles", false, "make PostgreSQL roles for the parts of AX")
	cmd.Flags().StringVar(&prefix, "role-prefix", axsql.DefaultRolePrefix, "with --roles: how the roles' names begin; roles belong to the whole server")
	return cmd
}

// bringRoles makes the roles with a prefix, or for "" brings those up to date that the database has, and returns their prefix; "": it has
// none.
func bringRoles(ctx context.Context, url, prefix string) (string, error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return "", fmt.Errorf("connecting: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	have, made, err := axsql.RolesPrefix(ctx, conn)
	switch {
	case err != nil:
		return "", err
	case prefix == "" && !made:
		return "", nil
	case prefix == "":
		prefix = have
	case made && prefix != have:
		return "", fmt.Errorf("the database has roles named %s_… already: use --role-prefix %s", have, have)
	}
	return prefix, axsql.CreateRoles(ctx, conn, axsql.RolesOptions{Prefix: prefix})
}
