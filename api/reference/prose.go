package reference

import (
	"html/template"
	"regexp"
	"strings"
)

var (
	inlineCode = regexp.MustCompile("`([^`]+)`")
	strong     = regexp.MustCompile(`\*\*([^*]+)\*\*`)
)

// prose makes HTML of the little Markdown that the document uses: paragraphs, lists, code and emphasis.
func prose(text string) template.HTML {
	text = strings.TrimSpace(text)
	if text == "" {
		return ""
	}
	var b strings.Builder
	for i, block := range regexp.MustCompile(`\n\s*\n`).Split(text, -1) {
		lines := strings.Split(block, "\n")
		switch {
		case strings.HasPrefix(lines[0], "- "):
			b.WriteString("<ul>")
			for _, l := range lines {
				b.WriteString("<li>" + inline(strings.TrimPrefix(l, "- ")) + "</li>")
			}
			b.WriteString("</ul>")
		case i == 0 && len(lines) == 1 && !strings.Contains(text, "\n\n"):
			b.WriteString(inline(block))
		default:
			b.WriteString("<p>" + inline(block) + "</p>")
		}
	}
	return template.HTML(b.String()) //nolint:gosec // what inline writes is escaped
}

func inline(text string) string {
	text = template.HTMLEscapeString(text)
	text = inlineCode.ReplaceAllString(text, "<code>$1</code>")
	return strong.ReplaceAllString(text, "<strong>$1</strong>")
}
