package sql

import "github.com/jackc/pgx/v5"

// Configure gives a connection the settings that the statements rely on. Plans are made for the values at
// hand: a generic plan cannot prune partitions before it locks them all. An application_name that is set
// already stays.
func Configure(cfg *pgx.ConnConfig) {
	set := func(name, value string) {
		if _, ok := cfg.RuntimeParams[name]; !ok {
			cfg.RuntimeParams[name] = value
		}
	}
	set("application_name", "ax")
	set("plan_cache_mode", "force_custom_plan")
	set("jit", "off")
	set("timezone", "UTC")
}
