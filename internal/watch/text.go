package watch

import (
	"fmt"
	"strconv"
	"time"
)

// Duration writes a duration with two or three significant parts: 3.2s, 42s, 3m12s, 2h05m, 3d04h.
func Duration(d time.Duration) string {
	switch s := d.Round(time.Second); {
	case d < 0:
		return "0.0s"
	case d < 9950*time.Millisecond:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case s < time.Minute:
		return fmt.Sprintf("%ds", int(s.Seconds()))
	case s < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(s.Minutes()), int(s.Seconds())%60)
	case s < 24*time.Hour:
		return fmt.Sprintf("%dh%02dm", int(s.Hours()), int(s.Minutes())%60)
	default:
		return fmt.Sprintf("%dd%02dh", int(s.Hours())/24, int(s.Hours())%24)
	}
}

// Count writes a number with its thousands apart: 1,000,000.
func Count(n int) string {
	digits := strconv.Itoa(n)
	sign := ""
	if n < 0 {
		sign, digits = "-", digits[1:]
	}
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return sign + digits
}

// short writes a number in at most four characters: 999, 1.2k, 45k, 912k, 1.0M.
func short(n int) string {
	f := float64(n)
	switch {
	case n < 1000:
		return strconv.Itoa(n)
	case n < 9950:
		return fmt.Sprintf("%.1fk", f/1e3)
	case n < 999_500:
		return fmt.Sprintf("%.0fk", f/1e3)
	case n < 9_950_000:
		return fmt.Sprintf("%.1fM", f/1e6)
	default:
		return fmt.Sprintf("%.0fM", f/1e6)
	}
}

// pace writes a rate; "" when it is not known.
func pace(perSecond float64) string {
	switch {
	case perSecond <= 0:
		return ""
	case perSecond < 0.1:
		return fmt.Sprintf("%.1f/min", perSecond*60)
	case perSecond < 9.95:
		return fmt.Sprintf("%.1f/s", perSecond)
	default:
		return Count(int(perSecond+0.5)) + "/s"
	}
}

// percent is rounded down, so that 100 means all.
func percent(done, total int) string {
	if total <= 0 {
		return ""
	}
	return strconv.Itoa(int(int64(done)*100/int64(total))) + "%"
}

// clip cuts text to a width, saying so.
func clip(text string, width int, more string) string {
	runes := []rune(text)
	if len(runes) <= width {
		return text
	}
	if width <= 0 {
		return ""
	}
	return string(runes[:width-1]) + more
}

// pad fills text up to a width on its right.
func pad(text string, width int) string { return fmt.Sprintf("%-*s", width, text) }

// lead fills text up to a width on its left.
func lead(text string, width int) string { return fmt.Sprintf("%*s", width, text) }
