// Package e2e holds the end-to-end tests: the built programs against real
// servers, from outside. Package harness starts and kills them.
//
// `make histories` runs the same scenarios and keeps their histories for the
// replay tests of package workflows.
package e2e
