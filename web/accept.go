package web

import (
	"strconv"
	"strings"
)

// taken tells which of the values that a client could be sent it takes, by an Accept or Accept-Encoding header: what is named
// and not refused by q=0, or what * stands for.
func taken(header string) func(value string) bool {
	weights := make(map[string]float64)
	for part := range strings.SplitSeq(header, ",") {
		value, params, _ := strings.Cut(part, ";")
		value = strings.ToLower(strings.TrimSpace(value))
		if value == "" {
			continue
		}
		weights[value] = 1
		for param := range strings.SplitSeq(params, ";") {
			if name, text, _ := strings.Cut(strings.TrimSpace(param), "="); strings.EqualFold(name, "q") {
				if q, err := strconv.ParseFloat(text, 64); err == nil {
					weights[value] = q
				}
			}
		}
	}
	return func(value string) bool {
		if q, named := weights[value]; named {
			return q > 0
		}
		return weights["*"] > 0
	}
}

// matches tells whether an If-None-Match header names an entity tag.
func matches(header, etag string) bool {
	for part := range strings.SplitSeq(header, ",") {
		if part = strings.TrimSpace(part); part == "*" || strings.TrimPrefix(part, "W/") == etag {
			return true
		}
	}
	return false
}
