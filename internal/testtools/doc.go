// Package testtools builds and starts real servers for tests, so that no test
// skips because a program is missing: what is missing is built from its Go
// module, once, into bin/tools of this repository.
//
// The versions are pinned here and nowhere else.
package testtools
