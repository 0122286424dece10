package webhook_test

import (
	"net/netip"
	"strings"
	"testing"

	"axflow/engine/webhook"
)

func TestAURLIsRefusedForWhatItSays(t *testing.T) {
	none := webhook.Rules{}
	inside := webhook.Rules{AllowPrivate: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("fd12::/16")}, AllowPorts: []uint16{8443}}
	plain := inside
	plain.AllowHTTP = true
	for _, tc := range []struct {
		rules webhook.Rules
		url   string
		wrong string // what the refusal must hold; "": none
	}{
		{none, "https://hooks.example.com/ax?x=1", ""},
		{none, "https://hooks.example.com:443/", ""},
		{none, "https://bücher.example/haken", ""},
		{none, "https://93.184.216.34/", ""},
		{none, "https://[2606:2800:220:1::1]/", ""},
		{none, "https://hooks.example.com/" + strings.Repeat("x", webhook.MaxURL), "limit is 2000"},
		{none, "", "only https"},
		{none, "hooks.example.com", "only https"},
		{none, "http://hooks.example.com/", "only https"},
		{none, "ftp://hooks.example.com/", "only https"},
		{none, "https:///path", "no host"},
		{none, "https:opaque", "no host"},
		{none, "https://user:pass@hooks.example.com/", "user or a password"},
		{none, "https://hooks.example.com/#x", "fragment"},
		{none, "https://hooks.example.com/\nHost: x", "control character"},
		{none, "https://hooks.example.com/a b", "space"},
		{none, "https://hooks.example.com:8443/", "port is 8443"},
		{none, "https://hooks.example.com:99999/", "port"},
		{none, "https://%zz/", "cannot be read"},
		{none, "https://localhost/", "not on the internet"},
		{none, "https://localhost./", "not on the internet"},
		{none, "https://a.LOCALHOST/", "not on the internet"},
		{none, "https://printer.local/", "not on the internet"},
		{none, "https://metadata.google.internal/", "not on the internet"},
		{none, "https://intranet/", "not on the internet"},
		{none, "https://127.0.0.1/", "not on the internet"},
		{none, "https://127.1/", "neither a name nor an address"},
		{none, "https://2130706433/", "neither a name nor an address"},
		{none, "https://0x7f000001/", "neither a name nor an address"},
		{none, "https://0177.0.0.1/", "neither a name nor an address"},
		{none, "https://10.1.2.3/", "not on the internet"},
		{none, "https://172.16.0.1/", "not on the internet"},
		{none, "https://192.168.1.1/", "not on the internet"},
		{none, "https://100.64.0.1/", "not on the internet"},
		{none, "https://100.100.100.200/", "not on the internet"},
		{none, "https://169.254.169.254/latest/meta-data", "not on the internet"},
		{none, "https://168.63.129.16/", "not on the internet"},
		{none, "https://192.0.0.192/", "not on the internet"},
		{none, "https://0.0.0.0/", "not on the internet"},
		{none, "https://0.1.2.3/", "not on the internet"},
		{none, "https://224.0.0.1/", "not on the internet"},
		{none, "https://255.255.255.255/", "not on the internet"},
		{none, "https://[::1]/", "not on the internet"},
		{none, "https://[::]/", "not on the internet"},
		{none, "https://[::ffff:127.0.0.1]/", "not on the internet"},
		{none, "https://[::ffff:93.184.216.34]/", "not on the internet"},
		{none, "https://[64:ff9b::7f00:1]/", "not on the internet"},
		{none, "https://[64:ff9b:1::1]/", "not on the internet"},
		{none, "https://[2002:7f00:1::]/", "not on the internet"},
		{none, "https://[2001::1]/", "not on the internet"},
		{none, "https://[fd00:ec2::254]/", "not on the internet"},
		{none, "https://[fe80::1]/", "not on the internet"},
		{none, "https://[fe80::1%25eth0]/", "not on the internet"},
		{none, "https://[fec0::1]/", "not on the internet"},
		{none, "https://[ff02::1]/", "not on the internet"},
		{inside, "https://10.1.2.3:8443/", ""},
		{inside, "https://hooks.internal/", ""},
		{inside, "https://[fd12::1]/", ""},
		{inside, "https://10.2.2.3/", "not on the internet"},
		{inside, "https://[::ffff:10.1.2.3]/", "not on the internet"},
		{inside, "http://10.1.2.3/", "only https"},
		{plain, "http://10.1.2.3:8443/", ""},
		{plain, "http://10.1.2.3:443/", "port"},
		{webhook.Rules{AllowHTTP: true}, "http://hooks.example.com/", "only https"},
	} {
		err := tc.rules.Check(tc.url)
		switch {
		case tc.wrong == "" && err != nil:
			t.Errorf("%.60q is refused: %v", tc.url, err)
		case tc.wrong != "" && (err == nil || !strings.Contains(err.Error(), tc.wrong)):
			t.Errorf("%.60q: %v, want a refusal that says %q", tc.url, err, tc.wrong)
		}
	}
}
