package webhook

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"

	"code.dny.dev/ssrf"
)

// MaxURL is the greatest length of a webhook's URL, in bytes.
const MaxURL = 2000

// Rules say where deliveries may go. The zero value is for the internet: https on port 443, to addresses that are public. They are
// looked at when a webhook is made, for what its URL says, and again for the very address of each connection, so that a name that
// leads elsewhere later leads nowhere.
type Rules struct {
	// AllowPrivate are networks that are allowed although they are not public: those of receivers on one's own network. An
	// address in them may be anything but a way around these rules: only name networks whose hosts may get requests from AX.
	AllowPrivate []netip.Prefix
	// AllowPorts are ports beside 443.
	AllowPorts []uint16
	// AllowHTTP allows plain http to addresses in AllowPrivate, and on any port in AllowPorts and 80. What is sent can be read on
	// the way.
	AllowHTTP bool
}

// denied are addresses of machines' own clouds that the registry of special addresses does not know.
var denied = []netip.Prefix{netip.MustParsePrefix("168.63.129.16/32")}

// localNames are names, and ends of names, that never lead to the internet.
var localNames = []string{"localhost", "local", "internal", "intranet", "lan", "home.arpa"}

// Check tells what is wrong with a URL as a text; its name is not resolved. The errors are for who wrote it.
func (r Rules) Check(raw string) error {
	if len(raw) > MaxURL {
		return fmt.Errorf("the URL is %d bytes long; the limit is %d", len(raw), MaxURL)
	}
	if i := strings.IndexFunc(raw, func(c rune) bool { return c == unicode.ReplacementChar || unicode.IsControl(c) || unicode.IsSpace(c) }); i >= 0 {
		return fmt.Errorf("the URL has a space or a control character at byte %d: encode or remove it", i)
	}
	u, err := url.Parse(raw)
	if err != nil {
		return errors.New("the URL cannot be read: write https://host/path")
	}
	switch {
	case u.Scheme == "http" && r.AllowHTTP && len(r.AllowPrivate) > 0:
	case u.Scheme != "https":
		return fmt.Errorf("the URL's scheme is %q: only https is allowed", u.Scheme)
	}
	switch {
	case u.Opaque != "" || u.Hostname() == "":
		return errors.New("the URL has no host: write https://host/path")
	case u.User != nil:
		return errors.New("the URL has a user or a password in it: deliveries are signed; leave it out")
	case u.Fragment != "":
		return errors.New("the URL has a fragment, which is never sent: remove what follows the #")
	}
	if err := r.checkPort(u); err != nil {
		return err
	}
	return r.checkHost(u.Hostname())
}

func (r Rules) checkPort(u *url.URL) error {
	text := u.Port()
	if text == "" {
		return nil // the scheme's
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil || !slices.Contains(r.ports(u.Scheme), uint16(port)) {
		return fmt.Errorf("the URL's port is %s; allowed are %v: ask who runs the server to allow another", text, r.ports(u.Scheme))
	}
	return nil
}

// ports are those allowed for a scheme.
func (r Rules) ports(scheme string) []uint16 {
	if scheme == "http" {
		return append([]uint16{80}, r.AllowPorts...)
	}
	return append([]uint16{443}, r.AllowPorts...)
}

func (r Rules) checkHost(host string) error {
	refused := fmt.Errorf("the host %q is not on the internet: who runs the server must allow its network", host)
	if addr, err := netip.ParseAddr(host); err == nil {
		if r.checkAddr(addr) != nil {
			return refused
		}
		return nil
	}
	// What resolvers and C libraries read as an address in other forms, such as 0x7f.1 or 2130706433, is no name.
	name := strings.TrimSuffix(strings.ToLower(host), ".")
	last := name[strings.LastIndexByte(name, '.')+1:]
	if last == "" || last[0] >= '0' && last[0] <= '9' {
		return fmt.Errorf("the host %q is neither a name nor an address in its usual form", host)
	}
	if len(r.AllowPrivate) > 0 {
		return nil // the name may lead there
	}
	for _, local := range localNames {
		if name == local || strings.HasSuffix(name, "."+local) {
			return refused
		}
	}
	if !strings.Contains(name, ".") {
		return refused
	}
	return nil
}

// guardian is what looks at the addresses of https.
func (r Rules) guardian() *ssrf.Guardian {
	var v4, v6 []netip.Prefix
	for _, p := range r.AllowPrivate {
		if p.Addr().Is4() {
			v4 = append(v4, p)
		} else {
			v6 = append(v6, p)
		}
	}
	return ssrf.New(ssrf.WithPorts(r.ports("https")...), ssrf.WithAllowedV4Prefixes(v4...), ssrf.WithAllowedV6Prefixes(v6...),
		ssrf.WithDeniedV4Prefixes(denied...))
}

func (r Rules) checkAddr(a netip.Addr) error { return r.guardian().SafeAddr(a) }

// errNotAllowed says that an address is none that deliveries may go to. It does not say which: whoever makes webhooks need not learn
// what names lead to inside.
var errNotAllowed = errors.New("the URL leads to an address or a port that is not allowed: it must be public, or allowed by who runs the server")

// control is the net.Dialer.Control of a scheme: it sees the address that is about to be connected to.
func (r Rules) control(scheme string) func(network, address string, c syscall.RawConn) error {
	guardian, ports := r.guardian(), r.ports(scheme)
	return func(network, address string, c syscall.RawConn) error {
		if scheme == "https" {
			if guardian.Safe(network, address, c) != nil {
				return errNotAllowed
			}
			return nil
		}
		at, err := netip.ParseAddrPort(address)
		if err != nil || !r.AllowHTTP || !slices.Contains(ports, at.Port()) ||
			!slices.ContainsFunc(r.AllowPrivate, func(p netip.Prefix) bool { return p.Contains(at.Addr()) }) {
			return errNotAllowed
		}
		return nil
	}
}

// client makes the client for one scheme. It follows no redirect, takes no proxy from the environment, and connects to no address
// that the rules do not allow.
func (r Rules) client(scheme string, tlsConfig *tls.Config) *http.Client {
	dialer := &net.Dialer{Timeout: Timeout, KeepAlive: -1, Control: r.control(scheme)}
	return &http.Client{
		Timeout:       Timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				return dialer.DialContext(ctx, network, address)
			},
			TLSClientConfig:        tlsConfig.Clone(), // the transport changes it
			ForceAttemptHTTP2:      true,
			TLSHandshakeTimeout:    Timeout,
			ResponseHeaderTimeout:  Timeout,
			MaxResponseHeaderBytes: 16 << 10,
			MaxIdleConnsPerHost:    perHook,
			MaxIdleConns:           atOnce,
			IdleConnTimeout:        30 * time.Second,
			DisableCompression:     true,
		},
	}
}
