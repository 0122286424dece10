// Package payload seals what users give to runs and get from them (params, outputs, inputs of shards), so that the database
// holds them encrypted. A Codec does it; without one, payloads are stored as the JSON that they are. Both may stand beside each
// other in one table: what is sealed begins with a byte that no JSON begins with.
package payload

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/google/uuid"
)

// Kind is what a payload is.
type Kind string

// The kinds of payloads.
const (
	Params Kind = "params" // of a run
	Output Kind = "output" // of a stage, or of one of its shards
	Input  Kind = "input"  // of a shard
	Secret Kind = "secret" // by which a webhook's deliveries are signed
)

// Place says where a payload is stored. A Codec binds what it seals to it, so that nobody can move a sealed payload to another
// run, stage or namespace. Within one stage it says nothing of which shard: one output may be stored for many.
type Place struct {
	Kind      Kind
	Namespace string
	Run       uuid.UUID // of a Secret: the webhook
	Ord       int       // of the stage; 0 for what belongs to none
}

// Bytes is the place in a form in which no two places are equal: the associated data of an encryption.
func (p Place) Bytes() []byte {
	b := make([]byte, 0, len(p.Kind)+len(p.Namespace)+2*4+16+8)
	for _, text := range []string{string(p.Kind), p.Namespace} {
		b = binary.BigEndian.AppendUint32(b, uint32(len(text)))
		b = append(b, text...)
	}
	b = append(b, p.Run[:]...)
	return binary.BigEndian.AppendUint64(b, uint64(p.Ord))
}

// Codec seals payloads and opens them. It must be safe for concurrent use. Seal and Open of this package put it to use: they
// spare it what is empty or not sealed.
type Codec interface {
	// Seal encrypts. The answer may be stored for years, so it should say which key and method it was made with.
	Seal(ctx context.Context, at Place, plain []byte) ([]byte, error)
	// Open decrypts what Seal has returned for the same place. The error wraps ErrNoKey for a key that this process does not
	// have, and ErrCorrupt for what was not sealed so, or not for this place; any other means that trying again may help.
	Open(ctx context.Context, at Place, sealed []byte) ([]byte, error)
}

var (
	// ErrNoKey says that this process lacks the key that a payload was sealed with. Another process may have it.
	ErrNoKey = errors.New("this process lacks the key")
	// ErrCorrupt says that a payload was changed, cut, or moved to another place: nobody can open it there.
	ErrCorrupt = errors.New("the payload was changed, or moved from where it belongs")
)

// magic begins what is sealed. Its first byte occurs in no UTF-8 text, so no JSON begins with it.
var magic = []byte{0xF5, 'A', 'X'}

// Sealed tells whether stored bytes were sealed.
func Sealed(stored []byte) bool { return bytes.HasPrefix(stored, magic) }

// Seal returns what is to be stored of a payload. Without a codec, and for no payload at all, that is the payload itself.
func Seal(ctx context.Context, c Codec, at Place, plain []byte) ([]byte, error) {
	if c == nil || len(plain) == 0 {
		return plain, nil
	}
	sealed, err := c.Seal(ctx, at, plain)
	if err != nil {
		return nil, fmt.Errorf("sealing %s: %w", at.Kind, err)
	}
	return append(magic[:len(magic):len(magic)], sealed...), nil
}

// Open returns the payload of what is stored. What was not sealed is itself.
func Open(ctx context.Context, c Codec, at Place, stored []byte) ([]byte, error) {
	if !Sealed(stored) {
		return stored, nil
	}
	if c == nil {
		return nil, fmt.Errorf("opening sealed %s: %w: it has none: set AX_PAYLOAD_KEYS", at.Kind, ErrNoKey)
	}
	plain, err := c.Open(ctx, at, stored[len(magic):])
	if err != nil {
		return nil, fmt.Errorf("opening sealed %s: %w", at.Kind, err)
	}
	return plain, nil
}
