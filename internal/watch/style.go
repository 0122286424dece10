package watch

import (
	"strings"
	"unicode/utf8"

	"axflow/stage"
)

// style is what a terminal can show.
type style struct{ color, ascii bool }

// The colours, by their SGR parameter.
const (
	plainly = ""
	bold    = "1"
	dim     = "2"
	red     = "31"
	green   = "32"
	yellow  = "33"
	cyan    = "36"
)

func (s style) paint(text, color string) string {
	if !s.color || color == plainly || text == "" {
		return text
	}
	return "\x1b[" + color + "m" + text + "\x1b[0m"
}

// more marks a cut.
func (s style) more() string {
	if s.ascii {
		return "~"
	}
	return "…"
}

// glyph is a state's sign: its shape alone tells it, colour helps.
func (s style) glyph(state stage.StageState) (sign, color string) {
	shape := func(wide, narrow string) string {
		if s.ascii {
			return narrow
		}
		return wide
	}
	switch state {
	case stage.StageWaiting:
		return shape("·", "."), dim
	case stage.StagePlanning:
		return shape("◌", "o"), cyan
	case stage.StageRunning:
		return shape("▶", ">"), cyan
	case stage.StageCancelling:
		return shape("◇", "~"), yellow
	case stage.StageSucceeded:
		return shape("✓", "+"), green
	case stage.StageFailed:
		return shape("✗", "x"), red
	case stage.StageCancelled:
		return shape("■", "#"), yellow
	case stage.StageSkipped:
		return shape("»", "-"), dim
	case stage.StageUpstreamFailed:
		return shape("▲", "^"), red
	default:
		return "?", plainly
	}
}

func (s style) runGlyph(state stage.RunState) (sign, color string) {
	switch state {
	case stage.RunCancelling:
		return s.glyph(stage.StageCancelling)
	case stage.RunSucceeded:
		return s.glyph(stage.StageSucceeded)
	case stage.RunFailed:
		return s.glyph(stage.StageFailed)
	case stage.RunCancelled:
		return s.glyph(stage.StageCancelled)
	default:
		return s.glyph(stage.StageRunning)
	}
}

// line is one line of text whose parts have colours; it knows its width in cells.
type line struct {
	style style
	text  strings.Builder
	width int
	room  int
}

func (s style) line(room int) *line { return &line{style: s, room: room} }

// add appends a part, cut where the line ends.
func (l *line) add(text, color string) {
	text = clip(text, l.room-l.width, l.style.more())
	l.width += utf8.RuneCountInString(text)
	l.text.WriteString(l.style.paint(text, color))
}

func (l *line) String() string { return strings.TrimRight(l.text.String(), " ") }
