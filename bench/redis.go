package main

import (
	"context"
	"net"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/countersignhq/countersign/rediscompat/embedded"
)

// startRedis starts a redis-server that keeps nothing on a disk, or, where none is installed,
// the one that `make run` embeds.
func (r *rig) startRedis(ctx context.Context) error {
	path, err := exec.LookPath("redis-server")
	if err != nil {
		server, err := embedded.Start("127.0.0.1:0")
		if err != nil {
			return err
		}
		r.redisName, r.redisURL, r.stopRedis = "embedded", server.URL(), server.Close
		return nil
	}
	port, err := freePort(ctx)
	if err != nil {
		return err
	}
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	r.redis, err = startProcess("redis-server", filepath.Join(r.dir, "redis.log"), r.surroundings(),
		path, "--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", r.dir)
	if err != nil {
		return err
	}
	r.redisName, r.redisURL, r.stopRedis = "redis-server", "redis://"+address+"/0", r.redis.stop
	return until(ctx, "Redis answers", 10*time.Second, func() (bool, error) {
		connection, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		if err != nil {
			return false, nil //nolint:nilerr // not yet
		}
		return true, connection.Close()
	})
}
