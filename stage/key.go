package stage

import (
	"fmt"
	"strings"
	"time"
)

// The limits of what a Key, a Rate and a RetryWindow may say.
const (
	MaxStarts = 1_000_000           // starts in one window
	MaxWindow = 30 * 24 * time.Hour // length of a window
	MinWindow = 100 * time.Millisecond
	MaxKeyLen = 200 // bytes of a key's value; longer ones are cut and marked by a hash
)

// ShardKey is the Key.From of stages whose key is each shard's own key, as its plan said.
const ShardKey = "shard"

// Key bounds, for each value of a key, what runs at once and what starts in a while: no more than three tasks of one
// customer, ten requests a second to one host. It is an Option. Work of one key keeps its order; that of other keys does not
// wait behind it.
type Key struct {
	// From says where the key comes from: "params." and a path into the run's params, such as "params.customer.id", or
	// ShardKey. A value that is missing or null is the empty key, which is a key as others are. Required.
	From string `json:"from"`
	// Group is what the key counts in: stages of a namespace that name the same group count together. Default: the
	// stage alone.
	Group string `json:"group,omitempty"`
	// Limit is how many tasks of one key may run at once in the whole cluster. 0: no limit.
	Limit int `json:"limit,omitempty"`
	// Starts is how many tasks of one key may start in any window of length Per. 0: no bound.
	Starts int `json:"starts,omitempty"`
	// Per is the window of Starts. Default 1 s.
	Per time.Duration `json:"per_ns,omitempty"`
}

func (k Key) apply(d *Def) {
	k = k.normal()
	d.Faults = append(d.Faults, k.Check(d.Kind)...)
	d.Key = &k
}

func (k Key) normal() Key {
	if k.Starts != 0 && k.Per == 0 {
		k.Per = time.Second
	}
	return k
}

// Check returns every fault of a key in normal form of a stage of the kind.
func (k Key) Check(kind Kind) []error {
	var faults []error
	path, isPath := strings.CutPrefix(k.From, "params.")
	switch {
	case k.From == ShardKey && kind == Single:
		faults = append(faults, fmt.Errorf("Key.From is %q on a stage without shards: use a path such as params.customer", k.From))
	case k.From == ShardKey && kind == Aligned:
		faults = append(faults, fmt.Errorf("Key.From is %q on an aligned stage, whose shards move one by one: key the stage that it follows, or use a path such as params.customer", k.From))
	case k.From == ShardKey:
	case !isPath || path == "" || strings.Contains("."+path+".", ".."):
		faults = append(faults, fmt.Errorf("Key.From is %q: use %q, or params and a path into them, such as params.customer.id", k.From, ShardKey))
	}
	if k.Group != "" {
		if err := CheckName("key group", k.Group); err != nil {
			faults = append(faults, err)
		}
	}
	if k.Limit < 0 {
		faults = append(faults, fmt.Errorf("Key.Limit is %d: use a positive number, or 0 for no limit", k.Limit))
	}
	if k.Limit == 0 && k.Starts == 0 {
		faults = append(faults, fmt.Errorf("Key %q bounds nothing: set Limit or Starts", k.From))
	}
	return append(faults, windowFaults("Key.Starts", "Key.Per", k.Starts, k.Per)...)
}

// Rate bounds how many tasks of the stage start in any window of length Per in the whole cluster, first attempts and
// retries, plans not counted. It is an Option. Work that has to wait holds no slot.
type Rate struct {
	// Starts is how many tasks may start in any window. Required.
	Starts int `json:"starts"`
	// Per is the window's length. Default 1 s.
	Per time.Duration `json:"per_ns"`
}

func (r Rate) apply(d *Def) {
	if r.Per == 0 {
		r.Per = time.Second
	}
	d.Faults = append(d.Faults, r.Check()...)
	d.Rate = &r
}

// Check returns every fault of a rate in normal form.
func (r Rate) Check() []error {
	if r.Starts == 0 {
		return []error{fmt.Errorf("Rate.Starts is 0: say how many may start in %v", r.Per)}
	}
	return windowFaults("Rate.Starts", "Rate.Per", r.Starts, r.Per)
}

// RetryWindow bounds how many retries of the stage start in any window of length Per in the whole cluster; the others
// slide behind. A mass failure then comes back as a stream and not as a storm. It is an Option.
type RetryWindow struct {
	// Retries is how many retries may start in any window. Required.
	Retries int `json:"retries"`
	// Per is the window's length. Default 1 s.
	Per time.Duration `json:"per_ns"`
}

func (r RetryWindow) apply(d *Def) {
	if r.Per == 0 {
		r.Per = time.Second
	}
	d.Faults = append(d.Faults, r.Check()...)
	d.RetryWindow = &r
}

// Check returns every fault of a retry window in normal form.
func (r RetryWindow) Check() []error {
	if r.Retries == 0 {
		return []error{fmt.Errorf("RetryWindow.Retries is 0: say how many retries may start in %v", r.Per)}
	}
	return windowFaults("RetryWindow.Retries", "RetryWindow.Per", r.Retries, r.Per)
}

func windowFaults(starts, per string, n int, d time.Duration) []error {
	var faults []error
	if n < 0 || n > MaxStarts {
		faults = append(faults, fmt.Errorf("%s is %d: use 1 to %d", starts, n, MaxStarts))
	}
	if n != 0 && (d < MinWindow || d > MaxWindow) {
		faults = append(faults, fmt.Errorf("%s is %v: use %v to %v", per, d, MinWindow, MaxWindow))
	}
	return faults
}
