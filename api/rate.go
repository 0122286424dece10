package api

import (
	"math"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"axflow/api/gen"
	"axflow/api/problem"
)

// remembered is how many credentials' rates are known at least; twice as many are at most.
const remembered = 10_000

// rates limit how often each key asks. What has not asked for a while is forgotten, which costs nobody anything but a full burst.
type rates struct {
	limit rate.Limit
	burst int
	now   func() time.Time

	mu         sync.Mutex
	young, old map[string]*rate.Limiter
}

// newRates makes limits; a limit below 0 is none.
func newRates(limit float64, burst int, now func() time.Time) *rates {
	return &rates{limit: rate.Limit(limit), burst: burst, now: now, young: make(map[string]*rate.Limiter)}
}

// take counts a request, or refuses it.
func (r *rates) take(key string) error {
	if r.limit < 0 {
		return nil
	}
	now := r.now()
	l := r.of(key)
	if l.AllowN(now, 1) {
		return nil
	}
	after := (1 - l.TokensAt(now)) / float64(r.limit)
	return &problem.Error{Code: gen.ProblemCodeRateLimited, RetryAfterS: math.Ceil(after*1000) / 1000,
		Detail: "more requests than " + strconv.FormatFloat(float64(r.limit), 'f', -1, 64) + " a second: slow down, or ask for more at once"}
}

func (r *rates) of(key string) *rate.Limiter {
	r.mu.Lock()
	defer r.mu.Unlock()
	if l := r.young[key]; l != nil {
		return l
	}
	l := r.old[key]
	if l == nil {
		l = rate.NewLimiter(r.limit, r.burst)
	}
	if len(r.young) >= remembered {
		r.old, r.young = r.young, make(map[string]*rate.Limiter)
	}
	r.young[key] = l
	return l
}

// remote is the address that a request came from, without the port.
func remote(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}
