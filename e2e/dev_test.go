package e2e_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/e2e/harness"
)

// dev is a `make run`.
type dev struct {
	env map[string]string
	api *harness.API
	*harness.Process
}

func (d *dev) start(t *testing.T) {
	t.Helper()
	d.Process = harness.Dev(t, d.env)
	d.AwaitLog(t, "Ctrl-C stops everything") // the last line
}

// question waits for the one that is pending.
func (d *dev) question(t *testing.T, id string) contract.Approval {
	t.Helper()
	q := d.api.Question(t, id)
	require.Equal(t, "pending", q.Status)
	return q
}

// Everything is embedded, goes on where it was however it ended, and leaves nothing behind.
func TestMakeRun(t *testing.T) {
	t.Parallel()
	d := &dev{env: harness.DevSettings(t)}
	data := d.env["COUNTERSIGN_DATA_DIR"]
	d.api = harness.NewAPI("http://"+d.env["COUNTERSIGN_HTTP_ADDR"], filepath.Join(data, "token"))
	mirror := redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + d.env["COUNTERSIGN_REDIS_PORT"]})
	t.Cleanup(func() { _ = mirror.Close() })
	sample := filepath.Join(data, "files", "reports", "old.csv")

	d.start(t)
	for _, printed := range []string{
		"http://" + d.env["COUNTERSIGN_HTTP_ADDR"] + "/", "http://127.0.0.1:" + d.env["COUNTERSIGN_TEMPORAL_UI_PORT"] + "/",
		"127.0.0.1:" + d.env["COUNTERSIGN_TEMPORAL_PORT"], "redis://127.0.0.1:" + d.env["COUNTERSIGN_REDIS_PORT"], "bin/starter demo",
	} {
		require.Contains(t, d.Log(), printed)
	}
	token, err := os.ReadFile(filepath.Join(data, "token"))
	require.NoError(t, err)
	require.Contains(t, d.Log(), string(token[:len(token)-1]), "it is printed once")
	info, err := os.Stat(filepath.Join(data, "token"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	require.FileExists(t, sample)
	demo := harness.Starter(t, d.env, "demo", "--answer", "yes")
	require.Equal(t, 0, demo.Code, demo.Stderr)
	require.Contains(t, demo.Stdout, "http://127.0.0.1:"+d.env["COUNTERSIGN_TEMPORAL_UI_PORT"]+"/namespaces/default/workflows/invocation%2F")

	id := d.api.Invoke(t, harness.File("delete", "reports/old.csv").In("web", "run"))
	question := d.question(t, id)
	children := d.Children(t)
	require.NotEmpty(t, children, "Temporal's dev server")
	d.Signal(t, syscall.SIGINT)
	require.Zero(t, d.Wait(t, 10*time.Second), "Ctrl-C is a clean end")
	for _, child := range children {
		require.False(t, harness.Alive(child), "process %d is left", child)
	}

	d.start(t)
	require.NotContains(t, d.Log(), string(token[:len(token)-1]), "and never again")
	require.Equal(t, question, d.question(t, id), "it goes on where it was")
	key := "awaiting_confirm:web:run"
	harness.Eventually(t, "the mirror is there again", func() bool { return mirror.Get(t.Context(), key).Val() == id })
	require.InDelta(t, time.Until(*question.ExpiresAt).Seconds(), mirror.PTTL(t.Context(), key).Val().Seconds(), 3)

	// The dev server dies: it is started again, at the same address.
	children = d.Children(t)
	require.Len(t, children, 1)
	require.NoError(t, syscall.Kill(children[0], syscall.SIGKILL))
	harness.Eventually(t, "the dev server is started again", func() bool {
		now := d.Children(t)
		return len(now) == 1 && now[0] != children[0]
	})
	harness.Eventually(t, "it answers", func() bool { return d.api.Status("/readyz") == 200 })
	require.Equal(t, question, d.question(t, id))

	// All of it dies.
	children = d.Children(t)
	d.Kill()
	harness.Eventually(t, "the dev server goes with its worker", func() bool { return !harness.Alive(children[0]) })
	d.start(t)
	require.Equal(t, question, d.question(t, id))
	require.FileExists(t, sample)
	allowed := harness.Starter(t, d.env, "approvals", "allow", id)
	require.Equal(t, 0, allowed.Code, allowed.Stderr)
	require.Equal(t, "completed", d.api.Result(t, id).Status)
	require.NoFileExists(t, sample)
	harness.Eventually(t, "the keys are deleted", func() bool { return mirror.Exists(t.Context(), key).Val() == 0 })
	d.Signal(t, syscall.SIGTERM)
	require.Zero(t, d.Wait(t, 10*time.Second))
	require.NoFileExists(t, sample)
}

// A port that is taken is a clear message that names the variable to set.
func TestMakeRunBusyPort(t *testing.T) {
	t.Parallel()
	for _, variable := range []string{
		"COUNTERSIGN_HTTP_ADDR", "COUNTERSIGN_TEMPORAL_PORT", "COUNTERSIGN_TEMPORAL_UI_PORT", "COUNTERSIGN_REDIS_PORT",
	} {
		t.Run(variable, func(t *testing.T) {
			t.Parallel()
			env := harness.DevSettings(t)
			address := env[variable]
			if variable != "COUNTERSIGN_HTTP_ADDR" {
				address = "127.0.0.1:" + address
			}
			taken, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", address)
			require.NoError(t, err)
			t.Cleanup(func() { _ = taken.Close() })
			worker := harness.Dev(t, env)
			require.Equal(t, 1, worker.Wait(t, time.Minute), worker.Log())
			require.Contains(t, worker.Log(), variable)
			require.NotContains(t, worker.Log(), "goroutine ")
			require.NotContains(t, worker.Log(), "Countersign is running")
			// Nothing of it is left: the other ports are free again.
			for _, other := range []string{"COUNTERSIGN_TEMPORAL_PORT", "COUNTERSIGN_TEMPORAL_UI_PORT", "COUNTERSIGN_REDIS_PORT"} {
				if other == variable {
					continue
				}
				free, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:"+env[other])
				require.NoError(t, err, other)
				require.NoError(t, free.Close())
			}
		})
	}
}

// With TEMPORAL_ADDRESS and REDIS_URL set nothing is embedded.
func TestMakeRunWithWhatIsThere(t *testing.T) {
	t.Parallel()
	temporal, redis := harness.SharedTemporal(t), harness.NewRedis(t)
	d := &dev{env: harness.DevSettings(t)}
	d.env["TEMPORAL_ADDRESS"], d.env["TEMPORAL_NAMESPACE"], d.env["REDIS_URL"] = temporal.Address(), temporal.Namespace(t), redis.URL()
	d.api = harness.NewAPI("http://"+d.env["COUNTERSIGN_HTTP_ADDR"], filepath.Join(d.env["COUNTERSIGN_DATA_DIR"], "token"))
	d.start(t)
	require.Empty(t, d.Children(t))
	id := d.api.Invoke(t, harness.File("delete", "reports/old.csv").In("web", "there"))
	d.question(t, id)
	redis.Awaiting(t, "web:there", id)
	d.Signal(t, syscall.SIGINT)
	require.Zero(t, d.Wait(t, 10*time.Second))
}
