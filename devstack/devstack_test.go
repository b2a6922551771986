package devstack_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/countersignhq/countersign/devstack"
)

func params(dataDir string) devstack.Params {
	return devstack.Params{
		DataDir: dataDir, BinDirs: []string{"../bin"}, Logger: slog.New(slog.DiscardHandler),
	}
}

func start(t *testing.T, dataDir string) *devstack.Stack {
	t.Helper()
	stack, err := devstack.Start(t.Context(), params(dataDir))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, stack.Stop()) })
	return stack
}

func dial(t *testing.T, stack *devstack.Stack) client.Client {
	t.Helper()
	temporal, err := client.DialContext(t.Context(), client.Options{
		HostPort: stack.Address(), Logger: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	t.Cleanup(temporal.Close)
	return temporal
}

func TestStackServesAndStops(t *testing.T) {
	t.Parallel()
	stack := start(t, t.TempDir())
	temporal := dial(t, stack)
	attributes, err := temporal.OperatorService().ListSearchAttributes(t.Context(),
		&operatorservice.ListSearchAttributesRequest{Namespace: "default"})
	require.NoError(t, err)
	for _, name := range []string{"Connector", "Thread", "Tool", "Operation", "Status"} {
		require.Equal(t, enums.INDEXED_VALUE_TYPE_KEYWORD, attributes.GetCustomAttributes()["Countersign"+name], name)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, stack.UI(), http.NoBody)
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusOK, response.StatusCode)

	began := time.Now()
	require.NoError(t, stack.Stop())
	t.Logf("stopped after %s", time.Since(began))
	require.Less(t, time.Since(began), 8*time.Second)
	<-stack.Done()
	require.NoError(t, stack.Err(), "an end that was asked for is none")
	require.NoError(t, stack.Stop(), "again")
	_, err = net.Dial("tcp", stack.Address())
	require.Error(t, err, "nothing listens there any more")
}

func TestStackOutlivesTheContextOfItsStart(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	stack, err := devstack.Start(ctx, params(t.TempDir()))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, stack.Stop()) })
	cancel()
	_, err = dial(t, stack).CheckHealth(t.Context(), nil)
	require.NoError(t, err)
}

func TestKilledServerIsNoticedAndItsStateReopens(t *testing.T) {
	t.Parallel()
	dataDir := t.TempDir()
	first := start(t, dataDir)
	run, err := dial(t, first).ExecuteWorkflow(t.Context(),
		client.StartWorkflowOptions{ID: "kept", TaskQueue: "nobody"}, "Waiting")
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(first.PID(), syscall.SIGKILL))
	<-first.Done()
	require.ErrorContains(t, first.Err(), "has ended (signal: killed)")

	second, err := devstack.Start(t.Context(), first.Params())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, second.Stop()) })
	require.Equal(t, first.Address(), second.Address())
	require.Equal(t, first.UI(), second.UI())
	description, err := dial(t, second).DescribeWorkflow(t.Context(), "kept", run.GetRunID())
	require.NoError(t, err)
	require.Equal(t, enums.WORKFLOW_EXECUTION_STATUS_RUNNING, description.Status)
}

func TestBusyPortNamesItsVariable(t *testing.T) {
	t.Parallel()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, listener.Close()) })
	address, ok := listener.Addr().(*net.TCPAddr)
	require.True(t, ok)
	for _, tt := range []struct {
		variable string
		set      func(*devstack.Params)
	}{
		{"COUNTERSIGN_TEMPORAL_PORT", func(p *devstack.Params) { p.TemporalPort = address.Port }},
		{"COUNTERSIGN_TEMPORAL_UI_PORT", func(p *devstack.Params) { p.UIPort = address.Port }},
	} {
		t.Run(tt.variable, func(t *testing.T) {
			t.Parallel()
			p := params(t.TempDir())
			tt.set(&p)
			_, err := devstack.Start(t.Context(), p)
			var busy *devstack.PortError
			require.ErrorAs(t, err, &busy)
			require.EqualError(t, err, fmt.Sprintf(
				"port %d on 127.0.0.1 is in use: stop the program that has it, or set %s to a free port",
				address.Port, tt.variable))
		})
	}
}

func TestOneStackForOneDataFolder(t *testing.T) {
	t.Parallel()
	dataDir := t.TempDir()
	start(t, dataDir)
	_, err := devstack.Start(t.Context(), params(dataDir))
	require.ErrorIs(t, err, devstack.ErrDataDirBusy)
}

func TestServerThatCannotStartSaysWhy(t *testing.T) {
	t.Parallel()
	dataDir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dataDir, "temporal.db"), 0o700))
	_, err := devstack.Start(t.Context(), params(dataDir))
	require.ErrorContains(t, err, "the temporal dev server has ended (exit status")
	require.ErrorContains(t, err, "unable to open database file")
}

// stackProcess makes this test's own program a parent that can be killed.
const stackProcess = "DEVSTACK_TEST_DATA_DIR"

func TestMain(m *testing.M) {
	dataDir := os.Getenv(stackProcess)
	if dataDir == "" {
		os.Exit(m.Run())
	}
	stack, err := devstack.Start(context.Background(), params(dataDir))
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(stack.Address())
	<-stack.Done()
}

func TestServerDiesWithItsKilledParent(t *testing.T) {
	t.Parallel()
	dataDir := t.TempDir()
	parent := exec.CommandContext(t.Context(), os.Args[0])
	parent.Env = append(os.Environ(), stackProcess+"="+dataDir)
	output, err := parent.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, parent.Start())
	var address string
	_, err = fmt.Fscanln(output, &address)
	require.NoError(t, err)
	_, err = net.Dial("tcp", address)
	require.NoError(t, err)

	require.NoError(t, parent.Process.Kill())
	require.Error(t, parent.Wait())
	start(t, dataDir) // the lock is free only once the old server is gone
	_, err = net.Dial("tcp", address)
	require.Error(t, err)
}
