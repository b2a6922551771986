// Package app puts the parts together. Run is the whole long-running program and
// RunStarter the command line, so that tests start the real thing.
//
// Everything here is wiring: what a part does is in its own package, and works
// without fx.
package app
