package control

import (
	"context"
	"errors"

	"axflow/sql/payload"
)

// OpenPayload returns the JSON of params or an output as they are stored, in the client's namespace. What was not sealed is
// itself. What this process cannot open is CodeConflict: the text names the key that it lacks.
func (c *Client) OpenPayload(ctx context.Context, at payload.Place, stored []byte) ([]byte, error) {
	at.Namespace = c.cfg.Namespace
	plain, err := payload.Open(ctx, c.cfg.Codec, at, stored)
	if errors.Is(err, payload.ErrNoKey) || errors.Is(err, payload.ErrCorrupt) {
		return nil, &Error{Code: CodeConflict, Text: err.Error()}
	}
	return plain, err
}

// sealPayload is what is stored of params or an output.
func (c *Client) sealPayload(ctx context.Context, at payload.Place, plain []byte) ([]byte, error) {
	at.Namespace = c.cfg.Namespace
	return payload.Seal(ctx, c.cfg.Codec, at, plain)
}

// Codec is what the client seals and opens with; nil: nothing.
func (c *Client) Codec() payload.Codec { return c.cfg.Codec }
