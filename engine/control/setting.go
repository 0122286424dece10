package control

import (
	"context"
	"encoding/json"
	"fmt"

	"axflow/sql/db"
)

// known are the kill switches.
var known = []struct{ name, says string }{
	{"aging", "waiting work rises in level; off: first in, first out within a level"},
	{"breaker", "circuit breakers hold work back; off: none does, and workers do not trip"},
	{"events", "hints move work at once; off: the engine looks every second"},
	{"pressure", "full queues demote, pause and refuse; off: nothing of that"},
	{"weights", "levels share by weight; off: strictly in their order"},
	{"wheel", "timers wait in memory; off: the database is asked every second what is due"},
}

// Settings lists the kill switches, by name.
func (c *Client) Settings(ctx context.Context) ([]Setting, error) {
	rows, err := c.q.SettingRows(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading settings: %w", err)
	}
	all := make([]Setting, len(known))
	for i, k := range known {
		all[i] = Setting{Name: k.name, On: true, Default: true, Says: k.says}
		for _, r := range rows {
			if r.Name == k.name {
				on := true
				if err := json.Unmarshal(r.Value, &on); err != nil {
					return nil, fmt.Errorf("reading setting %s: %w", r.Name, err)
				}
				all[i].On, all[i].Default, all[i].UpdatedAt = on, false, &r.UpdatedAt
			}
		}
	}
	return all, nil
}

// SetSetting switches a part of the engine on or off; a name that is none is CodeNotFound, and the error lists all.
// Settings are those of the whole database, not of a namespace.
func (c *Client) SetSetting(ctx context.Context, name string, on bool, who Who) ([]Touch, error) {
	names := make([]string, len(known))
	found := false
	for i, k := range known {
		names[i] = k.name
		found = found || k.name == name
	}
	if !found {
		return nil, &Error{Code: CodeNotFound, Text: fmt.Sprintf("there is no setting %q: use one of %q", name, names)}
	}
	return c.admin(ctx, "set_setting", "setting/"+name, who, func(ctx context.Context, q *db.Queries) ([]Touch, map[string]any, error) {
		value, err := json.Marshal(on)
		if err != nil {
			return nil, nil, err
		}
		rows, err := q.SetSetting(ctx, db.SetSettingParams{Name: name, Value: value})
		if err != nil || len(rows) == 0 {
			return nil, nil, err
		}
		state := "off"
		if on {
			state = "on"
		}
		return says(fmt.Sprintf("setting %s is %s", name, state)), map[string]any{"on": on}, nil
	})
}
