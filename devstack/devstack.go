package devstack

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

const (
	// startTimeout is ample: a first start takes about a second, an old machine a few.
	startTimeout = time.Minute
	// patience is how long a stack that is just ending may keep its port and file.
	patience      = 3 * time.Second
	retryInterval = 50 * time.Millisecond
	// stopTimeout leaves the rest of a clean end within 10 s to the others.
	stopTimeout = 4 * time.Second
)

// Params are what a stack needs; the zero value of each has a meaning.
type Params struct {
	// DataDir holds database and log; made if it is not there. Needed.
	DataDir string
	// TemporalPort and UIPort on 127.0.0.1; 0 takes a free one.
	TemporalPort int
	UIPort       int
	// DynamicConfig are further values, key=value with the value in JSON, which come after
	// the stack's own.
	DynamicConfig []string
	// BinDirs are looked in for the temporal program, after the PATH; nil means
	// beside this executable and in bin.
	BinDirs []string
	// Logger hears of start and end; nil means slog.Default.
	Logger *slog.Logger
}

// Stack is a running dev server.
type Stack struct {
	params   Params
	logger   *slog.Logger
	port     int
	uiPort   int
	pid      int
	logFile  string
	done     chan struct{}
	err      error // set before done is closed
	stopping chan struct{}
}

// Start starts the server and returns when it answers. The context ends only
// the waiting. Errors: [ErrNoTemporal], [ErrDataDirBusy], a [PortError], or
// what the server said before it ended.
func Start(ctx context.Context, params Params) (*Stack, error) {
	if params.Logger == nil {
		params.Logger = slog.Default()
	}
	if params.BinDirs == nil {
		params.BinDirs = defaultBinDirs()
	}
	binary, err := find(params.BinDirs)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(params.DataDir, 0o700); err != nil {
		return nil, fmt.Errorf("making the data folder: %w", err)
	}
	held, err := lock(ctx, params.DataDir, patience)
	if err != nil {
		return nil, err
	}
	// The child has it from then on.
	defer func() { _ = held.Close() }()
	stack := &Stack{params: params, logger: params.Logger, done: make(chan struct{}), stopping: make(chan struct{}, 1)}
	if stack.port, err = claim(ctx, params.TemporalPort, "COUNTERSIGN_TEMPORAL_PORT", patience); err != nil {
		return nil, err
	}
	if stack.uiPort, err = claim(ctx, params.UIPort, "COUNTERSIGN_TEMPORAL_UI_PORT", patience); err != nil {
		return nil, err
	}
	if err := stack.run(binary, params.DataDir, held); err != nil {
		return nil, err
	}
	if err := stack.awaitReady(ctx); err != nil {
		return nil, errors.Join(err, stack.Stop())
	}
	stack.logger.Info("temporal dev server is up", "address", stack.Address(), "ui", stack.UI(), "log", stack.logFile)
	return stack, nil
}

// Address is the frontend's host:port.
func (s *Stack) Address() string { return net.JoinHostPort(host, strconv.Itoa(s.port)) }

// UI is the Web UI's address.
func (s *Stack) UI() string { return "http://" + net.JoinHostPort(host, strconv.Itoa(s.uiPort)) }

// Params are those it was started with, with the ports it has: a Start with
// them after it died takes its place, at the same addresses.
func (s *Stack) Params() Params {
	again := s.params
	again.TemporalPort, again.UIPort = s.port, s.uiPort
	return again
}

// PID is the server's process id.
func (s *Stack) PID() int { return s.pid }

// LogFile is where the server writes.
func (s *Stack) LogFile() string { return s.logFile }

// Done is closed when the server has ended, by Stop or by itself.
func (s *Stack) Done() <-chan struct{} { return s.done }

// Err says, once Done is closed, how the server ended; nil after a Stop.
func (s *Stack) Err() error {
	select {
	case <-s.done:
		return s.err
	default:
		return nil
	}
}

// run starts the process and watches it until it ends.
func (s *Stack) run(binary, dataDir string, held *os.File) error {
	s.logFile = filepath.Join(dataDir, "temporal.log")
	log, err := openLog(s.logFile)
	if err != nil {
		return err
	}
	// Not CommandContext: the stack outlives the context of its start.
	command := exec.Command(binary, arguments(dataDir, s.port, s.uiPort, s.params.DynamicConfig)...) //nolint:noctx // see above
	command.Stdout, command.Stderr = log, log
	command.SysProcAttr = ownGroup()
	command.ExtraFiles = []*os.File{held}
	started := make(chan error)
	go func() {
		// The kernel ties the death signal to this thread, so it must stay.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer func() { _ = log.Close() }()
		err := command.Start()
		if err == nil {
			s.pid = command.Process.Pid
		}
		started <- err
		if err == nil {
			s.ended(command.Wait())
		}
	}()
	if err := <-started; err != nil {
		return fmt.Errorf("starting %s: %w", binary, err)
	}
	return nil
}

func (s *Stack) ended(err error) {
	select {
	case <-s.stopping: // asked for
	default:
		s.err = fmt.Errorf("the temporal dev server has ended (%w); its last lines in %s:\n%s",
			cause(err), s.logFile, tail(s.logFile))
	}
	close(s.done)
}

func cause(err error) error {
	if err == nil {
		return errors.New("exit status 0")
	}
	return err
}

// Stop ends the server: politely, and after a few seconds by force. It may be
// called more than once, and after the server has died.
func (s *Stack) Stop() error {
	select {
	case s.stopping <- struct{}{}:
	default: // said already
	}
	if err := s.signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-s.done:
		return nil
	case <-time.After(stopTimeout):
	}
	s.logger.Warn("temporal dev server does not end; killing it", "after", stopTimeout)
	if err := s.signal(syscall.SIGKILL); err != nil {
		return err
	}
	<-s.done
	return nil
}

// signal reaches the whole group; a process that has ended is no error.
func (s *Stack) signal(signal syscall.Signal) error {
	select {
	case <-s.done:
		return nil
	default:
	}
	if err := syscall.Kill(-s.pid, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("stopping the temporal dev server: %w", err)
	}
	return nil
}
