// Command bench measures the built programs on servers that it starts itself, all on
// 127.0.0.1: how long a message takes to its prompt and an answer to its effect, how many calls
// a second, what Temporal records for one of them, and what waiting costs in memory. Next to
// each of our numbers stands that of a hand-written minimal workflow (minimal.go), taken in the
// same run on the same server: on a busy machine only the ratio says something.
//
//	make bench                        everything but large, about 10 minutes
//	make bench ARGS=-quick            a look, about 2 minutes
//	make bench ARGS="-json out.json latency histories"
//	make bench ARGS="-size 64 large"  a large file on all its ways
//
// A [rig] (rig.go) is one installation: Temporal's dev server as `make run` starts it, a Redis,
// a Telegram server, and bin/worker; slack.go and mail.go add a Slack and two mail servers. The
// measurements are in latency.go, throughput.go, histories.go, memory.go, webhooks.go (what comes
// in: storm.go), pagestage.go (one person: screen.go; many: streams.go) and large.go (ways.go);
// what a run says is a [report]. docs/performance.md explains it.
package main
