package devstack

import (
	"path/filepath"
	"slices"
	"strconv"
)

// The dev server is slow by default: its one history shard reads the transfer
// queue 20 times a second, so that each hop waits up to 50 ms, and a task may
// wait 2 s in one of four task-queue partitions that nobody polls just then.
var dynamicConfig = []string{
	"history.transferProcessorMaxPollRPS=5000",
	"history.timerProcessorMaxPollRPS=5000",
	"system.enableActivityEagerExecution=true",
	"matching.numTaskqueueReadPartitions=1",
	"matching.numTaskqueueWritePartitions=1",
	`history.longPollExpirationInterval="3s"`,
}

// A write-ahead log that is synced at checkpoints survives a killed process;
// only a power cut could lose the last transactions, never the file.
var sqlitePragmas = []string{"journal_mode=wal", "synchronous=1"}

// searchAttributes are those of CONTRACT §10.
var searchAttributes = []string{
	"CountersignConnector", "CountersignThread", "CountersignTool", "CountersignOperation", "CountersignStatus",
}

func arguments(dataDir string, port, uiPort int, more []string) []string {
	args := []string{
		"server", "start-dev",
		"--ip", host, "--port", strconv.Itoa(port), "--ui-port", strconv.Itoa(uiPort),
		"--db-filename", filepath.Join(dataDir, "temporal.db"),
		"--log-level", "warn", "--log-format", "json", "--color", "never",
		// The person's own client profiles are no business of this server.
		"--disable-config-env", "--disable-config-file",
	}
	for _, value := range slices.Concat(dynamicConfig, more) {
		args = append(args, "--dynamic-config-value", value)
	}
	for _, pragma := range sqlitePragmas {
		args = append(args, "--sqlite-pragma", pragma)
	}
	for _, name := range searchAttributes {
		args = append(args, "--search-attribute", name+"=Keyword")
	}
	return args
}
