package rest

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"

	"github.com/google/uuid"

	"axflow/api/problem"
)

// cursorSum is how many bytes of the list's checksum a cursor carries.
const cursorSum = 6

// pageCursor is the place in a list after which the next page begins. list names the list and everything that it was asked
// with, so that a cursor fits no other list. A cursor is no secret and no proof: what it leads to is filtered by namespace like everything.
func pageCursor(list []string, place []byte) *string {
	text := base64.RawURLEncoding.EncodeToString(append(checksum(list, place), place...))
	return &text
}

// place reads a cursor of the list; nil for the first page. size is how many bytes the list's places have, 0 any number.
func place(list []string, cursor *string, size int) ([]byte, error) {
	if cursor == nil {
		return nil, nil
	}
	b, err := base64.RawURLEncoding.DecodeString(*cursor)
	if err != nil || len(b) <= cursorSum || size > 0 && len(b) != cursorSum+size || string(checksum(list, b[cursorSum:])) != string(b[:cursorSum]) {
		return nil, problem.Field("cursor", "this is no cursor of this list: pass next_cursor of the page before, with the same other parameters, or begin again without")
	}
	return b[cursorSum:], nil
}

// placeID is place for lists whose places are ids; uuid.Nil for the first page.
func placeID(list []string, cursor *string) (uuid.UUID, error) {
	b, err := place(list, cursor, len(uuid.UUID{}))
	if b == nil || err != nil {
		return uuid.Nil, err
	}
	return uuid.UUID(b), nil
}

func checksum(list []string, place []byte) []byte {
	sum := sha256.Sum256([]byte(strings.Join(list, "\x00") + "\x00" + string(place)))
	return sum[:cursorSum]
}

// pageSize is the limit of a page.
func pageSize(limit *int) int {
	if limit == nil {
		return 50
	}
	return min(max(*limit, 1), 1000)
}
