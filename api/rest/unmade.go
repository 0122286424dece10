package rest

import "errors"

// errUnmade is what an operation answers that nobody has written yet. It goes with the last of them.
var errUnmade = errors.New("this operation is not made yet")
