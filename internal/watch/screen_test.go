package watch

import (
	"fmt"
	"strings"
)

// screen is a terminal: it understands what the console writes, scrolls, and wraps again when it gets narrower.
type screen struct {
	width, height         int
	lines                 [][]rune // all that was ever on it; the last height lines are visible
	row, col              int
	cursorHidden, wrapOff bool
	writes                int
}

func newScreen(width, height int) *screen { return &screen{width: width, height: height} }

func (s *screen) size() (int, int) { return s.width, s.height }

func (s *screen) String() string {
	var b strings.Builder
	for _, l := range s.lines {
		b.WriteString(strings.TrimRight(string(l), " ") + "\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// resize wraps lines that have become too long, as terminals do, and leaves the cursor at its text.
func (s *screen) resize(width, height int) {
	if width == s.width && height == s.height {
		return
	}
	s.width, s.height = width, height
	var lines [][]rune
	for i, l := range s.lines {
		if i == s.row {
			s.row = len(lines)
		}
		for len(l) > width {
			lines, l = append(lines, l[:width:width]), l[width:]
		}
		lines = append(lines, l)
	}
	if s.row >= len(s.lines) {
		s.row = len(lines)
	}
	s.lines = lines
}

func (s *screen) Write(p []byte) (int, error) {
	s.writes++
	text := []rune(string(p))
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '\r':
			s.col = 0
		case '\n':
			s.row++
			s.col = 0
			s.line()
		case '\x1b':
			end := i + 2
			for text[end] < '@' {
				end++
			}
			s.control(string(text[i+2 : end+1]))
			i = end
		default:
			s.put(c)
		}
	}
	return len(p), nil
}

func (s *screen) line() {
	for len(s.lines) <= s.row {
		s.lines = append(s.lines, nil)
	}
}

func (s *screen) put(c rune) {
	if s.col >= s.width {
		s.row, s.col = s.row+1, 0
	}
	s.line()
	for len(s.lines[s.row]) <= s.col {
		s.lines[s.row] = append(s.lines[s.row], ' ')
	}
	s.lines[s.row][s.col] = c
	s.col++
	if s.col == s.width && s.wrapOff { // it stays on the last cell
		s.col--
	}
}

func (s *screen) control(code string) {
	s.line()
	switch code {
	case "?25l", "?25h":
		s.cursorHidden = code == "?25l"
	case "?7l", "?7h":
		s.wrapOff = code == "?7l"
	case "A":
		s.row = max(s.row-1, 0, len(s.lines)-s.height)
	case "K":
		s.lines[s.row] = s.lines[s.row][:min(s.col, len(s.lines[s.row]))]
	case "J":
		s.control("K")
		s.lines = s.lines[:s.row+1]
	default:
		if !strings.HasSuffix(code, "m") {
			panic(fmt.Sprintf("unknown control sequence %q", code))
		}
	}
}
