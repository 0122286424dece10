package advise

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestJSONHasSecondsAndIsReadBack(t *testing.T) {
	limit := 5
	a := Advice{At: time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC), Window: 90 * time.Second,
		Timeouts: []Timeout{{Flow: "f", Stage: "s", Samples: 7, P50: 1500 * time.Millisecond, P99: 2 * time.Second, Max: 3 * time.Second,
			Current: time.Minute, From: 3 * time.Second, To: 4 * time.Second, Fit: FitGood}},
		Handlers: []Handler{{Flow: "f", Stage: "s", Load: Load{PerSecond: 2, Wait: 250 * time.Millisecond, Exec: 4 * time.Second, Waiting: 3}, Slots: 8}},
		Queues:   []Queue{{Name: "q", Load: Load{Wait: time.Second, Exec: 2 * time.Second}, Limit: &limit}}}
	text, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"window_s":90`, `"p50_s":1.5`, `"p99_s":2`, `"max_s":3`, `"current_s":60`, `"from_s":3`, `"to_s":4`, `"wait_s":0.25`,
		`"exec_s":4`, `"per_second":2`, `"waiting":3`, `"slots":8`, `"name":"q"`, `"limit":5`, `"fit":"good"`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s: want it to hold %s", text, want)
		}
	}
	if strings.Contains(string(text), "_ns") {
		t.Errorf("%s: nanoseconds", text)
	}
	var back Advice
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(back, a) {
		t.Errorf("read back %+v, want %+v", back, a)
	}
}
