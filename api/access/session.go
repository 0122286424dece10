package access

import (
	"crypto/rand"
	"encoding/base64"
)

// sessionCookie holds a session's secret. The prefix makes browsers accept it only over TLS, from this host, for every path.
const sessionCookie = "__Host-ax-session"

// sessionLen is the length of a session's secret: 256 random bits in base64.
const sessionLen = 43

// random is 256 random bits as text.
func random() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // it never fails: the process ends if there is no randomness
	return base64.RawURLEncoding.EncodeToString(b[:])
}
