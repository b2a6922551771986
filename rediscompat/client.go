package rediscompat

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

const (
	// waiters is how many questions may block at a time; the others look once a second.
	waiters = 5000
	// waiterBuffer is small: a waiter reads nothing but short replies, and there may be thousands.
	waiterBuffer = 1024
)

// errURL holds nothing of the URL: a password with an unescaped character in it
// may end up in any part of what a parser quotes.
var errURL = errors.New(`REDIS_URL is not understood: write redis://[user:password@]host:port/db, ` +
	`rediss:// for TLS, with "?cluster=true" for a cluster; percent-encode special characters in the password`)

// clients returns one client for short commands and one for waiting. An attempt
// to dial, to write or to be answered takes no longer than timeout.
func clients(address string, timeout time.Duration) (commands, blocking redis.UniversalClient, err error) {
	quiet()
	u, err := url.Parse(address)
	if err != nil || address == "" {
		return nil, nil, errURL
	}
	query := u.Query()
	switch cluster := query.Get("cluster"); cluster {
	case "", "0", "false":
		query.Del("cluster")
		u.RawQuery = query.Encode()
		o, err := redis.ParseURL(u.String())
		if err != nil {
			return nil, nil, errURL
		}
		return redis.NewClient(commanding(*o, timeout)), redis.NewClient(waiting(*o, timeout)), nil
	case "1", "true":
		query.Del("cluster")
		u.RawQuery = query.Encode()
		if path := strings.Trim(u.Path, "/"); path != "" && path != "0" {
			return nil, nil, errors.New("REDIS_URL: a cluster has only database 0, remove the number from the path")
		}
		u.Path = ""
		o, err := redis.ParseClusterURL(u.String())
		if err != nil {
			return nil, nil, errURL
		}
		return clusterClient(o, timeout, commanding), clusterClient(o, timeout, waiting), nil
	default:
		return nil, nil, errors.New(`REDIS_URL: the option cluster is "true" or "false"`)
	}
}

func clusterClient(
	parsed *redis.ClusterOptions, timeout time.Duration, tune func(redis.Options, time.Duration) *redis.Options,
) redis.UniversalClient {
	o := *parsed
	o.MaxRedirects = 3
	o.Protocol = 2
	o.DisableIdentity = true
	// Every command here names a key; the policies would fetch the whole command table first.
	o.DisableRoutingPolicies = true
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	o.DialTimeout, o.DialerRetries = timeout, 1
	o.ContextTimeoutEnabled = true
	// The nodes' own clients are made from what is given here, so that both kinds of
	// server are spoken to with the same timeouts.
	o.NewClient = func(node *redis.Options) *redis.Client { return redis.NewClient(tune(*node, timeout)) }
	return redis.NewClusterClient(&o)
}

func commanding(o redis.Options, timeout time.Duration) *redis.Options {
	o = shared(o, timeout)
	o.ReadTimeout, o.WriteTimeout, o.PoolTimeout = timeout, timeout, timeout
	o.ContextTimeoutEnabled = true
	// Everything that is sent may be repeated, see scripts.go.
	o.MaxRetries, o.MinRetryBackoff, o.MaxRetryBackoff = 1, 10*time.Millisecond, 50*time.Millisecond
	return &o
}

func waiting(o redis.Options, timeout time.Duration) *redis.Options {
	o = shared(o, timeout)
	o.ReadTimeout = -1 // CONTRACT §5; a dead peer is noticed by TCP keepalive
	o.WriteTimeout, o.PoolTimeout = timeout, timeout
	o.MaxRetries = -1
	o.PoolSize, o.MaxIdleConns, o.ConnMaxIdleTime = waiters, 32, time.Minute
	o.MaxConcurrentDials = 32
	o.ReadBufferSize, o.WriteBufferSize = waiterBuffer, waiterBuffer
	o.PipelinePoolSize = -1
	return &o
}

func shared(o redis.Options, timeout time.Duration) redis.Options {
	// RESP2 without HELLO and CLIENT SETINFO: nothing here needs more, and a new
	// connection costs no round trip.
	o.Protocol = 2
	o.DisableIdentity = true
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	o.DialTimeout, o.DialerRetries = timeout, 1
	return o
}

// quiet turns off go-redis' own process-wide log: each failure is returned as an
// error too, and is told once, by the breaker.
var quiet = sync.OnceFunc(func() { redis.SetLogger(silent{}) })

type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}
