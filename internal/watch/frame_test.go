package watch

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"axflow/stage"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs:\n%s\nwant:\n%s", path, got, want)
	}
}

func TestFrameAtWidths(t *testing.T) {
	v := everyState()
	for _, width := range []int{20, 40, 80, 200} {
		golden(t, fmt.Sprintf("every-state-%d", width), strings.Join(style{}.frame(&v, width, 40), "\n")+"\n")
	}
}

func TestFrameInASCII(t *testing.T) {
	v := everyState()
	golden(t, "every-state-ascii", strings.Join(style{ascii: true}.frame(&v, 80, 40), "\n")+"\n")
}

func TestFrameInColor(t *testing.T) {
	v := everyState()
	colored := strings.Join(style{color: true}.frame(&v, 100, 40), "\n") + "\n"
	golden(t, "every-state-color", strings.ReplaceAll(colored, "\x1b", "ESC"))
}

// thousands is a run of 2,000 stages in a row, of which the 1,000th runs and the 500th has failed.
func thousands() view {
	stages := make([]Stage, 2000)
	for i := range stages {
		name := fmt.Sprintf("step-%04d", i)
		switch {
		case i == 500:
			stages[i] = ended(single(name), stage.StageFailed, time.Duration(i)*time.Second)
		case i < 1000:
			stages[i] = ended(single(name), stage.StageSucceeded, time.Duration(i)*time.Second)
		case i == 1000:
			stages[i] = sharded(name, 10_000, 2_500, 0, 16)
		default:
			stages[i] = waiting(name)
		}
	}
	return views(progress(20*time.Minute, stage.RunRunning, stages...))
}

func TestFrameOfManyStagesShowsWhatMatters(t *testing.T) {
	v := thousands()
	golden(t, "many-stages", strings.Join(style{}.frame(&v, 80, 12), "\n")+"\n")
}

func TestFrameFitsAnyTerminal(t *testing.T) {
	many, each := thousands(), everyState()
	rapid.Check(t, func(t *rapid.T) {
		v := &each
		if rapid.Bool().Draw(t, "many") {
			v = &many
		}
		width, height := rapid.IntRange(minWidth, 250).Draw(t, "width"), rapid.IntRange(minHeight, 60).Draw(t, "height")
		s := style{color: rapid.Bool().Draw(t, "color"), ascii: rapid.Bool().Draw(t, "ascii")}
		lines := s.frame(v, width, height)
		if len(lines) > height {
			t.Fatalf("%d lines in a terminal of %d", len(lines), height)
		}
		for _, l := range lines {
			if n := cellsOf(l); n > width {
				t.Fatalf("a line of %d cells in a terminal of %d: %q", n, width, l)
			}
			if s.ascii && strings.IndexFunc(l, func(r rune) bool { return r > 0x7e }) >= 0 {
				t.Fatalf("not ASCII: %q", l)
			}
		}
	})
}

func TestBarFillsItsWidth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total := rapid.IntRange(1, 1_000_000).Draw(t, "total")
		done := rapid.IntRange(0, total).Draw(t, "done")
		failed := rapid.IntRange(0, total-done).Draw(t, "failed")
		flying := rapid.IntRange(0, total-done-failed).Draw(t, "flying")
		width := rapid.IntRange(1, 60).Draw(t, "width")
		r := row{sharded: true, state: stage.StageRunning, total: total, done: done, failed: failed, inFlight: flying}
		text := ""
		for _, p := range (style{}).bar(&r, width) {
			text += p.text
		}
		if n := len([]rune(text)); n != width {
			t.Fatalf("%d cells, want %d: %q", n, width, text)
		}
		if got := strings.Count(text, "×"); (failed > 0) != (got > 0) {
			t.Fatalf("%d failed show as %d cells: %q", failed, got, text)
		}
		whole := strings.Count(text, "█") + strings.Count(text, "×")
		if whole == width && done+failed < total && failed == 0 {
			t.Fatalf("%d of %d fill the bar: %q", done+failed, total, text)
		}
		if done+failed == total && whole != width {
			t.Fatalf("all of %d do not fill the bar: %q", total, text)
		}
	})
}
