package hint

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"axflow/sql/span"
)

func number(n int) uuid.UUID {
	var id uuid.UUID
	id[0], id[13], id[14], id[15] = 0xff, byte(n>>16), byte(n>>8), byte(n)
	return id
}

func numbers(from, n int) []uuid.UUID {
	var list []uuid.UUID
	for i := range n {
		list = append(list, number(from+i))
	}
	return list
}

// The format is a promise to processes of other versions.
func TestWireFormat(t *testing.T) {
	id := uuid.MustParse("00010203-0405-0607-0809-0a0b0c0d0e0f") // RFC 4648: AAECAwQFBgcICQoLDA0ODw
	var o outbox
	o.engine(Engine{Ready: []span.Ready{{Header: span.Header{ID: id}}}, IDs: []uuid.UUID{id}, Stages: []span.StageKey{{Run: id, Ord: 7}},
		Left: []Left{{Flight: id, Left: 3, Done: 2, Busy: 1500}, {Flight: id}}, Runs: []uuid.UUID{id}, Workers: true, Look: true})
	o.worker(id, Worker{Flights: []span.Assignment{{Header: span.Header{ID: id}}}, IDs: []uuid.UUID{id}, Asks: true})
	o.ended([]uuid.UUID{id})
	const b = `"AAECAwQFBgcICQoLDA0ODw"`
	want := []payload{
		{"ax_engine", `{"r":[` + b + `,` + b + `],"s":[{"r":` + b + `,"o":7}],"l":[{"f":` + b + `,"l":3,"d":2,"b":1500},{"f":` + b + `}],"u":[` + b + `],"w":true,"k":true}`},
		{"ax_run", `{"u":[` + b + `]}`},
		{"ax_w_000102030405060708090a0b0c0d0e0f", `{"f":[` + b + `,` + b + `],"a":true}`},
	}
	if got := o.take(); !slices.Equal(got, want) {
		t.Errorf("payloads\n%v\nwant\n%v", got, want)
	}
	if got := o.take(); got != nil {
		t.Errorf("an empty outbox gave %v", got)
	}
}

// Whatever goes in comes out, in order, or else a look does; and every payload is one that PostgreSQL takes.
func TestEngineRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var o outbox
		var sent Engine
		count := func(name string) int {
			return rapid.OneOf(rapid.IntRange(0, 3), rapid.IntRange(0, 600)).Draw(t, name)
		}
		last := 0
		some := func(name string) []uuid.UUID {
			n := count(name)
			last += n
			return numbers(last-n, n)
		}
		for range rapid.IntRange(1, 4).Draw(t, "hints") {
			n := Engine{IDs: some("ids"), Runs: some("runs"), Workers: rapid.Bool().Draw(t, "workers"), Look: rapid.Bool().Draw(t, "look")}
			ord := rapid.Int16().Draw(t, "ord")
			for _, id := range some("stages") {
				n.Stages = append(n.Stages, span.StageKey{Run: id, Ord: ord})
			}
			many := rapid.IntRange(0, math.MaxInt)
			left := Left{Left: many.Draw(t, "left"), Done: many.Draw(t, "done"), Busy: time.Duration(many.Draw(t, "busy"))}
			for _, left.Flight = range some("flights") {
				n.Left = append(n.Left, left)
			}
			o.engine(n)
			sent.IDs, sent.Runs = append(sent.IDs, n.IDs...), append(sent.Runs, n.Runs...)
			sent.Stages, sent.Left = append(sent.Stages, n.Stages...), append(sent.Left, n.Left...)
			sent.Workers, sent.Look = sent.Workers || n.Workers, sent.Look || n.Look
		}
		payloads := o.take()
		if len(payloads) > 8 {
			t.Fatalf("%d payloads, want 8 at most", len(payloads))
		}
		var got Engine
		for _, p := range payloads {
			if p.channel != "ax_engine" || len(p.text) >= 7900 {
				t.Fatalf("a payload of %d bytes on %s", len(p.text), p.channel)
			}
			m, ok := decode(p.text)
			if !ok {
				t.Fatalf("cannot be read: %s", p.text)
			}
			n := m.toEngine()
			got.IDs, got.Runs = append(got.IDs, n.IDs...), append(got.Runs, n.Runs...)
			got.Stages, got.Left = append(got.Stages, n.Stages...), append(got.Left, n.Left...)
			got.Workers, got.Look = got.Workers || n.Workers, got.Look || n.Look
		}
		items := len(sent.IDs) + len(sent.Runs) + len(sent.Stages) + len(sent.Left)
		if items > 500 && got.Look { // 500 items of at most 110 bytes fit in any case
			sent = Engine{Workers: sent.Workers, Look: true, IDs: got.IDs, Runs: got.Runs, Stages: got.Stages, Left: got.Left}
		}
		if !reflect.DeepEqual(got, sent) {
			t.Fatalf("received %+v\nwant %+v", got, sent)
		}
	})
}

