package harness

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.temporal.io/sdk/client"
)

// Setup says what a World consists of; the zero value is one worker process
// without Redis, on the shared Temporal.
type Setup struct {
	Temporal *Temporal
	Redis    *Redis
	// Split runs engine and gateway in processes of their own.
	Split bool
	// Env are further settings; they win over the World's own.
	Env map[string]string
	// Port of the gateway; 0 takes a free one.
	Port int
}

// World is one installation.
type World struct {
	// Dir is the data folder; the disk local is Dir/files.
	Dir       string
	Namespace string
	Temporal  *Temporal
	Redis     *Redis
	// API is the gateway with the token of its own data folder, an owner's.
	API *API
	// Client is an operator's Temporal client.
	Client client.Client

	programs        Programs
	port            int
	split           bool
	env             []string
	engine, gateway *Process
}

// Ada owns the installation, Bob is an approver, the robot an agent. On Telegram
// they are 1001 and 1002; everybody else there is a stranger.
const (
	Ada   = "ada"
	Bob   = "bob"
	Robot = "robot"
)

// Token is the API token of one of them.
func Token(name string) string { return "cs_e2e_token_of_" + name }

func people() string {
	hash := func(name string) string {
		sum := sha256.Sum256([]byte(Token(name)))
		return "sha256:" + hex.EncodeToString(sum[:])
	}
	return fmt.Sprintf(`[{name: ada, owner: true, telegram: [1001], tokens: ["%s"]},`+
		` {name: bob, telegram: [1002], tokens: ["%s"]}, {name: robot, role: agent, tokens: ["%s"]}]`,
		hash(Ada), hash(Bob), hash(Robot))
}

// New starts a World and returns when it can be used.
func New(t testing.TB, setup Setup) *World {
	t.Helper()
	w := Prepare(t, setup)
	w.StartGateway(t)
	w.StartEngine(t)
	return w
}

// Prepare makes a World in which nothing runs yet.
func Prepare(t testing.TB, setup Setup) *World {
	t.Helper()
	programs, err := Build()
	if err != nil {
		t.Fatal(err)
	}
	w := &World{Dir: t.TempDir(), Temporal: setup.Temporal, Redis: setup.Redis, programs: programs, port: setup.Port, split: setup.Split}
	if w.Temporal == nil {
		w.Temporal = SharedTemporal(t)
	}
	if w.port == 0 {
		w.port = Port(t)
	}
	w.Namespace = w.Temporal.Namespace(t)
	w.Client = w.Temporal.Client(t, w.Namespace)
	w.API = &API{base: URL(w.port), file: filepath.Join(w.Dir, "token")}
	env := Surroundings(t)
	env["COUNTERSIGN_DATA_DIR"] = w.Dir
	env["COUNTERSIGN_HTTP_ADDR"] = Address(w.port)
	env["TEMPORAL_ADDRESS"] = w.Temporal.Address()
	env["TEMPORAL_NAMESPACE"] = w.Namespace
	env["COUNTERSIGN_PEOPLE"] = people()
	env["LARACLAW_WEBHOOK_RATE_LIMIT"] = "0"
	if w.Redis != nil {
		env["REDIS_URL"] = w.Redis.URL()
	}
	maps.Copy(env, setup.Env)
	w.env = lines(env)
	return w
}

// Surroundings is the environment of a program that has none of the developer's settings.
func Surroundings(t testing.TB) map[string]string {
	t.Helper()
	return map[string]string{
		"PATH": os.Getenv("PATH"), "HOME": t.TempDir(), "TMPDIR": t.TempDir(),
		// What testtools.S3 has set for its server.
		"AWS_ACCESS_KEY_ID": os.Getenv("AWS_ACCESS_KEY_ID"), "AWS_SECRET_ACCESS_KEY": os.Getenv("AWS_SECRET_ACCESS_KEY"),
		"AWS_EC2_METADATA_DISABLED": "true",
	}
}

