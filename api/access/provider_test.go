package access_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/coreos/go-oidc/v3/oidc/oidctest"
)

const (
	clientID     = "ax"
	clientSecret = "a secret that only AX and the provider know"
	callbackURL  = "https://ax.example.com/auth/callback"
)

// idp is a small identity provider: it lets the person in who is set, once for each code, and holds a client to its secret, its
// redirect address and PKCE.
type idp struct {
	*httptest.Server
	key *ecdsa.PrivateKey

	mu     sync.Mutex
	down   bool
	person map[string]any // claims of the next ID token; nil values take the usual ones away
	signer crypto.PrivateKey
	codes  map[string]url.Values // what each code was asked for with
	asked  int                   // for the configuration
	code   int
}

func newIDP(t *testing.T) *idp {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	p := &idp{key: key, signer: key, codes: make(map[string]url.Values)}
	keys := &oidctest.Server{PublicKeys: []oidctest.PublicKey{{PublicKey: key.Public(), KeyID: "k", Algorithm: oidc.ES256}}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.asked++
		if p.down {
			http.Error(w, "not now", http.StatusServiceUnavailable)
			return
		}
		answer(w, map[string]any{"issuer": p.URL, "authorization_endpoint": p.URL + "/authorize", "token_endpoint": p.URL + "/token", "jwks_uri": p.URL + "/keys",
			"end_session_endpoint": p.URL + "/end", "id_token_signing_alg_values_supported": []string{"ES256"}})
	})
	mux.HandleFunc("POST /token", p.token)
	mux.Handle("GET /keys", keys)
	p.Server = httptest.NewServer(mux)
	t.Cleanup(p.Close)
	keys.SetIssuer(p.URL)
	return p
}

func answer(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(body)
}

// authorize is what a browser does at the provider: the person logs in, and is sent back with a code.
func (p *idp) authorize(address string) url.Values {
	u, err := url.Parse(address)
	if err != nil {
		panic(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.code++
	code := "code" + string(rune('a'+p.code))
	p.codes[code] = u.Query()
	return url.Values{"code": {code}, "state": {u.Query().Get("state")}}
}

func (p *idp) token(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	id, secret, ok := r.BasicAuth()
	if !ok {
		id, secret = r.FormValue("client_id"), r.FormValue("client_secret")
	} else {
		secret, _ = url.QueryUnescape(secret)
	}
	asked, known := p.codes[r.FormValue("code")]
	delete(p.codes, r.FormValue("code"))
	challenge := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	if id != clientID || secret != clientSecret || !known || r.FormValue("redirect_uri") != callbackURL || r.FormValue("grant_type") != "authorization_code" ||
		asked.Get("code_challenge_method") != "S256" || asked.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(challenge[:]) {
		w.WriteHeader(http.StatusBadRequest)
		answer(w, map[string]any{"error": "invalid_grant"})
		return
	}
	claims := map[string]any{"iss": p.URL, "aud": clientID, "sub": "1234", "nonce": asked.Get("nonce"), "iat": time.Now().Unix(), "exp": time.Now().Add(time.Minute).Unix(),
		"email": "Ada@Example.com", "email_verified": true}
	maps.Copy(claims, p.person)
	for name, v := range claims {
		if v == nil {
			delete(claims, name)
		}
	}
	text, err := json.Marshal(claims)
	if err != nil {
		panic(err)
	}
	answer(w, map[string]any{"access_token": "not used", "token_type": "Bearer", "id_token": oidctest.SignIDToken(p.signer, "k", oidc.ES256, string(text))})
}

// set says who logs in next.
func (p *idp) set(person map[string]any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.person = person
}

func (p *idp) turn(down bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = down
}
