package rediscompat

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/rediscompat/embedded"
)

// backend is a Redis to test against, and a plain client: the other program.
type backend struct {
	name  string
	start func(*testing.T) (url string)
}

var backends = []backend{
	{name: "redis", start: func(t *testing.T) string { return startRedis(t).url() }},
	{name: "embedded", start: func(t *testing.T) string {
		server, err := embedded.Start("127.0.0.1:0")
		require.NoError(t, err)
		t.Cleanup(server.Close)
		return server.URL()
	}},
	{name: "cluster", start: func(t *testing.T) string { return startCluster(t).url() + "?cluster=true" }},
}

// onEach runs a test against every kind of server.
func onEach(t *testing.T, test func(t *testing.T, url string)) {
	t.Helper()
	for _, b := range backends {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			test(t, b.start(t))
		})
	}
}

// other is the client of a program that shares the server.
func other(t *testing.T, url string) redis.UniversalClient {
	t.Helper()
	client, blocking, err := clients(url, 10*time.Second)
	require.NoError(t, err)
	require.NoError(t, blocking.Close())
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// realRedis is a redis-server of its own, in a folder of its own.
type realRedis struct {
	t       *testing.T
	dir     string
	port    int
	options []string
	cmd     *exec.Cmd
	ended   chan struct{}
}

func startRedis(t *testing.T, options ...string) *realRedis {
	t.Helper()
	r := &realRedis{t: t, dir: t.TempDir(), options: options}
	r.port = freePort(t)
	r.Start()
	t.Cleanup(r.Kill)
	return r
}

// startCluster is one node that owns all slots: enough for CROSSSLOT to be real.
func startCluster(t *testing.T) *realRedis {
	t.Helper()
	r := startRedis(t, "--cluster-enabled", "yes", "--cluster-port", strconv.Itoa(freePort(t)))
	client := redis.NewClient(&redis.Options{Addr: r.addr()})
	defer func() { _ = client.Close() }()
	require.NoError(t, client.ClusterAddSlotsRange(t.Context(), 0, 16383).Err())
	require.Eventually(t, func() bool {
		return client.Set(t.Context(), "ready", 1, time.Second).Err() == nil
	}, 10*time.Second, 20*time.Millisecond, "the cluster does not get ready")
	return r
}

func (r *realRedis) addr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(r.port)) }
func (r *realRedis) url() string  { return "redis://" + r.addr() }

func (r *realRedis) Start() {
	r.t.Helper()
	binary, err := exec.LookPath("redis-server")
	require.NoError(r.t, err, "these tests need a real Redis: install redis-server")
	args := append([]string{
		"--port", strconv.Itoa(r.port), "--bind", "127.0.0.1", "--dir", r.dir, "--save", "", "--appendonly", "no",
		"--logfile", filepath.Join(r.dir, "log"),
	}, r.options...)
	r.cmd = exec.Command(binary, args...)
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(r.t, r.cmd.Start())
	cmd, ended := r.cmd, make(chan struct{})
	r.ended = ended
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	for deadline := time.Now().Add(15 * time.Second); ; {
		conn, err := net.DialTimeout("tcp", r.addr(), time.Second)
		if err == nil {
			_ = conn.Close()
			return
		}
		select {
		case <-ended:
			log, _ := os.ReadFile(filepath.Join(r.dir, "log"))
			require.Fail(r.t, "redis-server ended at once", string(log))
		case <-time.After(10 * time.Millisecond):
			require.True(r.t, time.Now().Before(deadline), "redis-server does not listen")
		}
	}
}

// Kill is kill -9.
func (r *realRedis) Kill() {
	_ = r.cmd.Process.Kill()
	<-r.ended
}

func (r *realRedis) Signal(s syscall.Signal) { require.NoError(r.t, r.cmd.Process.Signal(s)) }

func freePort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = listener.Close() }()
	return listener.Addr().(*net.TCPAddr).Port
}

// cutter is a proxy that closes a connection right after a reply from the server
// that cut says so about, instead of passing that reply on.
type cutter struct {
	listener net.Listener
	cuts     chan struct{}
}

func startCutter(t *testing.T, target string, cut func(reply []byte) bool) *cutter {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	c := &cutter{listener: listener, cuts: make(chan struct{}, 100)}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", target)
			if err != nil {
				_ = client.Close()
				continue
			}
			go pump(server, client, func([]byte) bool { return false })
			go pump(client, server, func(reply []byte) bool {
				if !cut(reply) {
					return false
				}
				c.cuts <- struct{}{}
				return true
			})
		}
	}()
	return c
}

func (c *cutter) url() string { return fmt.Sprintf("redis://%s", c.listener.Addr()) }

func pump(to, from net.Conn, cut func([]byte) bool) {
	defer func() { _, _ = to.Close(), from.Close() }()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil || cut(buffer[:n]) {
			return
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}
