package access_test

import (
	"errors"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"axflow/api/access"
	"axflow/api/gen"
	"axflow/api/problem"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// admin is a local administrator of a namespace.
func admin(namespace string) access.Principal {
	return access.Principal{Actor: "local:ada", Namespace: namespace, Role: gen.RoleAdmin, Cluster: true, Via: gen.MeViaLocal}
}

// refused fails the test unless err is a problem of the code whose detail holds the words.
func refused(t *testing.T, what string, err error, code gen.ProblemCode, words ...string) {
	t.Helper()
	var p *problem.Error
	if !errors.As(err, &p) || p.Code != code {
		t.Errorf("%s: %v, want %s", what, err, code)
		return
	}
	for _, w := range words {
		if !strings.Contains(p.Detail, w) {
			t.Errorf("%s: %q does not say %q", what, p.Detail, w)
		}
	}
}
