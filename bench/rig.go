package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/devstack"
)

// token of the owner. It opens nothing but a rig, which is gone after the run.
const token = "cs_bench_token_of_ada"

// rig is one installation with everything that it talks to, and the minimal workflow's worker.
type rig struct {
	dir    string
	keep   bool
	settle time.Duration

	temporal  *devstack.Stack
	redis     *process // nil where it is embedded here
	redisName string
	redisURL  string
	stopRedis func()
	bot       *bot
	worker    *process
	gateway   *gateway
	client    client.Client
	minimal   worker.Worker
	// slack and mail are there where the rig was started with them.
	slack *slackSide
	mail  *mailSide
	parts []func() // stop what newRig was given, once the worker is gone

	files atomic.Int64
}

// part is something more that a rig talks to. It is started before the worker, and returns how
// the worker is told of it and how it is stopped.
type part func(ctx context.Context, r *rig) (env []string, stop func(), err error)

// newRig starts one, in a folder of its own; what was started is stopped again where it fails.
func newRig(ctx context.Context, s settings, parts ...part) (*rig, error) {
	dir, err := os.MkdirTemp("", "countersign-bench-")
	if err != nil {
		return nil, fmt.Errorf("make a folder: %w", err)
	}
	r := &rig{dir: dir, keep: s.keep, settle: s.settle}
	if err := r.start(ctx, s.bin, parts); err != nil {
		return nil, errors.Join(err, r.stop(io.Discard))
	}
	return r, nil
}

func (r *rig) start(ctx context.Context, bin string, parts []part) error {
	program := filepath.Join(bin, "worker")
	if _, err := os.Stat(program); err != nil {
		return fmt.Errorf("there is no worker to measure: run `make build`, or name its folder with -bin (%w)", err)
	}
	quiet := slog.New(slog.DiscardHandler)
	var err error
	r.temporal, err = devstack.Start(ctx, devstack.Params{DataDir: filepath.Join(r.dir, "temporal"), BinDirs: []string{bin}, Logger: quiet})
	if err != nil {
		return err
	}
	if err := r.startRedis(ctx); err != nil {
		return err
	}
	r.bot = newBot()
	var more []string
	for _, p := range parts {
		env, stop, err := p(ctx, r)
		if err != nil {
			return err
		}
		more, r.parts = append(more, env...), append(r.parts, stop)
	}
	if err := r.startWorker(ctx, program, more); err != nil {
		return err
	}
	r.client, err = client.DialContext(ctx, client.Options{HostPort: r.temporal.Address(), Logger: log.NewStructuredLogger(quiet)})
	if err != nil {
		return fmt.Errorf("connect to Temporal: %w", err)
	}
	r.minimal, err = startMinimal(r.client, r.bot)
	return err
}

// startWorker starts the program that is measured, with both roles.
func (r *rig) startWorker(ctx context.Context, program string, more []string) error {
	port, err := freePort(ctx)
	if err != nil {
		return err
	}
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	sum := sha256.Sum256([]byte(token))
	env := append(r.surroundings(),
		"TEMPORAL_ADDRESS="+r.temporal.Address(), "REDIS_URL="+r.redisURL,
		"COUNTERSIGN_DATA_DIR="+r.data(), "COUNTERSIGN_HTTP_ADDR="+address,
		"COUNTERSIGN_PEOPLE=[{name: ada, owner: true, telegram: [1001], slack: [T01/U01], email: [ada@example.test], tokens: [\"sha256:"+hex.EncodeToString(sum[:])+"\"]}]",
		"LARACLAW_TELEGRAM_TOKEN="+r.bot.Token, "COUNTERSIGN_TELEGRAM_API_URL="+r.bot.URL(),
		"COUNTERSIGN_TELEGRAM_MODE=webhook", "COUNTERSIGN_TELEGRAM_WEBHOOK_SECRET="+secret,
		// Nothing may end by itself while it is measured, or be turned away.
		"COUNTERSIGN_CONFIRM_TIMEOUT=1h", "LARACLAW_WEBHOOK_RATE_LIMIT=0",
	)
	env = append(env, more...)
	if err := os.MkdirAll(filepath.Join(r.data(), "files", "bench"), 0o700); err != nil {
		return fmt.Errorf("make the disk: %w", err)
	}
	r.worker, err = startProcess("worker", filepath.Join(r.dir, "worker.log"), env, program)
	if err != nil {
		return err
	}
	r.gateway = newGateway("http://"+address, token)
	err = until(ctx, "the gateway is ready", 30*time.Second, func() (bool, error) {
		select {
		case <-r.worker.done:
			return false, fmt.Errorf("the worker has ended:\n%s", r.worker.tail())
		default:
			status, _, err := r.gateway.send(ctx, http.MethodGet, "/readyz", nil)
			return err == nil && status == http.StatusOK, nil
		}
	})
	return err
}

