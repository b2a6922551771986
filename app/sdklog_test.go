package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/log"
)

func TestTheSDKIsQuietAboutWhatIsInOrder(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	logger := log.With(sdkLogger{log.NewStructuredLogger(slog.New(slog.NewTextHandler(&out, nil)))}, "component", "temporal")
	logger.Warn("RecordActivityHeartbeat with error", "Error", serviceerror.NewNotFound("workflow execution already completed"))
	logger.Error("Activity error.", "Error", fmt.Errorf("watch: %w", context.Canceled))
	require.Empty(t, out.String())
	logger.Warn("RecordActivityHeartbeat with error", "Error", serviceerror.NewUnavailable("connection refused"))
	logger.Error("Activity error.", "Error", errors.New("disk full"))
	require.Contains(t, out.String(), "level=WARN")
	require.Contains(t, out.String(), "disk full")
	require.Contains(t, out.String(), "component=temporal")
}
