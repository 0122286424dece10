package access

import (
	"math/big"
	"strings"
	"testing"
)

func TestSecrets(t *testing.T) {
	seen := make(map[string]bool)
	for range 1000 {
		s := newSecret()
		if len(s) != 52 || !strings.HasPrefix(s, "ax_") || !wellFormed(s) {
			t.Fatalf("%q is no secret of 52 characters", s)
		}
		if seen[s] {
			t.Fatalf("%q came twice", s)
		}
		seen[s] = true
	}
}

// 256 bits of ones and of zeros keep their length.
func TestSecretsOfEveryNumberAreAsLong(t *testing.T) {
	ones := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1))
	for _, n := range []*big.Int{big.NewInt(0), big.NewInt(61), ones} {
		if got := base62(n, secretDigits); len(got) != secretDigits {
			t.Errorf("%s in base 62 is %q, want %d digits", n, got, secretDigits)
		}
	}
	if got := base62(new(big.Int).SetUint64(1<<32-1), checkDigits); len(got) != checkDigits {
		t.Errorf("2^32-1 in base 62 is %q, want %d digits", got, checkDigits)
	}
}

// Any one character changed, left out or doubled is found without the database.
func TestTypingFaultsAreFound(t *testing.T) {
	s := newSecret()
	for i := range s {
		other := "x"
		if s[i] == 'x' {
			other = "y"
		}
		for _, wrong := range []string{s[:i] + other + s[i+1:], s[:i] + s[i+1:], s[:i+1] + s[i:]} {
			if wellFormed(wrong) {
				t.Errorf("%q passes for %q", wrong, s)
			}
		}
	}
	for _, wrong := range []string{"", "ax_", s + " ", " " + s, strings.ToUpper(s), strings.Replace(s, "ax_", "ay_", 1), "ax_" + strings.Repeat("-", 49), strings.Repeat("ü", 26)} {
		if wellFormed(wrong) {
			t.Errorf("%q passes for a secret", wrong)
		}
	}
}
