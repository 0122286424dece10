package watch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"axflow/stage"
)

// script is a source whose run is a function of the virtual time that has passed since its first look.
type script struct {
	run   func(time.Duration) (Snapshot, error)
	takes time.Duration
	began time.Time
	looks int
}

func (s *script) Look(_ context.Context, _ uuid.UUID) (Snapshot, error) {
	if s.began.IsZero() {
		s.began = time.Now()
	}
	time.Sleep(s.takes)
	s.looks++
	return s.run(time.Since(s.began))
}

// job is a run of three stages: one of 300 ms, one of 1,000,000 shards for 8 s, and one that begins after it and
// fails within 500 ms.
func job(d time.Duration) (Snapshot, error) {
	prepare, load, report := single("prepare"), waiting("load"), waiting("report")
	load.Sharded = true
	if d >= 300*time.Millisecond {
		prepare = ended(prepare, stage.StageSucceeded, 300*time.Millisecond)
		load = sharded("load", 1_000_000, min(1_000_000, int((d-300*time.Millisecond)*1_000_000/(8*time.Second))), 0, 0)
		load.ReadyAt = at(300 * time.Millisecond)
	}
	state := stage.RunRunning
	if d >= 8300*time.Millisecond {
		load = ended(load, stage.StageSucceeded, 8300*time.Millisecond)
		report = single("report")
		report.ReadyAt = at(8300 * time.Millisecond)
	}
	if d >= 8800*time.Millisecond {
		report = ended(report, stage.StageFailed, 8800*time.Millisecond)
		state = stage.RunFailed
	}
	return progress(d, state, prepare, load, report), nil
}

func follow(ctx context.Context, t Terminal, s *script) (Snapshot, error) {
	return Follow(ctx, Config{Source: s, Run: runID, Console: NewConsole(t)})
}

func TestFollowPlain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		p, err := follow(t.Context(), Terminal{Out: &out}, &script{run: job})
		if err != nil || p.State != stage.RunFailed {
			t.Fatalf("state %s, error %v; want failed and none", p.State, err)
		}
		golden(t, "plain", out.String())
	})
}

func TestFollowPlainSaysLittleOfFastStages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		// 2,000 stages, each decided in a hundredth of a second.
		_, err := follow(t.Context(), Terminal{Out: &out}, &script{run: func(d time.Duration) (Snapshot, error) {
			now := int(d / (10 * time.Millisecond))
			stages := make([]Stage, 2000)
			for i := range stages {
				stages[i] = waiting(fmt.Sprintf("s%d", i))
				if i == now {
					stages[i] = single(stages[i].Name)
				} else if i < now {
					stages[i] = ended(single(stages[i].Name), stage.StageSucceeded, time.Duration(i)*10*time.Millisecond)
				}
			}
			state := stage.RunRunning
			if now >= 2000 {
				state = stage.RunSucceeded
			}
			return progress(d, state, stages...), nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(out.String(), "\n"); n != 2002 { // one each, the first and the last
			t.Errorf("%d lines, want 2002", n)
		}
	})
}

func TestFollowLiveLeavesTheLastFrame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScreen(80, 24)
		src := &script{run: job}
		if _, err := follow(t.Context(), Terminal{Out: s, Live: true, Size: s.size}, src); err != nil {
			t.Fatal(err)
		}
		golden(t, "live-end", s.String())
		if s.cursorHidden || s.wrapOff {
			t.Errorf("cursor hidden %t, wrap off %t at the end", s.cursorHidden, s.wrapOff)
		}
		if most := 9 * 10; s.writes > most {
			t.Errorf("%d drawings in 8.8 s, want at most %d", s.writes, most)
		}
	})
}

func TestFollowLiveHandlesResizing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScreen(80, 24)
		src := &script{run: func(d time.Duration) (Snapshot, error) {
			switch {
			case d > 6*time.Second:
				s.resize(100, 24)
			case d > 3*time.Second:
				s.resize(30, 24)
			}
			return job(d)
		}}
		if _, err := follow(t.Context(), Terminal{Out: s, Live: true, Size: s.size}, src); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(s.String(), "prepare"); n != 1 {
			t.Errorf("stage prepare is on the screen %d times:\n%s", n, s)
		}
	})
}

