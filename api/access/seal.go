package access

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// loginCookie holds a login under way, for loginLife.
const (
	loginCookie = "__Host-ax-login"
	loginLife   = 10 * time.Minute
)

// login is a login under way: what the callback must bring back, and where to go then.
type login struct {
	State     string    `json:"s"` // ties the callback to this browser
	Nonce     string    `json:"n"` // ties the ID token to this login
	Verifier  string    `json:"v"` // of PKCE: ties the code to this login
	Return    string    `json:"r"`
	Namespace string    `json:"ns,omitempty"`
	Ends      time.Time `json:"e"`
}

// sealer seals logins under way, so that any server of the same configuration can go on with them and nobody else can make or read
// one.
type sealer struct{ aead cipher.AEAD }

func newSealer(secret string) (*sealer, error) {
	key, err := hkdf.Key(sha256.New, []byte(secret), nil, "ax login cookie 1", 32)
	if err != nil {
		return nil, fmt.Errorf("deriving a key: %w", err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("setting AES up: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, fmt.Errorf("setting GCM up: %w", err)
	}
	return &sealer{aead}, nil
}

func (s *sealer) seal(l login) (string, error) {
	plain, err := json.Marshal(l)
	if err != nil {
		return "", fmt.Errorf("encoding a login: %w", err)
	}
	sealed := s.aead.Seal(nil, nil, plain, []byte(loginCookie)) //nolint:gosec // G407: this AEAD makes a random nonce itself, and takes none
	return base64.RawURLEncoding.EncodeToString(sealed), nil
}

// errNoLogin says that a browser has no login under way.
var errNoLogin = errors.New("there is no login under way")

// open is the login that a request's browser has under way.
func (s *sealer) open(r *http.Request, now time.Time) (l login, err error) {
	cookie, err := r.Cookie(loginCookie)
	if err != nil {
		return l, errNoLogin
	}
	sealed, err := base64.RawURLEncoding.DecodeString(cookie.Value)
	if err != nil {
		return l, errNoLogin
	}
	plain, err := s.aead.Open(nil, nil, sealed, []byte(loginCookie))
	if err != nil {
		return l, errNoLogin
	}
	if err := json.Unmarshal(plain, &l); err != nil || !now.Before(l.Ends) {
		return login{}, errNoLogin
	}
	return l, nil
}

// setCookie sets a cookie for life, or takes it away.
func setCookie(w http.ResponseWriter, name, value string, life time.Duration) {
	c := &http.Cookie{Name: name, Value: value, Path: "/", Secure: true, HttpOnly: true, SameSite: http.SameSiteLaxMode, MaxAge: int(life.Seconds())}
	if value == "" {
		c.MaxAge = -1
	}
	http.SetCookie(w, c)
}

// random is 256 random bits as text.
func random() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // it never fails: the process ends if there is no randomness
	return base64.RawURLEncoding.EncodeToString(b[:])
}
