package span

import (
	"time"

	"axflow/shard"
)

// Assignment is a flight as its worker receives it.
type Assignment struct {
	Header
	Par          int // how many of its indices may run at once
	DispatchedAt time.Time
	Set          shard.Set
	Params       []byte // of the run; nil: too large to carry, read them
}
