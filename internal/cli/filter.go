package cli

import (
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"axflow/api/gen"
	"axflow/shard"
	"axflow/stage"
)

// filterFlags are the flags by which a verb picks many runs at once.
type filterFlags struct {
	flows, states, queues, tags []string
	since, until                string
	most                        int
}

func (f *filterFlags) add(a *app, cmd *cobra.Command) {
	l := cmd.Flags()
	l.StringSliceVar(&f.flows, "flow", nil, "every run of these flows, in place of RUN")
	l.StringSliceVar(&f.states, "state", nil, "every run in these states (running, cancelling, succeeded, failed, cancelled), in place of RUN")
	l.StringSliceVar(&f.queues, "queue", nil, "every run of these queues, in place of RUN")
	l.StringSliceVar(&f.tags, "tag", nil, "every run with all of these tags (name=value), in place of RUN")
	l.StringVar(&f.since, "since", "", "every run that was started at or after this time (2026-01-31, 2026-01-31T08:00:00Z, or an age such as 2h or 7d), in place of RUN")
	l.StringVar(&f.until, "until", "", "the same, before this time")
	l.IntVar(&f.most, "limit", 0, "the most runs to act on, oldest first (default 1000)")
	a.completeFlag(cmd, "flow", flowNames)
	a.completeFlag(cmd, "queue", queueNames)
	a.completeFlag(cmd, "state", fixed("running", "cancelling", "succeeded", "failed", "cancelled"))
}

// given tells whether runs are picked by filter.
func (f *filterFlags) given() bool {
	return len(f.flows)+len(f.states)+len(f.queues)+len(f.tags) > 0 || f.since != "" || f.until != ""
}

// read makes the filter, by the time now.
func (f *filterFlags) read(now time.Time) (gen.RunFilter, error) {
	out := gen.RunFilter{Flows: f.flows, Queues: f.queues, Most: opt(f.most)}
	for _, name := range f.states {
		if _, err := stage.ParseRunState(name); err != nil {
			return out, usagef("--state: %w", err)
		}
		out.States = append(out.States, gen.RunState(name))
	}
	var err error
	if out.Tags, err = readTags(f.tags); err != nil {
		return out, err
	}
	if out.Since, err = readTime("--since", f.since, now); err != nil {
		return out, err
	}
	out.Until, err = readTime("--until", f.until, now)
	return out, err
}

// readTags reads name=value pairs.
func readTags(pairs []string) (map[string]string, error) {
	if len(pairs) == 0 {
		return nil, nil
	}
	tags := make(map[string]string, len(pairs))
	for _, pair := range pairs {
		name, value, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return nil, usagef("--tag %q: write it as name=value", pair)
		}
		tags[name] = value
	}
	return tags, nil
}

// readTime reads a day, a time, or an age; "" is no time.
func readTime(flag, text string, now time.Time) (*time.Time, error) {
	if text == "" {
		return nil, nil
	}
	if age, ok := readAge(text); ok {
		t := now.Add(-age)
		return &t, nil
	}
	if t, ok := readMoment(text); ok {
		return &t, nil
	}
	return nil, usagef("%s %q is no time: write a day (2026-01-31), a time (2026-01-31T08:00:00Z), or an age (90m, 2h, 7d)", flag, text)
}

// readAge reads a duration, which may be in days.
func readAge(text string) (time.Duration, bool) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		text = days + "h"
		d, err := time.ParseDuration(text)
		return 24 * d, err == nil && d >= 0 && d < 100_000*time.Hour
	}
	d, err := time.ParseDuration(text)
	return d, err == nil && d >= 0
}

// readMoment reads a day or a time; without a zone it is of this machine's.
func readMoment(text string) (time.Time, bool) {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04", "2006-01-02 15:04:05", time.DateOnly} {
		if t, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// readShards reads shard indices such as "3,7-9", as the API takes them; "" is none.
func readShards(text string) (string, error) {
	text = strings.ReplaceAll(text, " ", "")
	if text == "" {
		return "", nil
	}
	for part := range strings.SplitSeq(text, ",") {
		lo, hi, isRange := strings.Cut(part, "-")
		if !isRange {
			hi = lo
		}
		first, err1 := strconv.ParseUint(lo, 10, 31)
		last, err2 := strconv.ParseUint(hi, 10, 31)
		if err1 != nil || err2 != nil || first > last || last >= shard.MaxShards {
			return "", usagef("--shards: %q is no shard or range of shards below %d: write them as 3,7-9", part, shard.MaxShards)
		}
	}
	return text, nil
}
