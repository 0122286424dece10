package payload_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/google/uuid"

	"axflow/sql/payload"
)

func key(b byte) []byte { return bytes.Repeat([]byte{b}, payload.KeyLen) }

func codec(t *testing.T, keys map[string][]byte, current string) *payload.AESGCM {
	t.Helper()
	c, err := payload.NewAESGCM(keys, current)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func seal(t *testing.T, c payload.Codec, at payload.Place, text string) []byte {
	t.Helper()
	sealed, err := payload.Seal(context.Background(), c, at, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

func place() payload.Place {
	return payload.Place{Kind: payload.Output, Namespace: "default", Run: uuid.MustParse("0193a000-0000-7000-8000-000000000001"), Ord: 3}
}

func TestWhatIsSealedOpensAtItsPlaceAndNowhereElse(t *testing.T) {
	c, at, text := codec(t, map[string][]byte{"k1": key(1)}, "k1"), place(), `{"iban": "DE02120300000000202051"}`
	sealed := seal(t, c, at, text)
	if !payload.Sealed(sealed) || bytes.Contains(sealed, []byte("iban")) || bytes.Equal(sealed, seal(t, c, at, text)) {
		t.Errorf("sealed: %q", sealed)
	}
	if got, err := payload.Open(context.Background(), c, at, sealed); err != nil || string(got) != text {
		t.Errorf("opened: %q, %v", got, err)
	}
	elsewhere := []payload.Place{at, at, at, at, {Kind: "outputdefault", Run: at.Run, Ord: 3}, {Kind: payload.Output, Run: at.Run, Ord: 3}}
	elsewhere[0].Kind = payload.Input
	elsewhere[1].Namespace = "other"
	elsewhere[2].Run[15]++
	elsewhere[3].Ord++
	for _, other := range elsewhere {
		if got, err := payload.Open(context.Background(), c, other, sealed); !errors.Is(err, payload.ErrCorrupt) {
			t.Errorf("opened at %+v: %q, %v, want ErrCorrupt", other, got, err)
		}
	}
	for i := range sealed {
		broken := bytes.Clone(sealed)
		broken[i] ^= 1
		if got, err := payload.Open(context.Background(), c, at, broken); err == nil && payload.Sealed(broken) {
			t.Errorf("opened with byte %d changed: %q", i, got)
		}
		if i < 3 {
			continue
		}
		if got, err := payload.Open(context.Background(), c, at, sealed[:i]); !errors.Is(err, payload.ErrCorrupt) && !errors.Is(err, payload.ErrNoKey) {
			t.Errorf("opened after a cut at byte %d: %q, %v", i, got, err)
		}
	}
}

func TestKeysAreChangedWithoutWritingAnythingAnew(t *testing.T) {
	at := place()
	old := seal(t, codec(t, map[string][]byte{"k1": key(1)}, "k1"), at, `1`)
	both := codec(t, map[string][]byte{"k1": key(1), "k2": key(2)}, "k2")
	if got, err := payload.Open(context.Background(), both, at, old); err != nil || string(got) != "1" {
		t.Errorf("the old one: %q, %v", got, err)
	}
	fresh := seal(t, both, at, `2`)
	if got, err := payload.Open(context.Background(), codec(t, map[string][]byte{"k2": key(2)}, "k2"), at, fresh); err != nil || string(got) != "2" {
		t.Errorf("the new one: %q, %v", got, err)
	}
	_, err := payload.Open(context.Background(), codec(t, map[string][]byte{"k2": key(2)}, "k2"), at, old)
	if !errors.Is(err, payload.ErrNoKey) || !strings.Contains(err.Error(), `"k1"`) {
		t.Errorf("without the old key: %v, want ErrNoKey that names k1", err)
	}
	_, err = payload.Open(context.Background(), codec(t, map[string][]byte{"k1": key(9)}, "k1"), at, old)
	if !errors.Is(err, payload.ErrCorrupt) {
		t.Errorf("with another key of the same id: %v, want ErrCorrupt", err)
	}
	if _, err = payload.Open(context.Background(), nil, at, old); !errors.Is(err, payload.ErrNoKey) {
		t.Errorf("without a codec: %v, want ErrNoKey", err)
	}
}

func TestWithoutACodecPayloadsAreThemselves(t *testing.T) {
	text := []byte(`{"a": 1}`)
	var none payload.Codec
	if got, err := payload.Seal(context.Background(), none, place(), text); err != nil || !bytes.Equal(got, text) {
		t.Errorf("sealed without a codec: %q, %v", got, err)
	}
	c := codec(t, map[string][]byte{"k1": key(1)}, "k1")
	if got, err := payload.Open(context.Background(), c, place(), text); err != nil || !bytes.Equal(got, text) {
		t.Errorf("opened what was not sealed: %q, %v", got, err)
	}
	if got, err := payload.Seal(context.Background(), c, place(), nil); err != nil || got != nil {
		t.Errorf("sealed nothing: %q, %v", got, err)
	}
}

func TestKeysAreReadFromText(t *testing.T) {
	raw := make([]byte, payload.KeyLen)
	_, _ = rand.Read(raw)
	code := base64.StdEncoding.EncodeToString(raw)
	other := base64.StdEncoding.EncodeToString(key(1))
	for _, text := range []string{"k2:" + code + ",k1:" + other, "# keys\n k2:" + code + " # since May\n\nk1:" + other + "\n"} {
		c, err := payload.ParseAESGCM(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		sealed := seal(t, c, place(), "1")
		if got, err := payload.Open(context.Background(), codec(t, map[string][]byte{"k2": raw}, "k2"), place(), sealed); err != nil || string(got) != "1" {
			t.Errorf("%q does not seal with its first key: %v", text, err)
		}
	}
	for text, wrong := range map[string]string{
		"": "there is none", code: "has no id", "k1:!": "not base64", "k1:" + code[:8]: "it must have 32", "k1:" + code + ",k1:" + code: "two keys", ":" + code: "1 to 32 letters", "a b:" + code: "1 to 32 letters",
	} {
		_, err := payload.ParseAESGCM(text)
		if err == nil || !strings.Contains(err.Error(), wrong) {
			t.Errorf("%q: %v, want an error that says %q", text, err, wrong)
		}
		if err != nil && strings.Contains(err.Error(), code[:8]) {
			t.Errorf("the error shows the key: %v", err)
		}
	}
}

func BenchmarkSeal(b *testing.B) {
	c, err := payload.NewAESGCM(map[string][]byte{"k1": key(1)}, "k1")
	if err != nil {
		b.Fatal(err)
	}
	text := bytes.Repeat([]byte("x"), 200)
	b.ReportAllocs()
	for b.Loop() {
		sealed, err := payload.Seal(context.Background(), c, place(), text)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := payload.Open(context.Background(), c, place(), sealed); err != nil {
			b.Fatal(err)
		}
	}
}
