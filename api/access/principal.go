// Package access says who asks and what they may do: roles and permissions, tokens, sessions.
package access

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"axflow/api/gen"
)

// Principal is who asks. The namespace of everything that they see and do is the principal's.
type Principal struct {
	// Actor is what the audit writes, such as "token:nightly trigger", "user:ada@example.com", "local:ada".
	Actor     string
	Namespace string
	Role      gen.Role
	// Scopes narrow the role; nil: everything that the role has.
	Scopes []gen.Permission
	// Cluster lets an admin change what concerns the whole database.
	Cluster bool
	Via     gen.MeVia
	// Credential is the id of the token or session, by which requests are counted; zero for a local one.
	Credential uuid.UUID
	// ExpiresAt is when the credential ends; zero: never.
	ExpiresAt time.Time
}

// roles are what each role may do.
var roles = map[gen.Role][]gen.Permission{
	gen.RoleViewer: {gen.PermissionFlowsRead, gen.PermissionRunsRead, gen.PermissionPayloadsRead, gen.PermissionFleetRead, gen.PermissionMetricsRead},
	gen.RoleWorker: {gen.PermissionFlowsRead, gen.PermissionRunsRead, gen.PermissionPayloadsRead, gen.PermissionRunsStart},
	gen.RoleOperator: {gen.PermissionFlowsRead, gen.PermissionRunsRead, gen.PermissionPayloadsRead, gen.PermissionFleetRead, gen.PermissionMetricsRead,
		gen.PermissionRunsStart, gen.PermissionRunsOperate, gen.PermissionFlowsOperate, gen.PermissionFleetOperate},
	gen.RoleAdmin: {gen.PermissionFlowsRead, gen.PermissionRunsRead, gen.PermissionPayloadsRead, gen.PermissionFleetRead, gen.PermissionMetricsRead,
		gen.PermissionRunsStart, gen.PermissionRunsOperate, gen.PermissionFlowsOperate, gen.PermissionFleetOperate,
		gen.PermissionAccessAdmin, gen.PermissionAuditRead, gen.PermissionWebhooksAdmin, gen.PermissionSettingsAdmin},
}

// Allows tells whether the principal has a permission: its role has it, its scopes do not take it away, and what concerns the
// whole database needs Cluster too.
func (p Principal) Allows(perm gen.Permission) bool {
	return slices.Contains(roles[p.Role], perm) &&
		(p.Scopes == nil || slices.Contains(p.Scopes, perm)) &&
		(perm != gen.PermissionSettingsAdmin || p.Cluster)
}

// Permissions are all that the principal has.
func (p Principal) Permissions() []gen.Permission {
	var all []gen.Permission
	for _, perm := range roles[gen.RoleAdmin] {
		if p.Allows(perm) {
			all = append(all, perm)
		}
	}
	return all
}

type key struct{}

// With returns a context that carries who asks.
func With(ctx context.Context, p Principal) context.Context { return context.WithValue(ctx, key{}, p) }

// From is who asks; ok is false for a context without one, which may do nothing.
func From(ctx context.Context) (p Principal, ok bool) {
	p, ok = ctx.Value(key{}).(Principal)
	return p, ok
}
