package rediscompat

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/countersignhq/countersign/chat"
)

// The names of CONTRACT §5, before the thread and after the prefix.
const (
	awaitingName = "awaiting_confirm:"
	confirmName  = "confirm:"
	takenName    = "countersign_taken:"
)

// pair are the two keys of a thread. They usually lie in two cluster slots.
type pair struct{ awaiting, confirm string }

// keys names the keys of a thread. A thread key may hold anything, colons too,
// so a thread is never read back from a key (case E01); a connector's name holds
// none, or two threads could meet in one key.
func (m *Mirror) keys(thread chat.Thread) (pair, error) {
	if thread.Connector == "" || thread.Key == "" || strings.Contains(thread.Connector, ":") {
		return pair{}, fmt.Errorf("redis keys: %q is no thread: it takes a connector without a colon, and a key", thread)
	}
	return m.named(thread.String()), nil
}

func (m *Mirror) named(thread string) pair {
	return pair{awaiting: m.params.Prefix + awaitingName + thread, confirm: m.params.Prefix + confirmName + thread}
}

// marker names the key that remembers that an event was given away. It is named
// so that a cluster puts it beside the list; together tells whether that worked
// out (it cannot for a thread key with a brace in an odd place).
func (m *Mirror) marker(confirm, eventID string) (key string, together bool) {
	sum := sha256.Sum256([]byte(confirm + "\x00" + eventID)) // the braces alone do not name the thread
	key = m.params.Prefix + takenName + "{" + hashed(confirm) + "}:" + hex.EncodeToString(sum[:16])
	return key, hashed(key) == hashed(confirm)
}

// hashed is the part of a key that decides its slot: what stands between the
// first { and the next }, unless that is nothing, else the whole key (Redis
// Cluster specification, "Hash tags").
func hashed(key string) string {
	_, rest, found := strings.Cut(key, "{")
	if !found {
		return key
	}
	tag, _, found := strings.Cut(rest, "}")
	if !found || tag == "" {
		return key
	}
	return tag
}

// literal escapes what MATCH patterns of SCAN give a meaning to.
func literal(text string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`).Replace(text)
}
