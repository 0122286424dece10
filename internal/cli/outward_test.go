package cli

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sealing "axflow/sql/payload"
)

func TestKeysAndRulesComeFromTheEnvironment(t *testing.T) {
	key := base64.StdEncoding.EncodeToString(make([]byte, sealing.KeyLen))
	file := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(file, []byte("# ours\nk1:"+key+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	env := func(pairs ...string) *app {
		m := make(map[string]string)
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i]] = pairs[i+1]
		}
		return &app{Config: Config{Getenv: func(name string) string { return m[name] }}}
	}
	if c, err := env().codec(); c != nil || err != nil {
		t.Errorf("without keys: %v, %v", c, err)
	}
	for _, a := range []*app{env(envPayloadKeys, "k1:"+key), env(envPayloadKeysFile, file)} {
		if c, err := a.codec(); c == nil || err != nil {
			t.Errorf("with keys: %v, %v", c, err)
		}
	}
	for _, a := range []*app{env(envPayloadKeys, "k1:"+key, envPayloadKeysFile, file), env(envPayloadKeys, key), env(envPayloadKeysFile, file+"x")} {
		if c, err := a.codec(); err == nil || strings.Contains(err.Error(), key) {
			t.Errorf("wrong keys: %v, %v", c, err)
		}
	}

	r, err := env(envWebhookAllow, "10.1.2.3/16, fd12::/16", envWebhookPorts, "8443,9443", envWebhookHTTP, "true").rules(outward{})
	if err != nil || len(r.AllowPrivate) != 2 || r.AllowPrivate[0].String() != "10.1.0.0/16" || len(r.AllowPorts) != 2 || !r.AllowHTTP {
		t.Errorf("from the environment: %+v, %v", r, err)
	}
	r, err = env(envWebhookAllow, "10.1.2.3/16").rules(outward{allow: []string{"127.0.0.0/8"}})
	if err != nil || len(r.AllowPrivate) != 1 || r.AllowPrivate[0].String() != "127.0.0.0/8" {
		t.Errorf("flags go before the environment: %+v, %v", r, err)
	}
	for _, o := range []outward{{allow: []string{"10.1.2.3"}}, {ports: []string{"0"}}, {ports: []string{"https"}}, {http: true}} {
		if r, err := env().rules(o); err == nil || exitCode(err) != ExitUsage {
			t.Errorf("%+v is let through as %+v, %v", o, r, err)
		}
	}
}
