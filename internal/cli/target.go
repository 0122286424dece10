package cli

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"

	"axflow/internal/pg"
)

// The environment variables beside those of the database.
const (
	envURL     = "AX_URL"
	envToken   = "AX_TOKEN"
	envProfile = "AX_PROFILE"
)

// target is where the commands that look at and steer AX do it: a server, or a database with a server in this process.
type target struct {
	url, token  string // of a server; url "": a database
	databaseURL string // "": the embedded one that `dev` has made
	namespace   string
	from        string // what named it, for errors
}

// remote tells whether it is a server.
func (t target) remote() bool { return t.url != "" }

// target finds out where. A flag goes before the environment, and the environment before the profile that is in use.
func (a *app) target() (target, error) {
	t, err := a.pointed()
	if err != nil {
		return t, err
	}
	if t.namespace == "" || a.flags.namespaceGiven() {
		t.namespace = a.flags.namespace
	}
	if !t.remote() {
		if a.flags.tokenFile != "" {
			return t, usagef("--token-file is for a server, and none is named: set --url, %s or a profile", envURL)
		}
		return t, nil
	}
	if a.flags.namespaceGiven() {
		return t, usagef("--namespace is for a database: on a server the token has one (`%s me` tells which)", a.Name)
	}
	if err := checkURL(t.url, t.from); err != nil {
		return t, err
	}
	token, err := a.token()
	if err != nil {
		return t, err
	}
	if token != "" {
		t.token = token
	}
	return t, nil
}

// pointed reads what names a place, in order.
func (a *app) pointed() (target, error) {
	if a.flags.url != "" && a.flags.databaseURL != "" {
		return target{}, usagef("--url and --database-url exclude each other: one names a server, the other a database")
	}
	switch {
	case a.flags.url != "":
		return target{url: a.flags.url, from: "--url"}, nil
	case a.flags.databaseURL != "":
		return target{databaseURL: a.flags.databaseURL, from: "--database-url"}, nil
	case a.flags.profile != "":
		return a.profiled(a.flags.profile, "--profile")
	case a.Getenv(envURL) != "":
		return target{url: a.Getenv(envURL), from: envURL}, nil
	case a.Getenv(pg.EnvDatabase) != "":
		return target{databaseURL: a.Getenv(pg.EnvDatabase), from: pg.EnvDatabase}, nil
	case a.Getenv(envProfile) != "":
		return a.profiled(a.Getenv(envProfile), envProfile)
	}
	all, err := a.profiles()
	if err != nil {
		return target{}, err
	}
	if all.Use != "" {
		return a.profiled(all.Use, "`profile use`")
	}
	return target{from: "nothing"}, nil
}

// profiled is what a profile names.
func (a *app) profiled(name, from string) (target, error) {
	all, err := a.profiles()
	if err != nil {
		return target{}, err
	}
	p, ok := all.Profiles[name]
	if !ok {
		return target{}, usagef("%s names profile %q, which does not exist%s: `%s profile list` shows them", from, name, didYouMean(name, all.names()), a.Name)
	}
	t := target{url: p.URL, databaseURL: p.DatabaseURL, namespace: p.Namespace, token: p.Token, from: "profile " + name}
	if p.TokenFile != "" {
		if t.token, err = a.readToken(p.TokenFile); err != nil {
			return t, err
		}
	}
	return t, nil
}

// token is the one that a flag or the environment gives. There is no flag for the token itself: the arguments of a process can be read by
// every user of its machine, and shells keep them.
func (a *app) token() (string, error) {
	if a.flags.tokenFile != "" {
		return a.readToken(a.flags.tokenFile)
	}
	return strings.TrimSpace(a.Getenv(envToken)), nil
}

// maxToken is more than any token has, in bytes.
const maxToken = 4 << 10

// readToken reads a token from a file, which others must not be able to read.
func (a *app) readToken(path string) (string, error) {
	raw, err := readPrivate(path, maxToken)
	if err != nil {
		return "", usagef("reading the token: %w", err)
	}
	token := strings.TrimSpace(string(raw))
	if token == "" || strings.ContainsAny(token, " \t\r\n") {
		return "", usagef("%s holds no token: it is to have one line, as `%s token create` prints it", path, a.Name)
	}
	return token, nil
}

// readPrivate reads a file that only its owner may read.
func readPrivate(path string, most int) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 && info.Mode().IsRegular() && !windows {
		return nil, fmt.Errorf("%s may be read by others (mode %04o): `chmod 600 %s`, and revoke what it held if others use this machine", path, mode, path)
	}
	if info.Size() > int64(most) {
		return nil, fmt.Errorf("%s has %d bytes, more than the %d that are read", path, info.Size(), most)
	}
	return os.ReadFile(path)
}

// checkURL refuses what is no server's address.
func checkURL(text, from string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return usagef("%s is no URL: write it as https://ax.example.com", from)
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return usagef("%s %q is no server's URL: write it as https://ax.example.com", from, u.Redacted())
	case u.User != nil:
		return usagef("%s holds a password: give the token as --token-file, %s or in a profile", from, envToken)
	default:
		return nil
	}
}

// plainly tells whether a token would cross a network unencrypted.
func (t target) plainly() bool {
	u, err := url.Parse(t.url)
	if err != nil || u.Scheme != "http" || t.token == "" {
		return false
	}
	host := u.Hostname()
	ip := net.ParseIP(host)
	return host != "localhost" && (ip == nil || !ip.IsLoopback())
}

// withoutPassword writes a database's address for people.
func withoutPassword(address string) string {
	if address == "" {
		return ""
	}
	if u, err := url.Parse(address); err == nil && u.Scheme != "" {
		return u.Redacted()
	}
	return "(keywords)" // they may hold a password
}
