// Package activities does what the workflows decide: it plans, asks, runs,
// settles, closes, routes and replies. What it needs of the world it takes
// through the ports in ports.go.
//
// Every activity may be repeated, except run: it fences the effect with a
// heartbeat that Temporal has acknowledged, so that the workflow can tell a run
// that never began from one whose outcome is unknown.
package activities
