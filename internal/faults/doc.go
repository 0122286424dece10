// Package faults proves that AX survives what happens to real processes: its tests start engines and workers as
// processes of their own (the test binary again, in another role), kill them, stop and continue them, cut their
// connections and restart their database, and check the whole history afterwards.
//
// Processes and tests meet at gates (gate_test.go): a handler reports where it is over a unix socket and waits
// until the test lets it pass, so that every fault strikes at a known point.
package faults
