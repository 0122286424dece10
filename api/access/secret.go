package access

import (
	"crypto/rand"
	"crypto/sha256"
	"hash/crc32"
	"math/big"
	"strings"
)

// A token's secret is "ax_", 256 random bits as 43 digits of base 62, and 6 digits of base 62 that are the CRC-32 of all
// before them. The checksum tells a mistyped or cut token from an unknown one without a look into the database, and lets
// scanners for leaked secrets find tokens without false alarms. It adds nothing to the secret.
const (
	secretMark   = "ax_"
	secretDigits = 43 // 62^43 > 2^256
	checkDigits  = 6  // 62^6 > 2^32
	secretLen    = len(secretMark) + secretDigits + checkDigits
	// prefixLen is how much of a secret is kept readable: 4 digits, 24 of its 256 bits.
	prefixLen = len(secretMark) + 4
)

// newSecret makes a token's secret.
func newSecret() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // it never fails: the process ends if there is no randomness
	body := secretMark + base62(new(big.Int).SetBytes(b[:]), secretDigits)
	return body + checksum(body)
}

// wellFormed tells whether a text can be a token.
func wellFormed(secret string) bool {
	if len(secret) != secretLen || !strings.HasPrefix(secret, secretMark) {
		return false
	}
	for _, c := range secret[len(secretMark):] {
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	body := secret[:secretLen-checkDigits]
	return secret[len(body):] == checksum(body)
}

func checksum(body string) string {
	return base62(new(big.Int).SetUint64(uint64(crc32.ChecksumIEEE([]byte(body)))), checkDigits)
}

// base62 writes n with digits 0-9, a-z, A-Z, with leading zeros.
func base62(n *big.Int, digits int) string {
	text := n.Text(62)
	return strings.Repeat("0", digits-len(text)) + text
}

// digest is what is kept of a secret. Secrets have 256 random bits, so that no salt and no slow hash is needed.
func digest(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}
