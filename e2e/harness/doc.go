// Package harness starts the real thing for end-to-end tests: the built worker
// and starter as child processes, Temporal's dev server, redis-server, Telegram
// servers, an S3 server that can be held up; and kills them.
//
// A [World] is one installation: a data folder, a Temporal namespace, perhaps a
// Redis, and the worker in one process or split into engine and gateway. Worlds
// are cheap enough for a test each. They share the Temporal server of the test
// process unless a test wants to kill one.
//
// Everything is on 127.0.0.1 and dies with the test process. Conditions outside
// this process are waited for with [Until]: bounded polling, never a fixed sleep.
package harness
