package cli

import (
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"axflow/engine/control"
	"axflow/shard"
	"axflow/stage"
)

// filterFlags are the flags by which a verb picks many runs at once.
type filterFlags struct {
	flows, states, queues, tags []string
	since, until                string
	most                        int
}

func (f *filterFlags) add(cmd *cobra.Command) {
	l := cmd.Flags()
	l.StringSliceVar(&f.flows, "flow", nil, "every run of these flows, in place of RUN")
	l.StringSliceVar(&f.states, "state", nil, "every run in these states (running, cancelling, succeeded, failed, cancelled), in place of RUN")
	l.StringSliceVar(&f.queues, "queue", nil, "every run of these queues, in place of RUN")
	l.StringSliceVar(&f.tags, "tag", nil, "every run with all of these tags (name=value), in place of RUN")
	l.StringVar(&f.since, "since", "", "every run that was started at or after this time (2026-01-31, 2026-01-31T08:00:00Z, or an age such as 2h), in place of RUN")
	l.StringVar(&f.until, "until", "", "the same, before this time")
	l.IntVar(&f.most, "limit", 0, "the most runs to act on, oldest first (default "+strconv.Itoa(control.DefaultMost)+")")
}

// given tells whether runs are picked by filter.
func (f *filterFlags) given() bool {
	return len(f.flows)+len(f.states)+len(f.queues)+len(f.tags) > 0 || f.since != "" || f.until != ""
}

// read makes the filter, by the time now.
func (f *filterFlags) read(now time.Time) (control.Filter, error) {
	out := control.Filter{Flows: f.flows, Queues: f.queues, Most: f.most}
	for _, name := range f.states {
		s, err := stage.ParseRunState(name)
		if err != nil {
			return out, usagef("--state: %w", err)
		}
		out.States = append(out.States, s)
	}
	for _, tag := range f.tags {
		name, value, ok := strings.Cut(tag, "=")
		if !ok || name == "" {
			return out, usagef("--tag %q: write it as name=value", tag)
		}
		if out.Tags == nil {
			out.Tags = make(map[string]string)
		}
		out.Tags[name] = value
	}
	var err error
	if out.Since, err = readTime("--since", f.since, now); err != nil {
		return out, err
	}
	out.Until, err = readTime("--until", f.until, now)
	return out, err
}

// readTime reads a day, a time, or an age; "" is the zero time.
func readTime(flag, text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if age, err := time.ParseDuration(text); err == nil && age >= 0 {
		return now.Add(-age), nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04", "2006-01-02 15:04:05", time.DateOnly} {
		if t, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return t, nil
		}
	}
	return time.Time{}, usagef("%s %q is no time: write a day (2026-01-31), a time (2026-01-31T08:00:00Z), or an age (90m, 2h)", flag, text)
}

// readShards reads shard indices such as "3,7-9"; "" is the empty set.
func readShards(text string) (shard.Set, error) {
	var ranges []shard.Range
	if text == "" {
		return shard.Set{}, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		lo, hi, isRange := strings.Cut(strings.TrimSpace(part), "-")
		if !isRange {
			hi = lo
		}
		first, err1 := strconv.ParseUint(lo, 10, 31)
		last, err2 := strconv.ParseUint(hi, 10, 31)
		if err1 != nil || err2 != nil || first > last || last >= shard.MaxShards {
			return shard.Set{}, usagef("--shards: %q is no shard or range of shards below %d: write them as 3,7-9", part, shard.MaxShards)
		}
		ranges = append(ranges, shard.Range{Lo: int32(first), Hi: int32(last) + 1})
	}
	return shard.OfRanges(ranges...), nil
}
