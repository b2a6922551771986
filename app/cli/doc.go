// Package cli is the command line, bin/starter (CONTRACT §9). It talks HTTP to
// the gateway; only `attachments prune` and `tokens create` work without one.
//
// Run is the whole program. Exit codes: 0 done, 1 failed, 2 usage, 3 denied,
// 4 timed out, 5 outcome unknown.
package cli