// surroundings are an environment without the settings of whoever runs this.
func (r *rig) surroundings() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + r.dir, "TMPDIR=" + r.dir}
}

func (r *rig) data() string { return filepath.Join(r.dir, "data") }

// stop stops all of it, those first that would complain about the others.
func (r *rig) stop(progress io.Writer) error {
	if r.minimal != nil {
		r.minimal.Stop()
	}
	if r.client != nil {
		r.client.Close()
	}
	if r.worker != nil {
		r.worker.stop()
	}
	for _, stop := range r.parts {
		stop()
	}
	if r.bot != nil {
		r.bot.Close()
	}
	if r.stopRedis != nil {
		r.stopRedis()
	}
	var err error
	if r.temporal != nil {
		err = r.temporal.Stop()
	}
	if r.keep {
		fmt.Fprintln(progress, "kept:", r.dir)
		return err
	}
	return errors.Join(err, os.RemoveAll(r.dir))
}

// file puts a new file on the disk local; a call will delete it.
func (r *rig) file() (name, path string, err error) {
	name = fmt.Sprintf("bench/%d.csv", r.files.Add(1))
	path = filepath.Join(r.data(), "files", filepath.FromSlash(name))
	if err := os.WriteFile(path, []byte("a,b\n1,2\n"), 0o600); err != nil {
		return "", "", fmt.Errorf("make a file to delete: %w", err)
	}
	return name, path, nil
}

// gone waits until a file is deleted and tells when: about 0.2 ms late at most.
func gone(ctx context.Context, path string) (time.Time, error) {
	deadline := time.Now().Add(30 * time.Second)
	for {
		_, err := os.Lstat(path)
		now := time.Now()
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return now, nil
		case err != nil:
			return now, err
		case ctx.Err() != nil:
			return now, ctx.Err()
		case now.After(deadline):
			return now, fmt.Errorf("%s is still there after 30 s", filepath.Base(path))
		}
		time.Sleep(100 * time.Microsecond)
	}
}

// quiet waits until workflows do nothing but wait. What is measured next then starts from rest,
// and not in the middle of the bookkeeping of what came before.
func (r *rig) quiet(ctx context.Context, workflowIDs ...string) error {
	return r.rest(ctx, workflowIDs, func(*workflowservice.DescribeWorkflowExecutionResponse) bool { return true })
}

// idle is quiet, and no child is running either.
func (r *rig) idle(ctx context.Context, workflowIDs ...string) error {
	return r.rest(ctx, workflowIDs, func(d *workflowservice.DescribeWorkflowExecutionResponse) bool {
		return len(d.GetPendingChildren()) == 0
	})
}

func (r *rig) rest(
	ctx context.Context, workflowIDs []string, also func(*workflowservice.DescribeWorkflowExecutionResponse) bool,
) error {
	for _, id := range workflowIDs {
		err := until(ctx, id+" rests", 30*time.Second, func() (bool, error) {
			described, err := r.client.DescribeWorkflow(ctx, id, "")
			if err != nil {
				return false, err
			}
			d := described.RawResponse
			return d.GetPendingWorkflowTask() == nil && len(d.GetPendingActivities()) == 0 && also(d), nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// talk is the workflow id of a Telegram chat's conversation.
func talk(chatID int64) string {
	return contract.ConversationID(chat.Thread{Connector: chat.Telegram, Key: strconv.FormatInt(chatID, 10)})
}

// take is the next message in a chat that is wanted.
func take(ctx context.Context, posts <-chan post, want func(post) bool) (post, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for {
		select {
		case p := <-posts:
			if want(p) {
				return p, nil
			}
		case <-ctx.Done():
			return post{}, fmt.Errorf("wait for a message of the bot: %w", ctx.Err())
		}
	}
}

func isPrompt(p post) bool { return p.invocation != "" }

func isReply(p post) bool { return p.invocation == "" }

// warm makes the first calls, which connect, compile and cache; the engine may still be starting.
func (r *rig) warm(ctx context.Context) error {
	for range 3 {
		if _, err := r.minimalCall(ctx); err != nil {
			return err
		}
		if _, err := r.messageCall(ctx, ada.ID); err != nil {
			return err
		}
		if _, err := r.httpCall(ctx, -2); err != nil {
			return err
		}
	}
	return nil
}