func lines(env map[string]string) []string {
	list := make([]string, 0, len(env))
	for _, name := range slices.Sorted(maps.Keys(env)) {
		list = append(list, name+"="+env[name])
	}
	return list
}

// StartEngine starts what runs workflows and activities, also again after a kill.
// In a World that is not split, that is the one process.
func (w *World) StartEngine(t testing.TB) {
	t.Helper()
	if w.split {
		w.engine = start(t, command{name: "engine", path: w.programs.Worker, args: []string{"--roles", "engine"}, env: w.env})
	} else if w.engine == nil || !w.engine.Running() {
		w.engine = start(t, command{name: "worker", path: w.programs.Worker, env: w.env})
		w.gateway = w.engine
	}
	w.engine.AwaitLog(t, `msg="the engine is running"`)
	w.awaitGateway(t)
}

// StartGateway starts the HTTP server. In a World that is not split, StartEngine does.
func (w *World) StartGateway(t testing.TB) {
	t.Helper()
	if !w.split {
		return
	}
	w.gateway = start(t, command{name: "gateway", path: w.programs.Worker, args: []string{"--roles", "gateway"}, env: w.env})
	w.awaitGateway(t)
}

func (w *World) awaitGateway(t testing.TB) {
	t.Helper()
	if w.gateway == nil || !w.gateway.Running() {
		return
	}
	w.gateway.AwaitLog(t, `msg="the gateway is listening"`)
}

// Ready waits until the gateway says that Temporal answers.
func (w *World) Ready(t testing.TB) {
	t.Helper()
	Eventually(t, "the gateway is ready", func() bool { return w.API.Status("/readyz") == http.StatusOK })
}

// KillEngine is kill -9 of the process with the engine; it is gone on return.
func (w *World) KillEngine() { w.engine.Kill() }

// KillGateway is kill -9 of the process with the gateway.
func (w *World) KillGateway() { w.gateway.Kill() }

// Engine is the process that runs the engine.
func (w *World) Engine() *Process { return w.engine }

// As is the gateway with somebody else's token.
func (w *World) As(name string) *API { return &API{base: w.API.base, token: Token(name)} }

// URL of the gateway.
func (w *World) URL() string { return w.API.base }

// File is the path of a file on the disk local.
func (w *World) File(name string) string {
	return filepath.Join(w.Dir, "files", filepath.FromSlash(name))
}

// Write puts a file on the disk local.
func (w *World) Write(t testing.TB, name, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(w.File(name)), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(w.File(name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Read returns the content of a file on the disk local, "" where there is none.
func (w *World) Read(t testing.TB, name string) string {
	t.Helper()
	content, err := os.ReadFile(w.File(name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return string(content)
}

// Exists tells whether there is a file on the disk local.
func (w *World) Exists(name string) bool {
	_, err := os.Stat(w.File(name))
	return err == nil
}

// Entry is a line of the audit log.
type Entry struct {
	Kind       string `json:"kind"`
	Invocation string `json:"invocation"`
	Tool       string `json:"tool"`
	Operation  string `json:"operation"`
	Decision   *struct {
		Decision string `json:"decision"`
		By       string `json:"by"`
		Via      string `json:"via"`
	} `json:"decision"`
}

// Audit are the entries about an invocation.
func (w *World) Audit(t testing.TB, invocation string) []Entry {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(w.Dir, "audit.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var found []Entry
	scanner := bufio.NewScanner(bytes.NewReader(content))
	for scanner.Scan() {
		var entry Entry
		if err := json.Unmarshal(scanner.Bytes(), &entry); err != nil {
			t.Fatalf("the audit log has a line that is no JSON: %v: %s", err, scanner.Text())
		}
		if entry.Invocation == invocation {
			found = append(found, entry)
		}
	}
	return found
}

// Starter runs the command line against this World.
func (w *World) Starter(t testing.TB, args ...string) Output {
	t.Helper()
	return run(t, command{name: "starter " + strings.Join(args, " "), path: w.programs.Starter, args: args, env: w.env})
}
