package access

import (
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"axflow/api/gen"
)

// login sends the browser to the provider. ?return= is a path of this server to come back to, ?namespace= the one to work in, for
// who has roles in several.
func (o *OIDC) login(w http.ResponseWriter, r *http.Request) {
	p, err := o.find(r.Context())
	if err != nil {
		o.cfg.Logger.Error("the identity provider does not answer", "issuer", o.cfg.Issuer, "error", err)
		refuse(w, http.StatusServiceUnavailable, "The identity provider does not answer", "Try again in a moment. If it lasts, tell whoever runs this server.")
		return
	}
	l := login{State: random(), Nonce: random(), Verifier: oauth2.GenerateVerifier(), Return: localPath(r.FormValue("return")),
		Namespace: r.FormValue("namespace"), Ends: o.cfg.Now().Add(loginLife)}
	if len(l.Namespace) > 100 {
		refuse(w, http.StatusBadRequest, "There is no such namespace", "Log in again without naming one.")
		return
	}
	sealed, err := o.seal.seal(l)
	if err != nil {
		o.fault(w, "sealing a login failed", err)
		return
	}
	setCookie(w, loginCookie, sealed, loginLife)
	redirect(w, r, p.oauth.AuthCodeURL(l.State, oidc.Nonce(l.Nonce), oauth2.S256ChallengeOption(l.Verifier)))
}

// localPath is a path of this server, or / for whatever leads elsewhere or back into a login.
func localPath(text string) string {
	if len(text) > 1000 || !strings.HasPrefix(text, "/") || strings.HasPrefix(text, "//") || strings.HasPrefix(text, "/auth/") {
		return "/"
	}
	for _, c := range text {
		if c < ' ' || c == '\\' || c == 0x7f { // browsers read \ as /, and leave out tabs and line ends
			return "/"
		}
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil {
		return "/"
	}
	return text
}

// refusal is a login that is not to be; text says what to do.
type refusal struct {
	status      int
	title, text string
	cause       error // for the log
}

func (r *refusal) Error() string {
	if r.cause == nil {
		return r.title
	}
	return fmt.Sprintf("%s: %v", r.title, r.cause)
}

func (r *refusal) Unwrap() error { return r.cause }

func again(cause error) *refusal {
	return &refusal{http.StatusBadRequest, "This login cannot go on", "It took too long, was used already, or began in another browser.", cause}
}

// callback is where the provider sends the browser back to: it makes the session.
func (o *OIDC) callback(w http.ResponseWriter, r *http.Request) {
	l, err := o.seal.open(r, o.cfg.Now())
	setCookie(w, loginCookie, "", 0) // it is used up, whatever becomes of it
	var cookie string
	if err != nil {
		err = again(err)
	} else {
		cookie, err = o.admit(r, l)
	}
	if err != nil {
		var no *refusal
		if !errors.As(err, &no) {
			o.fault(w, "a login failed", err)
			return
		}
		o.cfg.Logger.Warn("login refused", "reason", no.Error())
		refuse(w, no.status, no.title, no.text)
		return
	}
	setCookie(w, sessionCookie, cookie, o.cfg.Life)
	redirect(w, r, l.Return)
}

// admit checks what the provider says, and makes the session.
func (o *OIDC) admit(r *http.Request, l login) (cookie string, err error) {
	q := r.URL.Query()
	if subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(l.State)) != 1 {
		return "", again(errors.New("the state is not this browser's"))
	}
	if iss := q.Get("iss"); iss != "" && iss != o.cfg.Issuer {
		return "", again(fmt.Errorf("the answer is of %.200q", iss))
	}
	if code := q.Get("error"); code != "" {
		return "", &refusal{http.StatusForbidden, "The identity provider refused", "It may have asked you for something that you declined. Tell whoever runs it if you should be let in.",
			fmt.Errorf("%.100q", code)}
	}
	p, err := o.find(r.Context())
	if err != nil {
		return "", err
	}
	ctx := oidc.ClientContext(r.Context(), o.cfg.HTTP)
	token, err := p.oauth.Exchange(ctx, q.Get("code"), oauth2.VerifierOption(l.Verifier))
	if err != nil {
		return "", again(fmt.Errorf("exchanging the code: %w", err))
	}
	who, err := o.verify(ctx, p, token, l.Nonce)
	if err != nil {
		return "", again(err)
	}
	granted, err := o.grant(who, l.Namespace)
	if err != nil {
		return "", err
	}
	n := newSession{Principal: Principal{Actor: who.actor(), Namespace: granted.Namespace, Role: granted.Role, Cluster: granted.Cluster, Via: gen.MeViaSession},
		Issuer: o.cfg.Issuer, Subject: who.subject, Email: who.email, IDToken: who.raw, Nonce: l.Nonce, Life: o.cfg.Life, Idle: o.cfg.Idle}
	if before, err := r.Cookie(sessionCookie); err == nil {
		n.Before = before.Value
	}
	if cookie, err = startSession(r.Context(), o.cfg.Pool, n); errors.Is(err, errLoginUsed) {
		return "", again(err)
	}
	return cookie, err
}

// logout ends the session here, and sends the browser to end it at the provider too where it can be. Who asks for JSON gets the address
// instead of being sent there.
func (o *OIDC) logout(w http.ResponseWriter, r *http.Request) {
	to := o.home
	if cookie, err := r.Cookie(sessionCookie); err == nil {
		idToken, err := endSession(r.Context(), o.cfg.Pool, cookie.Value)
		if err != nil {
			o.fault(w, "ending a session failed", err)
			return
		}
		if p, err := o.find(r.Context()); err == nil && p.logout != "" && idToken != "" {
			to = endAt(p.logout, url.Values{"id_token_hint": {idToken}, "client_id": {o.cfg.ClientID}, "post_logout_redirect_uri": {o.home}})
		}
	}
	setCookie(w, sessionCookie, "", 0)
	if !strings.Contains(r.Header.Get("Accept"), "application/json") {
		redirect(w, r, to)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]string{"location": to}) // who is gone needs no answer
}

// endAt adds a query to the provider's address.
func endAt(address string, q url.Values) string {
	if strings.Contains(address, "?") {
		return address + "&" + q.Encode()
	}
	return address + "?" + q.Encode()
}

func (o *OIDC) fault(w http.ResponseWriter, what string, err error) {
	o.cfg.Logger.Error(what, "error", err)
	refuse(w, http.StatusInternalServerError, "A fault of the server", "Try again. If it lasts, tell whoever runs it.")
}

func redirect(w http.ResponseWriter, r *http.Request, to string) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "no-referrer")
	http.Redirect(w, r, to, http.StatusSeeOther)
}
