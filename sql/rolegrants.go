package sql

// The parts of AX that have a role.
const (
	engine = "engine"
	worker = "worker"
	api    = "api"
	reader = "reader"
)

var parts = []string{engine, worker, api, reader}

var privilegeNames = map[rune]string{'S': "SELECT", 'I': "INSERT", 'U': "UPDATE", 'D': "DELETE"}

// of is what engine, worker and api may do with a table: S select, I insert, U update, D delete.
func of(e, w, a string) map[string]string { return map[string]string{engine: e, worker: w, api: a} }

// grants are what each part needs, by table. A table that is not here belongs to nobody but its owner: a test runs every
// statement of every part and fails for what is missing, and for what no statement needs. The audit is appended to, and
// changed by nobody. The engine owns the tables that are cut by day.
var grants = map[string]map[string]string{
	"schema_version": of("S", "S", "S"),
	"lease":          of("SIU", "", "S"),
	"lease_term":     of("I", "", ""),
	"partition":      of("SIUD", "", "S"),

	"flow":         of("S", "SIU", "SIU"),
	"flow_version": of("S", "SI", "SI"),

	"run":         of("SIUD", "SI", "SIU"),
	"stage":       of("SIUD", "SIU", "SIU"),
	"shard_input": of("SIUD", "SI", "S"),
	"result":      of("SIUD", "SI", "SI"),
	"journal":     of("SIUD", "", "SI"),
	"run_label":   of("SIUD", "I", "SI"),
	"log":         of("SIUD", "I", "S"),
	"run_key":     of("SD", "SIUD", "SIUD"),

	"ready":  of("SIUD", "SIUD", "SIUD"),
	"flight": of("SIUD", "SUD", "SUD"),
	"parked": of("SIUD", "SIU", "SIUD"),
	"expiry": of("SIUD", "I", "SID"),
	"child":  of("S", "SI", "S"),
	"worker": of("SD", "SIUD", "SU"),
	"ask":    of("I", "SID", "SI"),

	"setting":    of("S", "S", "SIU"),
	"hold":       of("SD", "", "SID"),
	"queue":      of("SU", "S", "SIUD"),
	"circuit":    of("SIU", "S", "SIU"),
	"rate":       of("SIUD", "", "S"),
	"pool":       of("", "S", "SIUD"),
	"learned":    of("SIU", "", "S"),
	"throughput": of("SIUD", "SIU", "S"),
	"counted":    of("SIU", "", ""),
	"replay":     of("SU", "", "SIU"),

	"webhook":  of("SU", "", "IUD"),
	"delivery": of("SIUD", "I", "SIUD"),

	"audit":   of("I", "", "SI"),
	"token":   of("", "", "SIU"),
	"session": of("", "", "SIUD"),
}

// narrow are privileges of some columns only, by table. A row lock (FOR SHARE and the like) asks for UPDATE of some column:
// these are columns that do no harm.
var narrow = map[string]map[string]string{
	"run":       {worker: "UPDATE (trace_id)"},
	"partition": {api: "UPDATE (day)"},
	// Whoever signs reads the secrets; the API only writes them. A run can end as it starts, and then tells webhooks.
	"webhook": {worker: "SELECT (id, namespace, events, flows, disabled_at)",
		api: "SELECT (id, namespace, name, url, events, flows, created_at, created_by, failing_since, disabled_at)"},
}

// unread are the columns that readers do not see besides all of type bytea, which is what payloads, errors and hashes are; "*" is
// all of them, and so is every table that is not here.
var unread = map[string][]string{
	"schema_version": nil, "lease": nil, "lease_term": nil, "partition": nil,
	"flow": nil, "flow_version": nil,
	"run": nil, "run_label": nil, "stage": nil, "result": nil, "journal": nil, "run_key": nil,
	"ready": nil, "flight": nil, "parked": nil, "expiry": nil, "child": nil, "worker": nil, "ask": nil,
	"setting": nil, "hold": nil, "queue": nil, "circuit": nil, "rate": nil, "pool": nil, "learned": nil, "replay": nil, "throughput": nil, "counted": nil,
	"audit": nil, "token": nil,
	"shard_input": {"*"}, "session": {"*"}, "log": {"*"},
	"webhook":  {"url"}, // many receivers take a secret in the address
	"delivery": nil,
}
