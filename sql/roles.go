package sql

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// DefaultRolePrefix begins the names of the roles.
const DefaultRolePrefix = "ax"

// RolesOptions says how CreateRoles works.
type RolesOptions struct {
	// Prefix begins the roles' names: <prefix>_engine, <prefix>_worker, <prefix>_api, <prefix>_reader. Roles belong to the whole
	// server: databases that shall not share theirs need prefixes of their own. Default DefaultRolePrefix.
	Prefix string
}

// CreateRoles makes AX's group roles, if they are not there, and gives each exactly what its part of AX needs, in one
// transaction: what a table of roles had before is taken away first. Run it again after every migration. The roles cannot log in;
// users that can are made by whoever runs the server and become their members.
//
//   - engine owns the tables that are cut by day, because only an owner can attach and detach their partitions;
//   - worker runs tasks and starts runs; it reads no token and writes no audit;
//   - api does what the API's clients ask for, and cannot change the audit;
//   - reader reads, but no payloads, errors, logs or secrets.
//
// conn's user must own schema ax (the one that migrates) and, while roles are missing, may create roles; it becomes a member of
// engine, or could not migrate any more. The first time, tables change their owner, for which each is locked for a moment.
func CreateRoles(ctx context.Context, conn *pgx.Conn, o RolesOptions) error {
	if o.Prefix == "" {
		o.Prefix = DefaultRolePrefix
	}
	if !rolePrefix.MatchString(o.Prefix) {
		return fmt.Errorf("a prefix %q for roles: use 1 to 40 of a-z, 0-9 and _, beginning with a letter", o.Prefix)
	}
	if err := Check(ctx, conn); err != nil {
		return err
	}
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock($1)", int64(migrateLock)); err != nil {
		return fmt.Errorf("waiting for the migration lock: %w", err)
	}
	defer func() {
		_, _ = conn.Exec(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock($1)", int64(migrateLock))
	}()
	for _, part := range parts {
		if err := createRole(ctx, conn, o.Prefix+"_"+part); err != nil {
			return fmt.Errorf("creating role %s_%s: %w", o.Prefix, part, err)
		}
	}
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error { return giveAll(ctx, tx, o.Prefix) })
}

var rolePrefix = regexp.MustCompile(`^[a-z][a-z0-9_]{0,39}$`)

// RolesPrefix tells whether CreateRoles has been run in the database, and with which prefix.
func RolesPrefix(ctx context.Context, q Querier) (prefix string, made bool, err error) {
	var owner string
	err = q.QueryRow(ctx, "SELECT coalesce((SELECT pg_get_userbyid(relowner)::text FROM pg_class WHERE oid = to_regclass('ax.run')), '')").Scan(&owner)
	if err != nil {
		return "", false, fmt.Errorf("looking for the roles: %w", err)
	}
	prefix, made = strings.CutSuffix(owner, "_engine")
	return prefix, made, nil
}

// ownerOther is a table's owner, quoted, if it is another than the current user; else "".
func ownerOther(ctx context.Context, q Querier, name string) (owner string, err error) {
	err = q.QueryRow(ctx, `SELECT coalesce((SELECT quote_ident(pg_get_userbyid(relowner)) FROM pg_class
		WHERE oid = to_regclass($1) AND pg_get_userbyid(relowner) <> current_user), '')`, "ax."+name).Scan(&owner)
	return owner, err
}

// createRole makes a role that is not there. Roles are the whole server's: another database's may be made at the same moment.
func createRole(ctx context.Context, conn *pgx.Conn, name string) error {
	var there bool
	if err := conn.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = $1)", name).Scan(&there); err != nil || there {
		return err
	}
	_, err := conn.Exec(ctx, "CREATE ROLE "+name+" NOLOGIN")
	var pg *pgconn.PgError
	if errors.As(err, &pg) && (pg.Code == "42710" || pg.Code == "23505") { // it exists by now
		return nil
	}
	return err
}

// lockWait bounds how long a change of owner waits for a table, with everybody else waiting behind it.
const lockWait = "5s"

