package cli

import (
	"bufio"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

func (a *app) profileCommand() *cobra.Command {
	return a.group("profile", "Profiles: servers and databases with names, kept in a file of yours",
		a.profileListCommand(), a.profileSetCommand(), a.profileUseCommand(), a.profileRemoveCommand())
}

// shownProfile is a profile as it is listed: whether it has a token, and not which.
type shownProfile struct {
	Name        string `json:"name"`
	Use         bool   `json:"use"`
	URL         string `json:"url,omitempty"`
	DatabaseURL string `json:"database_url,omitempty"`
	Namespace   string `json:"namespace,omitempty"`
	Token       string `json:"token,omitempty"` // where it is
}

func (a *app) profileListCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{Use: "list", Short: "List profiles, without their tokens", Args: takes(), RunE: func(*cobra.Command, []string) error {
		all, err := a.profiles()
		if err != nil {
			return err
		}
		shown := make([]shownProfile, 0, len(all.Profiles))
		t := table{{"", "PROFILE", "SERVER OR DATABASE", "NAMESPACE", "TOKEN"}}
		for _, name := range all.names() {
			x := all.Profiles[name].shown(name, all.Use)
			shown = append(shown, x)
			sign := ""
			if x.Use {
				sign = "*"
			}
			t = append(t, []string{sign, name, x.URL + x.DatabaseURL, x.Namespace, x.Token})
		}
		if asJSON {
			return a.jsonOf(map[string]any{"items": shown})
		}
		if len(shown) == 0 {
			a.say("there are no profiles: `%s profile set NAME --url https://ax.example.com` makes one", a.Name)
			return nil
		}
		return t.write(a.Stdout)
	}}
	addJSON(cmd, &asJSON)
	return cmd
}

func (p profile) shown(name, use string) shownProfile {
	x := shownProfile{Name: name, Use: name == use, URL: p.URL, DatabaseURL: withoutPassword(p.DatabaseURL), Namespace: p.Namespace, Token: p.TokenFile}
	if p.Token != "" {
		x.Token = "in the profile"
	}
	return x
}

func (a *app) profileSetCommand() *cobra.Command {
	var tokenStdin, use bool
	cmd := &cobra.Command{Use: "set NAME", Short: "Make or change a profile: --url with a token, or --database-url", Args: takes("NAME"),
		Long: "Make or change a profile; what is not given stays as it is.\n\nThe token is read from standard input (--token-stdin), which asks for it without echo in a terminal, " +
			"or stays in\na file of its own (--token-file). There is no flag for the token itself: every user of the machine can read a process's arguments.\n" +
			"The file of the profiles is readable by you alone.",
		Example: "  " + a.Name + " profile set prod --url https://ax.example.com --token-stdin --use\n  " + a.Name + " profile set test --database-url postgres://ax@db/ax",
		RunE: func(cmd *cobra.Command, args []string) error {
			all, err := a.profiles()
			if err != nil {
				return err
			}
			p := all.Profiles[args[0]]
			if err := a.fill(&p, cmd, tokenStdin); err != nil {
				return err
			}
			if a.flags.namespaceGiven() {
				p.Namespace = a.flags.namespace
			}
			if err := p.check(); err != nil {
				return err
			}
			all.Profiles[args[0]] = p
			if use {
				all.Use = args[0]
			}
			if err := a.save(all); err != nil {
				return err
			}
			a.say("profile %s is set", args[0])
			if all.Use != args[0] {
				a.complain("`%s profile use %s` makes it the one that counts", a.Name, args[0])
			}
			return nil
		}}
	cmd.Flags().BoolVar(&tokenStdin, "token-stdin", false, "read the token from standard input and keep it in the profile")
	cmd.Flags().BoolVar(&use, "use", false, "make it the profile that counts, too")
	return cmd
}

// fill takes what the flags give into a profile.
func (a *app) fill(p *profile, cmd *cobra.Command, tokenStdin bool) error {
	given := cmd.Flags().Changed
	switch {
	case given("url") && given("database-url"):
		return usagef("--url and --database-url exclude each other: a profile names one place")
	case given("url"):
		p.URL, p.DatabaseURL, p.Namespace = a.flags.url, "", ""
		if err := checkURL(p.URL, "--url"); err != nil {
			return err
		}
	case given("database-url"):
		*p = profile{DatabaseURL: a.flags.databaseURL, Namespace: p.Namespace}
	}
	switch {
	case given("token-file") && tokenStdin:
		return usagef("--token-file and --token-stdin exclude each other")
	case given("token-file"):
		path, err := filepath.Abs(a.flags.tokenFile)
		if err != nil {
			return err
		}
		if _, err := a.readToken(path); err != nil {
			return err
		}
		p.Token, p.TokenFile = "", path
	case tokenStdin:
		token, err := a.askToken()
		if err != nil {
			return err
		}
		p.Token, p.TokenFile = token, ""
	}
	return nil
}

// check refuses a profile that names no place, or a token for a database.
func (p profile) check() error {
	switch {
	case p.URL == "" && p.DatabaseURL == "":
		return usagef("the profile names no place: give --url or --database-url")
	case p.URL == "" && (p.Token != "" || p.TokenFile != ""):
		return usagef("a token is for a server, and the profile names a database")
	case p.URL != "" && p.Namespace != "":
		return usagef("a namespace is for a database: on a server the token has one")
	default:
		return nil
	}
}

// askToken reads a token from standard input, without echo where that is a terminal.
func (a *app) askToken() (string, error) {
	var text string
	if f, ok := a.Stdin.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		a.complain("token (it is not shown):")
		raw, err := term.ReadPassword(int(f.Fd()))
		if err != nil {
			return "", err
		}
		text = string(raw)
	} else {
		line, err := bufio.NewReader(io.LimitReader(a.Stdin, maxToken)).ReadString('\n')
		if err != nil && err != io.EOF {
			return "", err
		}
		text = line
	}
	text = strings.TrimSpace(text)
	if text == "" || strings.ContainsAny(text, " \t") {
		return "", usagef("standard input held no token: it is one word")
	}
	return text, nil
}

func (a *app) profileUseCommand() *cobra.Command {
	return &cobra.Command{Use: "use NAME", Short: "Make a profile the one that counts when nothing else names a place; - is none", Args: takes("NAME"),
		ValidArgsFunction: a.completing(a.profileNames),
		RunE: func(_ *cobra.Command, args []string) error {
			all, err := a.profiles()
			if err != nil {
				return err
			}
			if args[0] == "-" {
				all.Use = ""
				return a.save(all)
			}
			if _, ok := all.Profiles[args[0]]; !ok {
				return usagef("there is no profile %q%s: `profile list` shows them", args[0], didYouMean(args[0], all.names()))
			}
			all.Use = args[0]
			return a.save(all)
		}}
}

func (a *app) profileRemoveCommand() *cobra.Command {
	return &cobra.Command{Use: "remove NAME", Short: "Remove a profile", Args: takes("NAME"), ValidArgsFunction: a.completing(a.profileNames),
		RunE: func(_ *cobra.Command, args []string) error {
			all, err := a.profiles()
			if err != nil {
				return err
			}
			if _, ok := all.Profiles[args[0]]; !ok {
				return usagef("there is no profile %q%s: `profile list` shows them", args[0], didYouMean(args[0], all.names()))
			}
			delete(all.Profiles, args[0])
			if all.Use == args[0] {
				all.Use = ""
			}
			return a.save(all)
		}}
}

// profileNames proposes profiles.
func (a *app) profileNames(context.Context, *session, []string, string) []string {
	all, err := a.profiles()
	if err != nil {
		return nil
	}
	return all.names()
}
