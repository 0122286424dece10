package access_test

import (
	"slices"
	"strings"
	"testing"

	"axflow/api/access"
	"axflow/api/gen"
)

// Who may what, as docs/security.md has it.
const table = `
permission      viewer  worker  operator  admin  cluster
flows:read      yes     yes     yes       yes    yes
runs:read       yes     yes     yes       yes    yes
payloads:read   yes     yes     yes       yes    yes
fleet:read      yes     no      yes       yes    yes
metrics:read    yes     no      yes       yes    yes
runs:start      no      yes     yes       yes    yes
runs:operate    no      no      yes       yes    yes
flows:operate   no      no      yes       yes    yes
fleet:operate   no      no      yes       yes    yes
access:admin    no      no      no        yes    yes
audit:read      no      no      no        yes    yes
webhooks:admin  no      no      no        yes    yes
settings:admin  no      no      no        no     yes
`

// all are the permissions of the API's document.
var all = []gen.Permission{"flows:read", "flows:operate", "runs:read", "runs:start", "runs:operate", "payloads:read", "fleet:read", "fleet:operate",
	"access:admin", "audit:read", "webhooks:admin", "settings:admin", "metrics:read"}

func right(t *testing.T) map[gen.Permission]map[string]bool {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(table), "\n")
	columns := strings.Fields(lines[0])
	rights := make(map[gen.Permission]map[string]bool)
	for _, line := range lines[1:] {
		cells := strings.Fields(line)
		row := make(map[string]bool)
		for i, c := range columns[1:] {
			row[c] = cells[i+1] == "yes"
		}
		rights[gen.Permission(cells[0])] = row
	}
	if len(rights) != len(all) {
		t.Fatalf("the table has %d permissions, want %d", len(rights), len(all))
	}
	return rights
}

// Every role with every permission, without scopes, with each single scope, and with all but one.
func TestRolesAndPermissions(t *testing.T) {
	rights := right(t)
	for _, name := range []string{"viewer", "worker", "operator", "admin", "cluster"} {
		p := access.Principal{Role: gen.Role(name)}
		if name == "cluster" {
			p.Role, p.Cluster = gen.RoleAdmin, true
		}
		for _, perm := range all {
			if !perm.Valid() {
				t.Errorf("%s is no permission of the document", perm)
			}
			want := rights[perm][name]
			if got := p.Allows(perm); got != want {
				t.Errorf("%s, %s: %v, want %v", name, perm, got, want)
			}
			if got := slices.Contains(p.Permissions(), perm); got != want {
				t.Errorf("%s among the permissions of %s: %v, want %v", perm, name, got, want)
			}
			for _, scope := range all {
				narrow, wide := p, p
				narrow.Scopes = []gen.Permission{scope}
				wide.Scopes = slices.DeleteFunc(slices.Clone(all), func(s gen.Permission) bool { return s == scope })
				if got := narrow.Allows(perm); got != (want && perm == scope) {
					t.Errorf("%s narrowed to %s, %s: %v", name, scope, perm, got)
				}
				if got := wide.Allows(perm); got != (want && perm != scope) {
					t.Errorf("%s narrowed to all but %s, %s: %v", name, scope, perm, got)
				}
			}
		}
		p.Scopes = []gen.Permission{}
		if got := p.Permissions(); len(got) > 0 {
			t.Errorf("%s narrowed to nothing has %v", name, got)
		}
	}
}

// A cluster bit that the role cannot have is worth nothing, and neither is a role that nobody knows.
func TestWhatGivesNothing(t *testing.T) {
	for _, p := range []access.Principal{{}, {Role: "root"}, {Role: "root", Cluster: true}, {Cluster: true}} {
		if got := p.Permissions(); len(got) > 0 {
			t.Errorf("%+v has %v", p, got)
		}
	}
	if (access.Principal{Role: gen.RoleOperator, Cluster: true}).Allows(gen.PermissionSettingsAdmin) {
		t.Error("an operator with the cluster bit turns kill switches")
	}
	if _, ok := access.From(t.Context()); ok {
		t.Error("a context without a principal has one")
	}
}
