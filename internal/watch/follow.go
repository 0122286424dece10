package watch

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
)

// ErrDetached says that the watching ended before the run did.
var ErrDetached = errors.New("stopped watching before the run's end")

// Config says what to watch. Source, Run and Console are required.
type Config struct {
	Source  Source
	Run     uuid.UUID
	Console *Console
	// Interval is how often to look; at least 100 ms. Default 200 ms. A source that takes long to answer is asked
	// less often: watching takes a sixth of the time at most.
	Interval time.Duration
	// Now tells how long the source takes, and since when it fails. Default time.Now.
	Now func() time.Time
	// Detached is said when the context ends before the run: what becomes of the run, and what to do. Default:
	// "stopped watching; run <id> goes on".
	Detached string
}

// costFactor is how much longer the pauses are than the looks.
const costFactor = 5

// Follow shows the run until it ends and returns its last snapshot. When ctx ends first it says so and returns
// ErrDetached. It fails when the first look fails or the run does not exist; later faults of the source are
// shown, and it goes on looking.
func Follow(ctx context.Context, cfg Config) (Snapshot, error) {
	if cfg.Source == nil || cfg.Console == nil {
		return Snapshot{}, errors.New("watch: Source and Console are required")
	}
	if cfg.Interval == 0 {
		cfg.Interval = 200 * time.Millisecond
	}
	cfg.Interval = max(cfg.Interval, 100*time.Millisecond)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Detached == "" {
		cfg.Detached = fmt.Sprintf("stopped watching; run %s goes on", cfg.Run)
	}
	f := &following{cfg: cfg}
	defer f.cfg.Console.leave()
	return f.run(ctx)
}

type following struct {
	cfg      Config
	observer observer
	plain    plain
	failing  time.Time // since when the source fails
}

func (f *following) run(ctx context.Context) (Snapshot, error) {
	var last Snapshot
	var v view
	for {
		asked := f.cfg.Now()
		p, err := f.cfg.Source.Look(ctx, f.cfg.Run)
		took := f.cfg.Now().Sub(asked)
		var refused *Refusal
		switch {
		case ctx.Err() != nil:
			return last, f.detach()
		case err == nil:
			last, f.failing = p, time.Time{}
			v = f.observer.look(&p)
		case errors.As(err, &refused):
			return last, refused.Err
		case last.At.IsZero():
			return last, err
		default:
			if f.failing.IsZero() {
				f.failing = asked
			}
			v.trouble = fmt.Sprintf("no answer for %s, trying again: %s", Duration(f.cfg.Now().Sub(f.failing)), oneLine(err.Error()))
		}
		if err := f.show(&v); err != nil {
			return last, fmt.Errorf("writing progress: %w", err)
		}
		if v.state.Ended() && v.trouble == "" {
			return last, f.finish(&v)
		}
		pause := time.NewTimer(max(f.cfg.Interval, costFactor*took))
		select {
		case <-ctx.Done():
			pause.Stop()
			return last, f.detach()
		case <-pause.C:
		}
	}
}

func (f *following) show(v *view) error {
	t := f.cfg.Console.term
	if !t.Live {
		return f.print(f.plain.lines(v))
	}
	width, height := t.size()
	lines := t.style().frame(v, width, height-1) // the cursor stands below the last line
	widths := make([]int, len(lines))
	for i, l := range lines {
		widths[i] = cellsOf(l)
	}
	return f.cfg.Console.draw(lines, widths)
}

func (f *following) print(lines []string) error {
	if len(lines) == 0 {
		return nil
	}
	_, err := f.cfg.Console.Write([]byte(strings.Join(lines, "\n") + "\n"))
	return err
}

// finish leaves the last frame standing, or says in a line how the run ended.
func (f *following) finish(v *view) error {
	if f.cfg.Console.term.Live {
		return nil
	}
	return f.print([]string{summary(v)})
}

func (f *following) detach() error {
	f.cfg.Console.leave()
	if err := f.print([]string{f.cfg.Detached}); err != nil {
		return errors.Join(ErrDetached, err)
	}
	return ErrDetached
}

// cellsOf counts the cells of a line that may have colours.
func cellsOf(l string) int {
	n := 0
	for l != "" {
		if rest, ok := strings.CutPrefix(l, "\x1b["); ok {
			if end := strings.IndexByte(rest, 'm'); end >= 0 {
				l = rest[end+1:]
				continue
			}
		}
		_, size := utf8.DecodeRuneInString(l)
		l = l[size:]
		n++
	}
	return n
}
