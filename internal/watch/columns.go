package watch

import (
	"strings"

	"axflow/stage"
)

// columns are the widths of what a row shows beside its sign; 0: not shown.
type columns struct {
	name, bar, percent, count, failed, rate, remaining, elapsed int
	compact                                                     bool
}

// field is one optional column: its text for a row and its least width.
type field struct {
	text  func(*row) string
	least int
	width *int
}

// columns fits the columns of the shown rows into a width. When room is short numbers are shortened, then what
// matters least is left out.
func (s style) columns(shown []*row, width int) columns {
	c, all := s.fit(shown, width, false)
	if !all {
		c, _ = s.fit(shown, width, true)
	}
	return c
}

func (s style) fit(shown []*row, width int, compact bool) (c columns, all bool) {
	c.compact = compact
	longest := 0
	for _, r := range shown {
		longest = max(longest, len([]rune(r.name)))
	}
	c.name = min(longest, max(minName, width/4))
	room := width - 2 - c.name // the sign and a blank
	for _, f := range []field{
		{percentText, 4, &c.percent},
		{c.countText, 0, &c.count},
		{s.failedText(compact), 0, &c.failed},
		{remainingText, 9, &c.remaining},
		{c.rateText, 6, &c.rate},
		{elapsedText, 5, &c.elapsed},
	} {
		widest := 0
		for _, r := range shown {
			widest = max(widest, len([]rune(f.text(r))))
		}
		if widest == 0 {
			continue
		}
		widest = max(widest, f.least)
		if room-widest-columnGap < minBar+columnGap {
			c.bar = min(max(0, room-columnGap), maxBar)
			return c, false
		}
		*f.width = widest
		room -= widest + columnGap
	}
	c.bar = min(max(0, room-columnGap), maxBar)
	return c, true
}

func percentText(r *row) string {
	if !r.barred() {
		return ""
	}
	return percent(r.done, r.total)
}

// countText pads what is done to the width of the total, so that the column stands still.
func (c columns) countText(r *row) string {
	if !r.barred() {
		return ""
	}
	if c.compact {
		return lead(short(r.done), len(short(r.total))) + "/" + short(r.total)
	}
	return lead(Count(r.done), len(Count(r.total))) + "/" + Count(r.total)
}

func (s style) failedText(compact bool) func(*row) string {
	sign, _ := s.glyph(stage.StageFailed)
	return func(r *row) string {
		switch {
		case r.failed == 0 || !r.sharded:
			return ""
		case compact:
			return sign + short(r.failed)
		default:
			return Count(r.failed) + " failed"
		}
	}
}

func remainingText(r *row) string {
	if r.remaining == unknown {
		return ""
	}
	return "eta " + Duration(r.remaining)
}

func (c columns) rateText(r *row) string {
	if c.compact && r.perSecond >= 1000 {
		return short(int(r.perSecond)) + "/s"
	}
	return pace(r.perSecond)
}

func elapsedText(r *row) string {
	if r.elapsed == unknown {
		return ""
	}
	return Duration(r.elapsed)
}

func (s style) rowLine(r *row, c columns, width int) string {
	l := s.line(width)
	sign, color := s.glyph(r.state)
	l.add(sign+" ", color)
	l.add(pad(clip(r.name, c.name, s.more()), c.name), plainly)
	if r.barred() && c.bar > 0 {
		l.add(strings.Repeat(" ", columnGap), plainly)
		for _, p := range s.bar(r, c.bar) {
			l.add(p.text, p.color)
		}
		l.column(percentText(r), c.percent, plainly)
		l.column(c.countText(r), c.count, plainly)
	} else {
		// Words may take the room of bar, percent and count.
		room := c.bar
		for _, w := range []int{c.percent, c.count} {
			if w > 0 {
				room += columnGap + w
			}
		}
		wordColor := dim
		if r.broken() {
			wordColor = color
		}
		if room > 0 {
			l.add(strings.Repeat(" ", columnGap)+pad(clip(r.words(), room, s.more()), room), wordColor)
		}
	}
	l.column(s.failedText(c.compact)(r), c.failed, red)
	l.column(c.rateText(r), c.rate, plainly)
	l.column(remainingText(r), c.remaining, plainly)
	l.column(elapsedText(r), c.elapsed, dim)
	return l.String()
}

// column adds text on the right of a column, if there is one.
func (l *line) column(text string, width int, color string) {
	if text == "" {
		color = plainly
	}
	if width > 0 {
		l.add(strings.Repeat(" ", columnGap)+lead(text, width), color)
	}
}
