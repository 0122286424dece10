package payload

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/google/uuid"
)

// KeyLen is the length of a key in bytes.
const KeyLen = 32

// version1 is the byte that AESGCM's sealed payloads begin with: AES-256-GCM under a key derived for the run.
const version1 = 1

var keyID = regexp.MustCompile(`^[A-Za-z0-9._-]{1,32}$`)

// AESGCM is a Codec: AES-256-GCM with random nonces. Each run has a key of its own, derived from one of the given keys by
// HKDF-SHA256, because random nonces bear no more than 2^32 payloads under one key, and a run of a million shards has a few
// million. A sealed payload names the key that it was made with; that one seals while others open is how keys are changed.
type AESGCM struct {
	keys    map[string][]byte
	current string

	mu   sync.Mutex
	kept map[derived]cipher.AEAD
}

// derived is what a run's cipher depends on.
type derived struct {
	id, namespace string
	run           uuid.UUID
}

// keptCiphers bounds how many runs' ciphers are kept: deriving one takes longer than using it.
const keptCiphers = 512

var _ Codec = (*AESGCM)(nil)

// NewAESGCM makes an AESGCM of keys by id. current is the id of the one that seals. Ids are 1 to 32 letters, digits, dots, dashes
// and underscores; keys are KeyLen random bytes.
func NewAESGCM(keys map[string][]byte, current string) (*AESGCM, error) {
	if len(keys) == 0 {
		return nil, errors.New("payload keys: there is none: give at least one")
	}
	for id, key := range keys {
		switch {
		case !keyID.MatchString(id):
			return nil, fmt.Errorf("payload keys: the id %q is not 1 to 32 letters, digits, dots, dashes and underscores", id)
		case len(key) != KeyLen:
			return nil, fmt.Errorf("payload keys: key %q has %d bytes, it must have %d: make one by `openssl rand -base64 %d`", id, len(key), KeyLen, KeyLen)
		}
	}
	if keys[current] == nil {
		return nil, fmt.Errorf("payload keys: the current key %q is not among %s", current, strings.Join(slices.Sorted(maps.Keys(keys)), ", "))
	}
	own := make(map[string][]byte, len(keys))
	for id, key := range keys {
		own[id] = slices.Clone(key)
	}
	return &AESGCM{keys: own, current: current, kept: make(map[derived]cipher.AEAD)}, nil
}

// ParseAESGCM makes an AESGCM of text such as "k2:<base64>,k1:<base64>", whose first key seals. Keys may stand on lines of
// their own, and what follows a # is a comment. The errors do not show keys.
func ParseAESGCM(text string) (*AESGCM, error) {
	keys := make(map[string][]byte)
	current := ""
	for line := range strings.SplitSeq(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		for one := range strings.SplitSeq(line, ",") {
			one = strings.TrimSpace(one)
			if one == "" {
				continue
			}
			id, code, ok := strings.Cut(one, ":")
			if !ok {
				return nil, fmt.Errorf("payload keys: key %d has no id: write id:base64", len(keys)+1)
			}
			if keys[id] != nil {
				return nil, fmt.Errorf("payload keys: two keys have the id %q", id)
			}
			key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(code))
			if err != nil {
				return nil, fmt.Errorf("payload keys: key %q is not base64", id)
			}
			keys[id] = key
			if current == "" {
				current = id
			}
		}
	}
	return NewAESGCM(keys, current)
}

// aead is the cipher of a place's run.
func (c *AESGCM) aead(id string, at Place) (cipher.AEAD, error) {
	k := derived{id, at.Namespace, at.Run}
	c.mu.Lock()
	defer c.mu.Unlock()
	if a, ok := c.kept[k]; ok {
		return a, nil
	}
	a, err := c.derive(k)
	if err != nil {
		return nil, err
	}
	if len(c.kept) >= keptCiphers {
		clear(c.kept)
	}
	c.kept[k] = a
	return a, nil
}

func (c *AESGCM) derive(k derived) (cipher.AEAD, error) {
	info := make([]byte, 0, 64)
	info = append(info, "axflow payload 1\x00"...)
	info = append(info, k.namespace...)
	info = append(info, 0)
	info = append(info, k.run[:]...)
	key, err := hkdf.Key(sha256.New, c.keys[k.id], nil, string(info), KeyLen)
	if err != nil {
		return nil, fmt.Errorf("deriving a key: %w", err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("setting AES up: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, fmt.Errorf("setting GCM up: %w", err)
	}
	return aead, nil
}

// Seal encrypts with the current key: version, length of the key's id, the id, nonce, ciphertext and tag.
func (c *AESGCM) Seal(_ context.Context, at Place, plain []byte) ([]byte, error) {
	aead, err := c.aead(c.current, at)
	if err != nil {
		return nil, err
	}
	head := append([]byte{version1, byte(len(c.current))}, c.current...)
	data := append(slices.Clone(head), at.Bytes()...)
	out := make([]byte, len(head), len(head)+len(plain)+aead.Overhead())
	copy(out, head)
	return aead.Seal(out, nil, plain, data), nil //nolint:gosec // G407: this AEAD draws its nonce itself and takes none
}

// Open decrypts with the key that the payload names.
func (c *AESGCM) Open(_ context.Context, at Place, sealed []byte) ([]byte, error) {
	if len(sealed) < 2 || len(sealed) < 2+int(sealed[1]) {
		return nil, fmt.Errorf("%w: it is cut", ErrCorrupt)
	}
	if sealed[0] != version1 {
		return nil, fmt.Errorf("%w: it has format %d, this program reads %d", ErrCorrupt, sealed[0], version1)
	}
	head := sealed[:2+int(sealed[1])]
	id := string(head[2:])
	if c.keys[id] == nil {
		return nil, fmt.Errorf("%w %q: it has %s: add it to AX_PAYLOAD_KEYS", ErrNoKey, id, strings.Join(slices.Sorted(maps.Keys(c.keys)), ", "))
	}
	aead, err := c.aead(id, at)
	if err != nil {
		return nil, err
	}
	plain, err := aead.Open(nil, nil, sealed[len(head):], append(slices.Clone(head), at.Bytes()...))
	if err != nil {
		return nil, fmt.Errorf("%w (key %q)", ErrCorrupt, id)
	}
	return plain, nil
}
