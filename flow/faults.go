package flow

import (
	"fmt"
	"strings"
)

// Faults lists everything that is wrong with a flow. New panics with it, Build and ParseGraph return it.
type Faults struct {
	Flow string
	List []error // at least one
}

// Error gives every fault, one a line.
func (f *Faults) Error() string {
	var b strings.Builder
	if len(f.List) == 1 {
		fmt.Fprintf(&b, "flow %q is wrong: %v", clip(f.Flow), f.List[0])
		return b.String()
	}
	fmt.Fprintf(&b, "flow %q is wrong in %d ways:", clip(f.Flow), len(f.List))
	for _, err := range f.List {
		fmt.Fprintf(&b, "\n  - %v", err)
	}
	return b.String()
}

// Unwrap returns the faults.
func (f *Faults) Unwrap() []error { return f.List }

func (f *Faults) add(err error) {
	if err != nil {
		f.List = append(f.List, err)
	}
}

func (f *Faults) addf(format string, args ...any) { f.add(fmt.Errorf(format, args...)) }

// clip keeps a name at a length that suits an error.
func clip(s string) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}
