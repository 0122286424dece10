package webhook

import "time"

// Day is how long a delivery is tried: until a pause would end after it.
const Day = 24 * time.Hour

// MaxRetryAfter bounds the pause that a receiver may ask for.
const MaxRetryAfter = 2 * time.Hour

// pauses are those after the first attempt, the second and so on. They add up to somewhat less than a day.
var pauses = []time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour,
	2 * time.Hour, 3 * time.Hour, 3 * time.Hour, 3 * time.Hour, 4 * time.Hour, 4 * time.Hour}

// pauseAfter tells how long to wait after the failed attempt number tried, and whether there is another. age is the time since the
// delivery was asked for; asked is what the receiver asks for; jitter, of [0, 1), makes the pause up to a tenth longer, so that what
// failed together does not come together.
func pauseAfter(tried int, age, asked time.Duration, jitter float64) (pause time.Duration, again bool) {
	if tried > len(pauses) {
		return 0, false
	}
	pause = pauses[max(tried, 1)-1]
	pause = max(pause+time.Duration(jitter*float64(pause/10)), min(asked, MaxRetryAfter))
	return pause, age+pause <= Day+time.Hour
}
