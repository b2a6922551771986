//go:build !race

package harness

// raced tells whether the tests, and so the programs, have the race detector.
const raced = false
