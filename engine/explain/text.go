package explain

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// lasting writes a duration with one or two parts: 420 ms, 4.2 s, 42 s, 3 min 12 s, 2 h 5 min, 3 d 4 h. What is negative
// counts as nothing.
func lasting(d time.Duration) string {
	two := func(n int64, big string, m int64, small string) string {
		if m == 0 {
			return fmt.Sprintf("%d %s", n, big)
		}
		return fmt.Sprintf("%d %s %d %s", n, big, m, small)
	}
	s := int64(d.Round(time.Second) / time.Second)
	switch {
	case d <= 0:
		return "0 s"
	case d < time.Second:
		return fmt.Sprintf("%d ms", max(1, d.Milliseconds()))
	case d < 9950*time.Millisecond:
		return strings.TrimSuffix(strconv.FormatFloat(d.Seconds(), 'f', 1, 64), ".0") + " s"
	case s < 60:
		return fmt.Sprintf("%d s", s)
	case s < 3600:
		return two(s/60, "min", s%60, "s")
	case s < 86400:
		return two(s/3600, "h", s%3600/60, "min")
	default:
		return two(s/86400, "d", s%86400/3600, "h")
	}
}

// clock writes a time of day in UTC, with the date when it is not now's.
func clock(t, now time.Time) string {
	t, now = t.UTC(), now.UTC()
	if t.Year() == now.Year() && t.YearDay() == now.YearDay() {
		return t.Format("15:04:05 UTC")
	}
	return t.Format("2006-01-02 15:04:05 UTC")
}

// number writes a number with its thousands apart: 1,000,000.
func number(n int) string {
	digits := strconv.Itoa(n)
	first := 0
	if n < 0 {
		first = 1
	}
	for at := len(digits) - 3; at > first; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

// counted writes "1 shard", "2 shards".
func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return number(n) + " " + what + "s"
}

// named lists quoted names, the first few of many.
func named(names []string) string {
	const most = 3
	quoted := make([]string, 0, most)
	for _, n := range names[:min(most, len(names))] {
		quoted = append(quoted, strconv.Quote(n))
	}
	text := strings.Join(quoted, ", ")
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// maxErrorText is how many bytes of an error a reason quotes.
const maxErrorText = 240

// errorText reads a stored error for people: the message with its code, on one line and not too long.
func errorText(raw []byte) string {
	var object struct{ Code, Message string }
	text := strings.ToValidUTF8(string(raw), "�")
	if json.Unmarshal(raw, &object) == nil && object.Message != "" {
		text = object.Message
		if object.Code != "" {
			text += " (" + object.Code + ")"
		}
	}
	return oneLine(text)
}

func oneLine(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= maxErrorText {
		return text
	}
	cut := maxErrorText
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "..."
}

// indices writes a multirange, maybe cut off, for people: "{[0,5),[7,8)}" is "0-4,7". A plan's index is "plan".
func indices(multirange string) string {
	if multirange == "{}" {
		return ""
	}
	var parts []string
	rest := strings.Trim(multirange, "{}")
	whole := strings.HasSuffix(multirange, "}")
	for _, r := range strings.Split(rest, "),") {
		lo, hi, ok := strings.Cut(strings.Trim(r, "[)"), ",")
		from, err := strconv.Atoi(lo)
		to, err2 := strconv.Atoi(hi)
		if !ok || err != nil || err2 != nil || !whole && len(parts) >= maxRanges {
			whole = false
			break
		}
		switch {
		case from < 0:
			parts = append(parts, "plan")
		case to == from+1:
			parts = append(parts, lo)
		default:
			parts = append(parts, fmt.Sprintf("%d-%d", from, to-1))
		}
	}
	// The last range of a text that was cut may have lost digits.
	if !strings.HasSuffix(multirange, "}") && len(parts) > 1 && len(parts) < maxRanges {
		parts = parts[:len(parts)-1]
	}
	if len(parts) > maxRanges {
		parts, whole = parts[:maxRanges], false
	}
	text := strings.Join(parts, ",")
	if !whole {
		text += ",..."
	}
	return strings.TrimPrefix(text, ",")
}

// maxRanges is how many ranges of indices are shown.
const maxRanges = 8
