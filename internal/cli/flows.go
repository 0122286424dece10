package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"axflow/engine/control"
	"axflow/flow"
	"axflow/sql/versions"
)

// version returns the version of a flow to start: that of the definition built in, else the newest registered.
// check tells whether params may start a run of it.
func (a *app) version(ctx context.Context, c *control.Client, name string) (v *versions.Version, check func([]byte) error, err error) {
	if def := a.builtIn(name); def != nil {
		v, err := c.Register(ctx, def)
		return v, def.DecodeCheck, err
	}
	v, err = c.Newest(ctx, name)
	if isNotFound(err) {
		known, listErr := a.knownFlows(ctx, c)
		switch {
		case listErr != nil:
			return nil, nil, listErr
		case len(known) == 0:
			return nil, nil, usagef("there is no flow %q in namespace %s, nor any other: start a worker that has it", name, c.Namespace())
		default:
			return nil, nil, usagef("there is no flow %q in namespace %s; there are %s. Check the name, or start a worker that has it",
				name, c.Namespace(), listed(known))
		}
	}
	if err != nil {
		return nil, nil, err
	}
	return v, v.Graph.CheckParams, nil
}

func (a *app) builtIn(name string) flow.Definition {
	for _, f := range a.Flows {
		if f.Name() == name {
			return f
		}
	}
	return nil
}

// knownFlows names the flows that are built in or registered.
func (a *app) knownFlows(ctx context.Context, c *control.Client) ([]string, error) {
	rows, err := c.Pool().Query(ctx, "SELECT name FROM ax.flow WHERE namespace = $1 ORDER BY name LIMIT 1000", c.Namespace())
	if err != nil {
		return nil, fmt.Errorf("listing flows: %w", err)
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, fmt.Errorf("listing flows: %w", err)
		}
		names = append(names, name)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("listing flows: %w", err)
	}
	for _, f := range a.Flows {
		names = append(names, f.Name())
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// idle says what is missing for runs of a version to get on: an engine that leads, or workers that have its
// stages. "" means nothing. It is advice: a few seconds old, and things may be starting.
func (a *app) idle(ctx context.Context, c *control.Client, v *versions.Version) (string, error) {
	var led bool
	var unable []string
	err := c.Pool().QueryRow(ctx, `
		SELECT EXISTS (SELECT 1 FROM ax.lease WHERE expires_at > now()),
		       ARRAY(SELECT h FROM unnest($2::text[]) AS h
		             WHERE NOT EXISTS (SELECT 1 FROM ax.worker w
		                               WHERE w.namespace = $1 AND w.seen_at > now() - interval '15 s' AND w.handlers ? h))`,
		c.Namespace(), v.Handlers).Scan(&led, &unable)
	if err != nil {
		return "", fmt.Errorf("looking for engines and workers: %w", err)
	}
	var lacks []string
	if !led {
		lacks = append(lacks, fmt.Sprintf("no engine leads this database (start `%s dev` or `%s server`)", a.Name, a.Name))
	}
	switch {
	case len(unable) == len(v.Handlers):
		lacks = append(lacks, "no worker has this flow (start its program with `worker` or `dev`)")
	case len(unable) > 0:
		names := make([]string, len(unable))
		for i, h := range unable {
			names[i] = v.Graph.Stages[slices.Index(v.Handlers, h)].Name
		}
		lacks = append(lacks, "no worker has "+listed(names)+" as this version has it (start the newer program)")
	}
	return strings.Join(lacks, "; "), nil
}