func TestLogLinesScrollAboveTheFrame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScreen(80, 24)
		c := NewConsole(Terminal{Out: s, Live: true, Size: s.size})
		src := &script{}
		src.run = func(d time.Duration) (Snapshot, error) {
			if src.looks == 10 {
				_, _ = io.WriteString(c, "something ")
			}
			if src.looks == 20 {
				_, _ = io.WriteString(c, "happened\nand more")
			}
			return job(d)
		}
		if _, err := Follow(t.Context(), Config{Source: src, Run: runID, Console: c}); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(s.String(), "\n")
		if lines[0] != "something happened" || !strings.HasPrefix(lines[1], "daily-recon") {
			t.Errorf("the screen begins with\n%s\n%s\nwant the line, then the frame", lines[0], lines[1])
		}
		if !strings.Contains(s.String(), "and more") {
			t.Error("the unfinished line is lost")
		}
	})
}

func TestFollowDetaches(t *testing.T) {
	for _, live := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := newScreen(80, 24)
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			p, err := follow(ctx, Terminal{Out: s, Live: live, Size: s.size}, &script{run: job})
			if !errors.Is(err, ErrDetached) || p.State != stage.RunRunning {
				t.Errorf("error %v, state %s; want ErrDetached, running", err, p.State)
			}
			if !strings.Contains(s.String(), "stopped watching; run "+runID.String()+" goes on") || s.cursorHidden {
				t.Errorf("cursor hidden %t, screen:\n%s", s.cursorHidden, s)
			}
		})
	}
}

func TestFollowOutlivesAFailingSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		p, err := follow(t.Context(), Terminal{Out: &out}, &script{run: func(d time.Duration) (Snapshot, error) {
			if d > 3*time.Second && d < 5*time.Second {
				return Snapshot{}, errors.New("connection\nrefused")
			}
			return job(d)
		}})
		if err != nil || p.State != stage.RunFailed {
			t.Fatalf("state %s, error %v; want failed and none", p.State, err)
		}
		for _, want := range []string{"trying again: connection refused", "it answers again"} {
			if strings.Count(out.String(), want) != 1 {
				t.Errorf("%q is not said once:\n%s", want, out.String())
			}
		}
	})
}

func TestFollowFailsWhenTheFirstLookFails(t *testing.T) {
	refused := errors.New("there is no such run")
	_, err := follow(t.Context(), Terminal{Out: io.Discard}, &script{run: func(time.Duration) (Snapshot, error) {
		return Snapshot{}, &Refusal{refused}
	}})
	if !errors.Is(err, refused) {
		t.Errorf("error %v, want %v", err, refused)
	}
}

func TestFollowAsksASlowSourceSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 59*time.Second)
		defer cancel()
		src := &script{takes: time.Second, run: func(d time.Duration) (Snapshot, error) {
			return progress(d, stage.RunRunning, single("s")), nil
		}}
		_, _ = follow(ctx, Terminal{Out: io.Discard}, src)
		if src.looks != 10 { // 1 s of looking, 5 s of pause
			t.Errorf("%d looks of 1 s each in 59 s, want 10", src.looks)
		}
	})
}

func TestDetect(t *testing.T) {
	env := func(pairs ...string) func(string) string {
		return func(name string) string {
			for i := 0; i < len(pairs); i += 2 {
				if pairs[i] == name {
					return pairs[i+1]
				}
			}
			return ""
		}
	}
	var file bytes.Buffer
	if got := Detect(&file, env()); got.Live || got.Color || got.ASCII {
		t.Errorf("a file: %+v, want plain lines", got)
	}
	for locale, ascii := range map[string]bool{"": false, "C": true, "POSIX": true, "en_GB.UTF-8": false, "C.utf8": false, "de_DE.ISO-8859-1": true} {
		if got := Detect(&file, env("LANG", locale)); got.ASCII != ascii {
			t.Errorf("LANG=%q: ASCII %t, want %t", locale, got.ASCII, ascii)
		}
	}
	if got := Detect(&file, env("LANG", "C", "LC_ALL", "C.UTF-8")); got.ASCII {
		t.Error("LC_ALL does not win over LANG")
	}
}
