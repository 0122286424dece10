package webhook

import (
	"net/http"
	"testing"
	"time"
)

func TestADeliveryIsTriedForADay(t *testing.T) {
	for _, jitter := range []float64{0, 0.999} {
		var age time.Duration
		tries := 1
		for {
			pause, again := pauseAfter(tries, age, 0, jitter)
			if !again {
				break
			}
			age += pause
			tries++
		}
		if tries < 10 || age < 22*time.Hour || age > 26*time.Hour {
			t.Errorf("with jitter %v: %d tries in %v, want at least 10 in about a day", jitter, tries, age)
		}
	}
	if first, _ := pauseAfter(1, 0, 0, 0); first != 5*time.Second {
		t.Errorf("the first pause is %v, want 5 s", first)
	}
}

func TestAReceiverMayAskForAPauseWithinBounds(t *testing.T) {
	for _, tc := range []struct{ asked, want time.Duration }{
		{time.Second, 5 * time.Second}, {time.Minute, time.Minute}, {240 * time.Hour, MaxRetryAfter},
	} {
		if got, again := pauseAfter(1, 0, tc.asked, 0); got != tc.want || !again {
			t.Errorf("asked for %v: %v %v, want %v", tc.asked, got, again, tc.want)
		}
	}
	if _, again := pauseAfter(2, Day, MaxRetryAfter, 0); again {
		t.Error("a receiver has put a delivery off for more than a day")
	}
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"": 0, "7": 7 * time.Second, "-7": 0, "soon": 0, "99999999999999": 0,
		now.Add(90 * time.Second).Format(http.TimeFormat): 90 * time.Second,
		now.Add(-time.Hour).Format(http.TimeFormat):       0,
	} {
		if got := retryAfter(text, now); got != want {
			t.Errorf("Retry-After %q is %v, want %v", text, got, want)
		}
	}
}