// No 2,528 ids of 25 bytes fit 8 payloads of 7,900 bytes.
func TestTooMuchIsALook(t *testing.T) {
	var o outbox
	o.engine(Engine{IDs: numbers(0, 5000), Workers: true})
	o.engine(Engine{IDs: numbers(0, 1)})
	o.ended(numbers(0, 2600))
	o.ended(numbers(0, 1))
	o.worker(number(1), Worker{IDs: numbers(0, 2600)})
	want := []payload{{engineChannel, `{"w":true,"k":true}`}, {runChannel, `{"k":true}`}, {channelOf(workerPrefix, number(1)), `{"a":true}`}}
	if got := o.take(); !slices.Equal(got, want) {
		t.Errorf("payloads %v, want %v", got, want)
	}
	o.ended(numbers(0, 1))
	if got := o.take(); len(got) != 1 || strings.Contains(got[0].text, "k") && !strings.Contains(got[0].text, "u") {
		t.Errorf("after the collapse: %v, want the id", got)
	}
}

// However much is said while nothing can be sent, little waits.
func TestOutboxIsBounded(t *testing.T) {
	var o outbox
	ids := numbers(0, 100)
	for i := range 20_000 {
		o.engine(Engine{IDs: ids})
		o.ended(ids)
		o.worker(number(i%200), Worker{IDs: ids})
	}
	bytes := 0
	for _, p := range o.take() {
		bytes += len(p.text)
	}
	if limit := 1<<20 + 2*8*7900 + 200*100; bytes > limit {
		t.Errorf("%d bytes wait, want %d at most", bytes, limit)
	}
}

func TestCollapse(t *testing.T) {
	got := collapse([]payload{{engineChannel, "a"}, {runChannel, "b"}, {engineChannel, "c"}, {probePrefix + "x", ""}, {"ax_w_1", "d"}, {runChannel, "e"}})
	var channels []string
	for _, p := range got {
		channels = append(channels, p.channel)
		if m, ok := decode(p.text); !ok || !m.Look || !m.Asks || !m.Workers {
			t.Errorf("%s says %q, want a look", p.channel, p.text)
		}
	}
	if want := []string{engineChannel, runChannel, "ax_w_1"}; !slices.Equal(channels, want) {
		t.Errorf("channels %v, want %v", channels, want)
	}
}

func FuzzDecode(f *testing.F) {
	for _, text := range []string{
		"", " ", "null", "{}", "[]", "1", `"x"`, "{", `{"k":true}`, `{"k":true} `, `{"k":true}x`, `{"k":true}{}`, `{"new":1,"k":true}`,
		`{"r":["AAECAwQFBgcICQoLDA0ODw"]}`, `{"r":["AAECAwQFBgcICQoLDA0ODx"]}`, `{"r":["AAECAwQFBgcICQoLDA0OD"]}`, `{"r":["AAECAwQFBgcICQoLDA0OD\n"]}`,
		`{"r":[1]}`, `{"s":[{"r":"AAECAwQFBgcICQoLDA0ODw","o":32768}]}`, `{"l":[{"f":"AAECAwQFBgcICQoLDA0ODw","d":-1}]}`, `{"r":null}`, "\xff\x00", strings.Repeat("[", 7000),
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, ok := decode(text)
		if !ok {
			if !reflect.DeepEqual(m, garbage) {
				t.Fatalf("%q cannot be read but means %+v", text, m)
			}
			return
		}
		if m.empty() {
			t.Fatalf("%q says nothing and is no look", text)
		}
		again, ok := decode(m.encode())
		if !ok || !reflect.DeepEqual(again.toEngine(), m.toEngine()) || !slices.Equal(again.Flights, m.Flights) || again.Asks != m.Asks {
			t.Fatalf("%q: %+v became %+v", text, m, again)
		}
	})
}

func TestUnknownPayloadsAreLooks(t *testing.T) {
	for text, readable := range map[string]bool{
		`{"k":true}`: true, `{"r":["AAECAwQFBgcICQoLDA0ODw"]}`: true,
		``: false, `{}`: false, `null`: false, `{"k":true}x`: false, `{"new":1,"k":true}`: false, `{"r":["AAECAwQFBgcICQoLDA0ODx"]}`: false,
		`{"r":["AAECAwQFBgcICQoLDA0OD\n"]}`: false, `{"l":[{"f":"AAECAwQFBgcICQoLDA0ODw","d":-1}]}`: false,
		`{"s":[{"r":"AAECAwQFBgcICQoLDA0ODw","o":32768}]}`: false,
	} {
		if m, ok := decode(text); ok != readable {
			t.Errorf("%q: %+v, readable %t, want %t", text, m, ok, readable)
		}
	}
}
