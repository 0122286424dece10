// Package arrows checks which package may import which, from the sources alone: imports point down only, the pure
// packages touch no database, clock or network, and nobody draws from a hidden source of randomness. Its test
// checks this module; a violation is reported with the arrow and the reason why it must not be.
package arrows
