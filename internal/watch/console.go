package watch

import (
	"bytes"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"golang.org/x/term"
)

// Terminal says what text is written to.
type Terminal struct {
	// Out gets the text. Required.
	Out io.Writer
	// Live redraws in place with cursor movements; without it every change is a line of its own.
	Live bool
	// Color uses the eight colours, ASCII does without signs beyond ASCII.
	Color, ASCII bool
	// Size gives the width and height in cells, asked before each drawing, so that resizing needs no signal. Nil
	// or numbers below 1 mean 80 by 24.
	Size func() (width, height int)
}

// Detect looks at what out is and at the environment: only a terminal is drawn on live, and not one that calls
// itself dumb; NO_COLOR (any value) means no colours; a locale that is set and is not UTF-8 means ASCII.
func Detect(out io.Writer, env func(string) string) Terminal {
	t := Terminal{Out: out}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale := strings.ToUpper(env(name)); locale != "" {
			t.ASCII = !strings.Contains(locale, "UTF-8") && !strings.Contains(locale, "UTF8")
			break
		}
	}
	f, ok := out.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) || env("TERM") == "dumb" {
		return t
	}
	t.Live = true
	t.Color = env("NO_COLOR") == ""
	t.Size = func() (int, int) {
		width, height, err := term.GetSize(int(f.Fd()))
		if err != nil {
			return 0, 0
		}
		return width, height
	}
	return t
}

func (t Terminal) style() style { return style{color: t.Color, ascii: t.ASCII} }

func (t Terminal) size() (width, height int) {
	if t.Size != nil {
		width, height = t.Size()
	}
	if width < 1 {
		width = defaultWidth
	}
	if height < 1 {
		height = defaultHeight
	}
	return width, height
}

// The control sequences.
const (
	hideCursor, showCursor = "\x1b[?25l", "\x1b[?25h"
	wrapOff, wrapOn        = "\x1b[?7l", "\x1b[?7h"
	eraseLine, eraseBelow  = "\x1b[K", "\x1b[J"
)

// Console shares a terminal between a live frame at the bottom and lines that scroll above it: give it to a logger
// as its writer. It is safe for concurrent use. The zero value is not usable; see NewConsole.
type Console struct {
	term Terminal

	mu      sync.Mutex
	frame   []string // as drawn; nil: nothing is drawn
	widths  []int    // of the frame's lines
	width   int      // of the terminal when it was drawn
	partial []byte   // of a line that is not complete
	hidden  bool     // the cursor is
}

// NewConsole returns a console on a terminal.
func NewConsole(t Terminal) *Console { return &Console{term: t} }

// Terminal is what the console writes to.
func (c *Console) Terminal() Terminal { return c.term }

// Write writes whole lines above the frame; the rest of the last line waits for its end.
func (c *Console) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.frame) == 0 && len(c.partial) == 0 {
		return c.term.Out.Write(p)
	}
	c.partial = append(c.partial, p...)
	end := bytes.LastIndexByte(c.partial, '\n') + 1
	if end == 0 {
		return len(p), nil
	}
	var b bytes.Buffer
	width, _ := c.term.size()
	c.erase(&b, width)
	b.WriteString(eraseBelow)
	b.Write(c.partial[:end])
	c.partial = append(c.partial[:0], c.partial[end:]...)
	c.paint(&b, width)
	if _, err := c.term.Out.Write(b.Bytes()); err != nil {
		return 0, err
	}
	return len(p), nil
}

// draw replaces the frame, if it differs. widths are what the lines are in cells.
func (c *Console) draw(frame []string, widths []int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	width, _ := c.term.size()
	if c.hidden && width == c.width && slices.Equal(frame, c.frame) {
		return nil
	}
	c.width = width
	var b bytes.Buffer
	if !c.hidden {
		b.WriteString(hideCursor)
		c.hidden = true
	}
	c.erase(&b, width)
	c.frame, c.widths = frame, widths
	c.paint(&b, width)
	_, err := c.term.Out.Write(b.Bytes())
	return err
}

// leave lets the frame stand where it is and gives the cursor back.
func (c *Console) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	var b bytes.Buffer
	b.Write(c.partial)
	if c.hidden {
		b.WriteString(showCursor)
	}
	c.frame, c.widths, c.partial, c.hidden = nil, nil, nil, false
	_, _ = c.term.Out.Write(b.Bytes()) // nothing is left to do about it
}

// erase goes back to where the frame began. Lines that were drawn on a wider terminal have been wrapped since.
func (c *Console) erase(b *bytes.Buffer, width int) {
	rows := 0
	for _, w := range c.widths {
		rows += max(1, (w+width-1)/width)
	}
	if rows == 0 {
		return
	}
	b.WriteByte('\r')
	moveUp(b, rows)
	// Each line is erased as it is drawn: erasing everything first would flicker. Only a frame that was wrapped is.
	if rows != len(c.widths) {
		b.WriteString(eraseBelow)
	}
}

func (c *Console) paint(b *bytes.Buffer, width int) {
	if len(c.frame) == 0 {
		return
	}
	b.WriteString(wrapOff)
	for i, l := range c.frame {
		b.WriteString(l)
		if c.widths[i] < width { // else the cursor is still on the last cell, and would erase it
			b.WriteString(eraseLine)
		}
		b.WriteString("\r\n")
	}
	b.WriteString(eraseBelow + wrapOn)
}

func moveUp(b *bytes.Buffer, rows int) {
	for range rows {
		b.WriteString("\x1b[A")
	}
}
