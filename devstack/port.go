package devstack

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"time"
)

const host = "127.0.0.1"

// PortError is a port that another program has.
type PortError struct {
	Port int
	// Variable sets another one.
	Variable string
}

func (e *PortError) Error() string {
	return fmt.Sprintf("port %d on %s is in use: stop the program that has it, or set %s to a free port",
		e.Port, host, e.Variable)
}

// claim returns a port that was free just now: the one asked for, or any for 0.
// A server that is only just ending gets a moment to let go.
func claim(ctx context.Context, port int, variable string, patience time.Duration) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		listener, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(port)))
		if err == nil {
			address, _ := listener.Addr().(*net.TCPAddr)
			return address.Port, listener.Close()
		}
		select {
		case <-ctx.Done():
			return 0, &PortError{Port: port, Variable: variable}
		case <-time.After(retryInterval):
		}
	}
}
