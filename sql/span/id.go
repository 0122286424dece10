package span

import "github.com/google/uuid"

// newID names a row. Its time is the machine's and means nothing.
func newID() uuid.UUID { return uuid.Must(uuid.NewV7()) }