func giveAll(ctx context.Context, tx pgx.Tx, prefix string) error {
	do := func(format string, args ...any) error {
		statement := fmt.Sprintf(format, args...)
		if _, err := tx.Exec(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
		return nil
	}
	all := make([]string, len(parts))
	for i, part := range parts {
		all[i] = prefix + "_" + part
	}
	everybody := strings.Join(all, ", ")
	engine := prefix + "_" + engine
	if err := errors.Join(
		do("SET LOCAL lock_timeout = '%s'", lockWait),
		do("REVOKE ALL ON SCHEMA ax FROM PUBLIC, %s", everybody),
		do("GRANT USAGE ON SCHEMA ax TO %s", everybody),
		do("GRANT CREATE ON SCHEMA ax TO %s", engine),
	); err != nil {
		return err
	}
	if err := own(ctx, tx, engine, do); err != nil {
		return err
	}
	tables, err := catalogue(ctx, tx)
	if err != nil {
		return err
	}
	for _, t := range tables {
		if err := do("REVOKE ALL ON ax.%s FROM PUBLIC, %s", t.name, everybody); err != nil {
			return err
		}
		for _, part := range parts {
			for _, privilege := range t.privileges(part) {
				if err := do("GRANT %s ON ax.%s TO %s_%s", privilege, t.name, prefix, part); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// own gives the tables that are cut by day, and their partitions, to the engine.
func own(ctx context.Context, tx pgx.Tx, engine string, do func(string, ...any) error) error {
	var member bool
	if err := tx.QueryRow(ctx, "SELECT pg_has_role($1, 'USAGE')", engine).Scan(&member); err != nil {
		return fmt.Errorf("looking whose member this is: %w", err)
	}
	if !member {
		if err := do("GRANT %s TO CURRENT_USER", engine); err != nil {
			return err
		}
	}
	names := make([]string, len(partitioned))
	for i, t := range partitioned {
		names[i] = "ax." + t.name
	}
	rows, err := tx.Query(ctx, `SELECT c.oid::regclass::text FROM unnest($1::text[]) AS n (name)
		CROSS JOIN LATERAL pg_partition_tree(n.name::regclass) t JOIN pg_class c ON c.oid = t.relid
		WHERE pg_get_userbyid(c.relowner) <> $2 ORDER BY 1`, names, engine)
	if err != nil {
		return fmt.Errorf("looking for partitions: %w", err)
	}
	others, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("looking for partitions: %w", err)
	}
	for _, name := range others {
		if err := do("ALTER TABLE %s OWNER TO %s", name, engine); err != nil {
			return err
		}
	}
	return nil
}

// table is one of schema ax, without partitions.
type table struct {
	name    string
	columns []column
}

type column struct {
	name  string
	bytes bool
}

func catalogue(ctx context.Context, tx pgx.Tx) ([]table, error) {
	rows, err := tx.Query(ctx, `SELECT c.relname::text, a.attname::text, a.atttypid IN ('bytea'::regtype, 'bytea[]'::regtype)
		FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
		WHERE c.relnamespace = 'ax'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND a.attnum > 0 AND NOT a.attisdropped
		ORDER BY c.relname, a.attnum`)
	if err != nil {
		return nil, fmt.Errorf("listing the tables: %w", err)
	}
	var tables []table
	var t string
	var c column
	_, err = pgx.ForEachRow(rows, []any{&t, &c.name, &c.bytes}, func() error {
		if len(tables) == 0 || tables[len(tables)-1].name != t {
			tables = append(tables, table{name: t})
		}
		last := &tables[len(tables)-1]
		last.columns = append(last.columns, c)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("listing the tables: %w", err)
	}
	return tables, nil
}

// privileges are what a part gets of a table, as GRANT spells it.
func (t table) privileges(part string) []string {
	if part == reader {
		return t.readable()
	}
	var all []string
	for _, letter := range grants[t.name][part] {
		all = append(all, privilegeNames[letter])
	}
	if some := narrow[t.name][part]; some != "" {
		all = append(all, some)
	}
	return all
}

// readable is what readers get: columns, and none of those that may hold payloads or secrets.
func (t table) readable() []string {
	hidden, known := unread[t.name]
	if !known || slices.Contains(hidden, "*") {
		return nil
	}
	var names []string
	for _, c := range t.columns {
		if (!c.bytes || t.name == "flow_version") && !slices.Contains(hidden, c.name) {
			names = append(names, c.name)
		}
	}
	return []string{"SELECT (" + strings.Join(names, ", ") + ")"}
}
