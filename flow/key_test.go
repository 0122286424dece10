package flow_test

import (
	"context"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"axflow/flow"
	"axflow/stage"
)

func isNever(context.Context, params) (bool, error) { return false, nil }

func keyedBy(from, group string) *flow.Graph {
	return &flow.Graph{Flow: "f", Stages: []flow.StageSpec{{Name: "s", Key: &stage.Key{From: from, Group: group, Limit: 1}}, {Name: "free"}}}
}

func TestKeyOf(t *testing.T) {
	const long = "0123456789"
	for _, c := range []struct{ from, params, want string }{
		{"params.c", `{"c":"acme"}`, "acme"},
		{"params.c", `{"c":"a/b ü\n"}`, "a/b ü\n"},
		{"params.c", `{"c":12}`, "12"},
		{"params.c", `{"c":1.50}`, "1.50"},
		{"params.c", `{"c":12345678901234567890}`, "12345678901234567890"},
		{"params.c", `{"c":true}`, "true"},
		{"params.c", `{"c":false}`, "false"},
		{"params.c", `{"c":null}`, ""},
		{"params.c", `{}`, ""},
		{"params.c", ``, ""},
		{"params.c", `[1]`, ""},
		{"params.c", `{"c":{"z":1, "a":[2, "<"]}}`, `{"a":[2,"<"],"z":1}`},
		{"params.c", `{"c":[1, 2]}`, "[1,2]"},
		{"params.c.id", `{"c":{"id":"x"}}`, "x"},
		{"params.c.id", `{"c":"x"}`, ""},
		{"params.c.id", `{"c":null}`, ""},
		{"params.c.id.of", `{"c":{"id":{"of":3}}}`, "3"},
		{"params.c", `{"c":"` + strings.Repeat(long, 20) + `"}`, strings.Repeat(long, 20)}, // 200 bytes, the limit
	} {
		if got := keyedBy(c.from, "").KeyOf(0, []byte(c.params)); got != "f/s/"+c.want {
			t.Errorf("%s of %s is %q, want %q", c.from, c.params, got, "f/s/"+c.want)
		}
		if got := keyedBy(c.from, "g").KeysOf([]byte(c.params)); len(got) != 2 || got[0] != "g/"+c.want || got[1] != "" {
			t.Errorf("keys by %s of %s are %q, want %q", c.from, c.params, got, "g/"+c.want)
		}
	}
}

func TestStagesWithoutKeyFromParams(t *testing.T) {
	g := keyedBy(stage.ShardKey, "g")
	if k := g.KeyOf(0, []byte(`{"shard":1}`)); k != "" || g.KeysOf([]byte(`{}`)) != nil || g.KeyOf(1, []byte(`{}`)) != "" {
		t.Errorf("a key of shards is %q", k)
	}
	if g.ShardKeyGroup(0) != "g" || g.ShardKeyGroup(1) != "" || g.KeyGroup(1) != "" || keyedBy("params.a", "").ShardKeyGroup(0) != "" {
		t.Error("the groups of shard keys are wrong")
	}
	if got := keyedBy(stage.ShardKey, "").ShardKeyGroup(0); got != "f/s" {
		t.Errorf("the default group is %q, want f/s", got)
	}
}

// A key can be stored whatever it is made of, is as long as it may be, and two that differ stay apart.
func TestKeysAreStorableAndDistinct(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringOfN(rapid.Rune(), 150, 400, -1), rapid.Just("a\x00b"), rapid.Just("a\xffb"))
		a, b := text.Draw(t, "a"), text.Draw(t, "b")
		if rapid.Bool().Draw(t, "alike") {
			b = a + "x"
		}
		ka, kb := flow.KeyName("g", a), flow.KeyName("g", b)
		if len(ka) > 2+stage.MaxKeyLen || !utf8.ValidString(ka) || strings.ContainsRune(ka, 0) || !strings.HasPrefix(ka, "g/") {
			t.Fatalf("the key of %q is %q", a, ka)
		}
		if (a == b) != (ka == kb) {
			t.Fatalf("%q and %q have the keys %q and %q", a, b, ka, kb)
		}
	})
}
