package main

import (
	"slices"
	"strings"
	"testing"
)

func TestSameDifferences(t *testing.T) {
	a, b := Difference{1, MissingPayment, 5, 0}, Difference{2, MissingOrder, 0, 7}
	other := Difference{1, MissingPayment, 6, 0}
	for _, c := range []struct {
		want, got []Difference
		err       string
	}{
		{nil, nil, ""},
		{[]Difference{a, b}, []Difference{a, b}, ""},
		{[]Difference{a, b}, []Difference{a}, "not found"},
		{[]Difference{a, b}, []Difference{b}, "not found"},
		{[]Difference{b}, []Difference{a, b}, "not put in"},
		{[]Difference{a}, []Difference{a, b}, "not put in"},
		{[]Difference{a}, []Difference{other}, "was put in, and"},
	} {
		err := sameDifferences(c.want, c.got)
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("want %v, got %v: error %v, want one with %q", c.want, c.got, err, c.err)
		}
	}
}

func TestSameSummary(t *testing.T) {
	want := slices.Repeat([]Difference{{1, MissingPayment, 5, 0}}, 3)
	if err := sameSummary(want, Summary{Found: map[Kind]int{MissingPayment: 3}}); err != nil {
		t.Error(err)
	}
	for _, found := range []map[Kind]int{{MissingPayment: 2}, {}, {MissingPayment: 3, MissingOrder: 1}} {
		if err := sameSummary(want, Summary{Found: found}); err == nil {
			t.Errorf("a summary of %v passes for three missing payments", found)
		}
	}
}
