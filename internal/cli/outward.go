package cli

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"axflow/engine/webhook"
	sealing "axflow/sql/payload"
)

// The environment variables of what a process keeps secret, and of whom it tells.
const (
	envPayloadKeys     = "AX_PAYLOAD_KEYS"
	envPayloadKeysFile = "AX_PAYLOAD_KEYS_FILE"
	envWebhookAllow    = "AX_WEBHOOK_ALLOW"
	envWebhookPorts    = "AX_WEBHOOK_PORTS"
	envWebhookHTTP     = "AX_WEBHOOK_HTTP"
	envRunURL          = "AX_RUN_URL"
)

// outward is where webhooks may lead, as flags say it.
type outward struct {
	allow, ports []string
	http         bool
	runURL       string
}

func (o *outward) flagsOf(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringSliceVar(&o.allow, "webhook-allow", nil, "networks of one's own, such as 10.1.0.0/16, that webhooks may lead to (default $"+envWebhookAllow+", else the internet only)")
	f.StringSliceVar(&o.ports, "webhook-ports", nil, "ports beside 443 that webhooks may lead to (default $"+envWebhookPorts+")")
	f.BoolVar(&o.http, "webhook-http", false, "let webhooks be plain http within --webhook-allow (default $"+envWebhookHTTP+")")
	f.StringVar(&o.runURL, "run-url", "", "address of the page of runs, to which a run's id is added, for what webhooks are told (default $"+envRunURL+")")
}

// assemble is Open with what the environment says of keys and webhooks; flags go before it.
func (a *app) assemble(ctx context.Context, cfg OpenConfig, o outward) (Process, error) {
	var err error
	if cfg.Codec, err = a.codec(); err != nil {
		return nil, err
	}
	if cfg.Webhooks, err = a.rules(o); err != nil {
		return nil, err
	}
	if cfg.RunURL = o.runURL; cfg.RunURL == "" {
		cfg.RunURL = a.Getenv(envRunURL)
	}
	return a.Open(ctx, cfg)
}

// codec is what payloads are sealed with; nil without keys.
func (a *app) codec() (sealing.Codec, error) {
	text, name := a.Getenv(envPayloadKeys), envPayloadKeys
	if file := a.Getenv(envPayloadKeysFile); file != "" {
		if text != "" {
			return nil, usagef("both %s and %s are set: remove one", envPayloadKeys, envPayloadKeysFile)
		}
		b, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", envPayloadKeysFile, err)
		}
		text, name = string(b), envPayloadKeysFile
	} else if text == "" {
		return nil, nil
	}
	c, err := sealing.ParseAESGCM(text)
	if err != nil {
		return nil, usagef("%s: %s", name, err)
	}
	return c, nil
}

// rules are where webhooks may lead.
func (a *app) rules(o outward) (r webhook.Rules, err error) {
	list := func(flag []string, env string) []string {
		if len(flag) > 0 {
			return flag
		}
		return strings.FieldsFunc(a.Getenv(env), func(c rune) bool { return c == ',' || c == ' ' })
	}
	for _, text := range list(o.allow, envWebhookAllow) {
		p, err := netip.ParsePrefix(strings.TrimSpace(text))
		if err != nil {
			return r, usagef("%q of --webhook-allow is no network: write one such as 10.1.0.0/16", text)
		}
		r.AllowPrivate = append(r.AllowPrivate, p.Masked())
	}
	for _, text := range list(o.ports, envWebhookPorts) {
		port, err := strconv.ParseUint(strings.TrimSpace(text), 10, 16)
		if err != nil || port == 0 {
			return r, usagef("%q of --webhook-ports is no port: use 1 to 65535", text)
		}
		r.AllowPorts = append(r.AllowPorts, uint16(port))
	}
	r.AllowHTTP = o.http
	if text := a.Getenv(envWebhookHTTP); !r.AllowHTTP && text != "" {
		if r.AllowHTTP, err = strconv.ParseBool(text); err != nil {
			return r, usagef("%s is %q: it must be true or false", envWebhookHTTP, text)
		}
	}
	if r.AllowHTTP && len(r.AllowPrivate) == 0 {
		return r, usagef("--webhook-http goes with --webhook-allow: plain http is for one's own network only")
	}
	return r, nil
}
