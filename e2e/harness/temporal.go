package harness

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/countersignhq/countersign/devstack"
)

// Temporal is a dev server on a file of its own.
type Temporal struct {
	mu    sync.Mutex
	stack *devstack.Stack
	count atomic.Int64
}

var shared = struct {
	sync.Once
	temporal *Temporal
	folder   string
	err      error
}{}

// SharedTemporal is the server of the whole test process; nobody may kill it.
func SharedTemporal(t testing.TB) *Temporal {
	t.Helper()
	shared.Do(func() {
		// Not the test's own folder: the server outlives the test that happens to start it.
		if shared.folder, shared.err = os.MkdirTemp("", "countersign-e2e-temporal-"); shared.err == nil { //nolint:usetesting // see above
			shared.temporal, shared.err = startTemporal(t, shared.folder, nil)
		}
	})
	if shared.err != nil {
		t.Fatalf("start the shared Temporal: %v", shared.err)
	}
	return shared.temporal
}

func stopShared() {
	if shared.temporal != nil {
		_ = shared.temporal.current().Stop()
	}
	_ = os.RemoveAll(shared.folder)
}

// NewTemporal starts a server for one test. dynamicConfig are further settings, key=value.
func NewTemporal(t testing.TB, dynamicConfig ...string) *Temporal {
	t.Helper()
	temporal, err := startTemporal(t, t.TempDir(), dynamicConfig)
	if err != nil {
		t.Fatalf("start Temporal: %v", err)
	}
	t.Cleanup(func() {
		temporal.Kill(t)
		if t.Failed() {
			t.Logf("── log of Temporal ──\n%s", logTail(temporal.current().LogFile()))
		}
	})
	return temporal
}

func startTemporal(t testing.TB, folder string, dynamicConfig []string) (*Temporal, error) {
	t.Helper()
	programs, err := Build()
	if err != nil {
		return nil, err
	}
	stack, err := devstack.Start(context.Background(), devstack.Params{
		DataDir: folder, TemporalPort: Port(t), UIPort: Port(t), DynamicConfig: dynamicConfig,
		BinDirs: []string{programs.BinDir}, Logger: slog.New(slog.DiscardHandler),
	})
	return &Temporal{stack: stack}, err
}

func (s *Temporal) current() *devstack.Stack {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stack
}

// Address of its frontend.
func (s *Temporal) Address() string { return s.current().Address() }

// Kill is kill -9; it returns when the server is gone.
func (s *Temporal) Kill(t testing.TB) {
	t.Helper()
	stack := s.current()
	select {
	case <-stack.Done():
		return
	default:
	}
	if err := syscall.Kill(stack.PID(), syscall.SIGKILL); err != nil {
		t.Errorf("kill Temporal: %v", err)
	}
	<-stack.Done()
}

// Restart starts it again after a Kill: at the same address, on the same file.
func (s *Temporal) Restart(t testing.TB) {
	t.Helper()
	next, err := devstack.Start(context.Background(), s.current().Params())
	if err != nil {
		t.Fatalf("start Temporal again: %v", err)
	}
	s.mu.Lock()
	s.stack = next
	s.mu.Unlock()
}

// Namespace makes a new one and returns its name once it can be used.
func (s *Temporal) Namespace(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("e2e-%d", s.count.Add(1))
	c, err := client.NewNamespaceClient(client.Options{HostPort: s.Address(), Logger: silent{}})
	if err != nil {
		t.Fatalf("connect to Temporal: %v", err)
	}
	defer c.Close()
	err = c.Register(t.Context(), &workflowservice.RegisterNamespaceRequest{
		Namespace: name, WorkflowExecutionRetentionPeriod: durationpb.New(24 * time.Hour),
	})
	if err != nil {
		t.Fatalf("register the namespace %s: %v", name, err)
	}
	usable := s.Client(t, name)
	Eventually(t, "the namespace "+name+" can be used", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		_, err := usable.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: "warm-up", TaskQueue: "nobody"}, "Nothing")
		return err == nil
	})
	if err := usable.TerminateWorkflow(t.Context(), "warm-up", "", "it was a try"); err != nil {
		t.Fatalf("end the try: %v", err)
	}
	return name
}

// Client talks to a namespace, as an operator would.
func (s *Temporal) Client(t testing.TB, namespace string) client.Client {
	t.Helper()
	c, err := client.NewLazyClient(client.Options{HostPort: s.Address(), Namespace: namespace, Logger: silent{}})
	if err != nil {
		t.Fatalf("make a Temporal client: %v", err)
	}
	t.Cleanup(c.Close)
	return c
}

func logTail(file string) string {
	content, err := os.ReadFile(file)
	if err != nil {
		return err.Error()
	}
	return tail(string(content), 6000)
}

// silent is a Temporal logger: failures are returned, and a killed server is no news.
type silent struct{}

func (silent) Debug(string, ...any) {}
func (silent) Info(string, ...any)  {}
func (silent) Warn(string, ...any)  {}
func (silent) Error(string, ...any) {}
