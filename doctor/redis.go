package doctor

import (
	"context"

	"github.com/countersignhq/countersign/rediscompat"
)

// RedisServer is what is asked; *rediscompat.Mirror is one.
type RedisServer interface {
	Facts(ctx context.Context) (rediscompat.Facts, error)
}

// Redis is the server of the key contract (CONTRACT §5).
type Redis struct {
	// Server is nil where the URL cannot be used; then Err says why.
	Server RedisServer
	Err    error
	// Configured tells that REDIS_URL is set; else the server is that of `make run`, which may be there or not.
	Configured bool
	Prefix     string
}

// Check notes whether other programs can answer through it.
func (r Redis) Check(ctx context.Context, n *Notes) {
	if r.Err != nil {
		n.Fail("url", "correct REDIS_URL", "%v", r.Err)
		return
	}
	facts, err := r.Server.Facts(ctx)
	learnt := facts.Version != "" || facts.Policy != ""
	switch {
	case err != nil && !r.Configured && !learnt:
		n.Off("redis", "not configured (REDIS_URL): pending questions are not mirrored, other programs cannot answer")
		return
	case err != nil && !learnt:
		n.Fail("redis", "check that the server runs, and host, port and password in REDIS_URL; questions are asked and answered without it, "+
			"but other programs do not see them", "cannot be used: %s", cause(err))
		return
	case facts.Version == "":
		n.OK("redis", "answers")
	default:
		n.OK("redis", "answers, version %s", facts.Version)
	}
	r.server(facts, n)
	if err != nil {
		n.Warn("prefix", "let this user SCAN, or compare COUNTERSIGN_REDIS_PREFIX with the other program's by hand", "other prefixes could not be looked for: %s", cause(err))
		return
	}
	for _, prefix := range facts.Prefixes {
		n.Warn("prefix", "if that is the program that shares conversations, set COUNTERSIGN_REDIS_PREFIX="+prefix,
			"somebody waits for answers under the prefix %q, ours is %q", prefix, r.Prefix)
	}
	if len(facts.Prefixes) == 0 {
		n.OK("prefix", "%s; nobody waits under another", orDefault(r.Prefix, "none"))
	}
}

func (r Redis) server(facts rediscompat.Facts, n *Notes) {
	if facts.Old() {
		n.Warn("version", "use Redis 6.2 or later", "%s has no BLMOVE: pushed answers are looked for once a second", facts.Version)
	}
	if facts.Evicts() {
		n.Warn("memory", "set maxmemory-policy to noeviction, or use a server that is not a cache",
			"maxmemory-policy is %s: pending questions can be thrown away", facts.Policy)
	} else if facts.Policy != "" {
		n.OK("memory", "maxmemory-policy is %s", facts.Policy)
	}
	switch {
	case facts.Node:
		n.Fail("cluster", `add "?cluster=true" to REDIS_URL`, "the server is a node of a cluster, and is spoken to as one alone")
	case facts.Cluster:
		n.OK("cluster", "all nodes answer")
	}
}
