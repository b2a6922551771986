// Package devstack is what `bin/worker --dev` embeds besides Redis: Temporal's
// own dev server with its Web UI as a child process, on loopback, its state in
// one SQLite file in the data folder, and a sample file for the first try
// (CONTRACT §9).
//
// [Start] returns once the server answers. The child is in a process group of
// its own, so that a Ctrl-C in the terminal reaches it only through
// [Stack.Stop], and on Linux it is killed with its parent. The settings that
// make the dev server quick are in settings.go.
package devstack
