package access

import (
	"errors"
	"net/http"
)

// ErrNoCredential says that a request has no credential at all.
var ErrNoCredential = errors.New("there is no credential")

// Authenticator finds out who sends a request. It is safe for concurrent use.
type Authenticator interface {
	// Authenticate returns who sends r, from its credential alone. A request without one gets ErrNoCredential; one with a
	// credential that is unknown, revoked or expired a *problem.Error of the code unauthenticated, which tells unknown and revoked not
	// apart, and that it has expired only to who has the secret. Any other error means that it could not be found out, and is the
	// server's fault. The error never quotes the credential.
	Authenticate(r *http.Request) (Principal, error)
}
