package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"axflow/api/gen"
	"axflow/internal/watch"
	"axflow/sql/history"
)

// check is one thing that doctor has looked at.
type check struct {
	Check string `json:"check"`
	// State is ok, note (it may be meant), or bad.
	State string `json:"state"`
	Says  string `json:"says"`
	Next  string `json:"next,omitempty"`
}

// diagnosis is what doctor has found. Violations are promises that the database's content breaks.
type diagnosis struct {
	At         string      `json:"at"`
	Checks     []check     `json:"checks"`
	Violations []violation `json:"violations"`
}

// The states of a check.
const (
	checkOK   = "ok"
	checkNote = "note"
	checkBad  = "bad"
)

func (d *diagnosis) add(name, state, next, says string, args ...any) {
	d.Checks = append(d.Checks, check{name, state, fmt.Sprintf(says, args...), next})
}

// count is how many checks are in a state.
func (d *diagnosis) count(state string) int {
	n := 0
	for _, c := range d.Checks {
		if c.State == state {
			n++
		}
	}
	return n
}

func (a *app) doctorCommand() *cobra.Command {
	var asJSON bool
	var o history.Options
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Look for what is wrong, and say what to do about it",
		Long: "Look for what is wrong, and say what to do about it: whether the server or the database answers, what the credential may do, clocks, leader, workers,\n" +
			"switches and what is paused.\n\nOn a database it also checks what is stored against what AX promises: no shard lost or finished twice, stored counts equal to the\n" +
			"rows, nothing satisfied that still waits, no write by a leader that had lost its lease. It only reads; on a large database it takes its time.\n" +
			"Exit code 1 if anything is bad.",
		Args: takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(cmd.Context(), func(ctx context.Context, s *session) error { return a.doctor(ctx, s, o, asJSON) })
		},
	}
	addJSON(cmd, &asJSON)
	cmd.Flags().BoolVar(&o.Ended, "ended", false, "hold it against a run that it has not ended")
	cmd.Flags().DurationVar(&o.Grace, "grace", 0, "how long what is satisfied may wait (default 2s)")
	return cmd
}

func (a *app) doctor(ctx context.Context, s *session, o history.Options, asJSON bool) error {
	d := &diagnosis{At: s.where, Violations: []violation{}}
	if err := a.examine(ctx, s, d); err != nil {
		return err
	}
	if s.local != nil {
		if err := a.examineDatabase(ctx, s, d, o); err != nil {
			return err
		}
	} else {
		d.add("history", checkNote, "run it with --database-url to check what is stored", "was not checked: that needs the database")
	}
	if asJSON {
		if err := a.jsonOf(d); err != nil {
			return err
		}
	} else if err := a.tellDiagnosis(d); err != nil {
		return err
	}
	if n := d.count(checkBad); n > 0 {
		return coded{ExitFailure, plural(n, "check") + " found something bad at " + s.where}
	}
	return nil
}

func (a *app) tellDiagnosis(d *diagnosis) error {
	t := table{}
	for _, c := range d.Checks {
		t = append(t, []string{c.State, c.Check, c.Says})
		if c.Next != "" {
			t = append(t, []string{"", "", "next: " + c.Next})
		}
	}
	if err := t.write(a.Stdout); err != nil {
		return err
	}
	for _, v := range d.Violations {
		a.say("  %s", v)
	}
	if d.count(checkBad) == 0 {
		a.say("\nnothing bad found at %s", d.At)
	}
	return nil
}

// clockTolerance is how far this machine's clock may be off before it is said. Nothing of AX depends on it, but what people read does.
const clockTolerance = 2 * time.Second

// examine looks through the API. An error is one of the first question: what cannot be asked at all cannot be examined.
func (a *app) examine(ctx context.Context, s *session, d *diagnosis) error {
	asked := time.Now()
	server, err := take(s.api.GetServerWithResponse(ctx))
	if err != nil {
		return err
	}
	took := time.Since(asked)
	d.add("connection", checkOK, "", "%s answers in %s", s.where, shortTime(took))
	off := server.is.Now.Sub(asked.Add(took / 2))
	if off.Abs() > clockTolerance+took {
		d.add("clock", checkNote, "have this machine's clock set", "this machine's clock is %s off the database's", watch.Duration(off.Abs()))
	} else {
		d.add("clock", checkOK, "", "this machine's clock and the database's agree")
	}
	if s.target.remote() && server.is.Version != a.Version {
		d.add("version", checkNote, "", "the server is %s, this program %s", server.is.Version, a.Version)
	}
	a.examineCredential(ctx, s, d, server.is.Auth)
	l := server.is.Leader
	if l == nil || l.ExpiresAt.Before(server.is.Now) {
		d.add("leader", checkBad, fmt.Sprintf("start an engine: `%s server`, or `%s dev` to try things out", a.Name, a.Name), "%s: nothing is handed out", leaderText(l, server.is.Now))
	} else {
		d.add("leader", checkOK, "", "%s", leaderText(l, server.is.Now))
	}
	a.examineFleet(ctx, s, d)
	return nil
}

func (a *app) examineCredential(ctx context.Context, s *session, d *diagnosis, auth gen.ServerAuth) {
	me, err := take(s.api.GetMeWithResponse(ctx))
	switch {
	case err != nil:
		d.add("credential", checkBad, a.next(err, a.Name), "%v", err)
	case me.is.ExpiresAt != nil && time.Until(*me.is.ExpiresAt) < 7*24*time.Hour:
		d.add("credential", checkNote, "have another made with `token create`", "%s, %s of namespace %s, ends at %s", me.is.Actor, me.is.Role, me.is.Namespace, clockTime(*me.is.ExpiresAt))
	default:
		d.add("credential", checkOK, "", "%s, %s of namespace %s", me.is.Actor, me.is.Role, me.is.Namespace)
	}
	if s.target.remote() && auth == gen.ServerAuthNone {
		d.add("auth", checkNote, "start the server without --no-auth to share it", "the server asks for no credential")
	}
	if s.target.plainly() {
		d.add("transport", checkBad, "name the server with https://", "the token crosses the network unencrypted")
	}
}

// examineFleet looks at workers, switches and what is paused; what the credential may not see is left out.
func (a *app) examineFleet(ctx context.Context, s *session, d *diagnosis) {
	if w, err := take(s.api.ListWorkersWithResponse(ctx)); err == nil {
		if len(w.is.Items) == 0 {
			d.add("workers", checkNote, "start a program with flows, as `yourprogram worker`", "none runs in this namespace")
		} else {
			d.add("workers", checkOK, "", "%s", plural(len(w.is.Items), "worker"))
		}
	}
	if x, err := take(s.api.ListSettingsWithResponse(ctx)); err == nil {
		for _, set := range x.is.Items {
			if !set.On {
				d.add("switch", checkNote, fmt.Sprintf("`%s setting set %s on` when what it was turned off for is over", a.Name, set.Name), "%s is off", set.Name)
			}
		}
	}
	if h, err := take(s.api.ListHoldsWithResponse(ctx)); err == nil && len(h.is.Items) > 0 {
		d.add("paused", checkNote, fmt.Sprintf("`%s hold list` tells what, by whom and why", a.Name), "%s", plural(len(h.is.Items), "thing"))
	}
}

// shortTime is how long a question took.
func shortTime(d time.Duration) string { return took(d) }
