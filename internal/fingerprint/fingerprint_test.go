package fingerprint_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"axflow/internal/fingerprint"
)

func TestNormal(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"plain", "connection refused", "connection refused"},
		{"number", "row 17 of 23000 is bad", "row <n> of <n> is bad"},
		{"decimals and signs", "got -1.5, want +2.25e3", "got <n>, want <n>e<n>"},
		{"grouped digits", "12,345,678 rows", "<n> rows"},
		{"list of numbers", "missing ids: 4, 8, 15", "missing ids: <n>"},
		{"percent", "disk at 93.5%", "disk at <n>%"},
		{"unit", "needs 512MB", "needs <n>MB"},
		{"duration", "timed out after 1m30.5s", "timed out after <duration>"},
		{"duration in ms", "timed out after 1234567ms.", "timed out after <duration>."},
		{"uuid", "run 0198c1d2-3e4f-7a5b-8c6d-7e8f90a1b2c3 is gone", "run <id> is gone"},
		{"uuid in a name", "lock job-0198c1d2-3e4f-7a5b-8c6d-7e8f90a1b2c3.lock", "lock job-<id>.lock"},
		{"pointer", "nil deref at 0xc00012ab", "nil deref at <id>"},
		{"hash", "object 4b825dc642cb6eb9 not found", "object <id> not found"},
		{"a word of hex letters stays", "deadbeef facade", "deadbeef facade"},
		{"mixed id", "order AB12CD34 not found", "order <id> not found"},
		{"short names keep their letters", "s3 utf8 http2", "s<n> utf<n> http<n>"},
		{"ipv4", "dial tcp 10.1.2.3:5432: connect: connection refused", "dial tcp <addr>: connect: connection refused"},
		{"two ends", "read tcp 10.1.2.3:51234->10.9.9.9:443: reset", "read tcp <addr>-><addr>: reset"},
		{"ipv6", "dial tcp [2001:db8::1]:443: timeout", "dial tcp <addr>: timeout"},
		{"bare ipv6", "no route to fe80::1", "no route to <addr>"},
		{"host and port", "lookup db-3.prod.example.com:5432 failed", "lookup <addr> failed"},
		{"localhost", "localhost:8080 refused", "<addr> refused"},
		{"a file and a line", "main.go:42 and util.go:7", "main.go:<n> and util.go:<n>"},
		{"a label and a number", "code:1234", "code:<n>"},
		{"timestamp", "at 2026-01-02T03:04:05.678Z: late", "at <time>: late"},
		{"date and time", "at 2026-01-02 03:04:05 it broke", "at <time> it broke"},
		{"quoted", `relation "orders_2026" has no column 'x'`, "relation <value> has no column <value>"},
		{"back quotes", "unknown key `a b`", "unknown key <value>"},
		{"apostrophe", "can't open the user's file", "can't open the user's file"},
		{"quote without end", `unexpected " here 5`, `unexpected " here <n>`},
		{"path", "open /data/2026/part-00017.csv: no such file", "open /data/<n>/part-<n>.csv: no such file"},
		{"path with an id", "stat /users/ab12cd34/home", "stat /users/<id>/home"},
		{"url", "GET https://api.example.com:8443/v1/orders/991?page=3: 503", "GET https://<addr>/v<n>/orders/<n>?page=<n>: <n>"},
		{"white space", "a\n\n  b\tc ", "a b c"},
		{"not UTF-8", "bad \xff byte", "bad \uFFFD byte"},
		{"empty", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := fingerprint.Normal(c.text); got != c.want {
				t.Errorf("%q becomes\n%q, want\n%q", c.text, got, c.want)
			}
		})
	}
}

func TestOf(t *testing.T) {
	a, normal := fingerprint.Of("conn", "dial 10.0.0.1:5432: refused after 3 tries")
	b, _ := fingerprint.Of("conn", "dial 10.77.0.9:6543: refused after 12 tries")
	other, _ := fingerprint.Of("auth", "dial 10.0.0.1:5432: refused after 3 tries")
	if a != b || a == other || normal != "conn: dial <addr>: refused after <n> tries" {
		t.Errorf("%s, %s, %s, %q: the first two must be one, the third another", a, b, other, normal)
	}
	sum := sha256.Sum256([]byte(normal))
	if want := hex.EncodeToString(sum[:])[:16]; a != want {
		t.Errorf("%s, want the first 16 digits of the normal form's hash, %s", a, want)
	}
	if _, normal := fingerprint.Of("", "x"); normal != "x" {
		t.Errorf("without a code: %q", normal)
	}
	if _, normal := fingerprint.Of("c", strings.Repeat("ä ", 4000)); len(normal) > 300 || !utf8.ValidString(normal) {
		t.Errorf("a long text: %d bytes", len(normal))
	}
}

func TestSameFailureSameFingerprint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := func(name string) int { return rapid.IntRange(0, 1_000_000_000).Draw(t, name) }
		text := func(id string) string {
			return fmt.Sprintf("shard %d of %s at 10.%d.0.%d:%d: value %q over %d.%02d", number("shard"+id), "load", number("a"+id)%256, number("b"+id)%256,
				1+number("port"+id)%65535, rapid.StringMatching(`[a-z0-9 ]{0,20}`).Draw(t, "value"+id), number("x"+id), number("y"+id)%100)
		}
		one, two := text("1"), text("2")
		h1, n1 := fingerprint.Of("c", one)
		h2, n2 := fingerprint.Of("c", two)
		if h1 != h2 {
			t.Fatalf("%q and %q differ: %q, %q", one, two, n1, n2)
		}
	})
}

func TestNeverPanics(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "bytes"))
		n := fingerprint.Normal(s)
		if !utf8.ValidString(n) || len(n) > 300 || strings.ContainsAny(n, "\n\r\x00") {
			t.Fatalf("%q becomes %q", s, n)
		}
	})
}

func BenchmarkOf(b *testing.B) {
	for b.Loop() {
		fingerprint.Of("handler_error", `dial tcp 10.1.2.3:5432: connect: connection refused (attempt 3 of 5, table "orders_2026", 1m30s)`)
	}
}
