package approval

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/countersignhq/countersign/tool"
)

// Digest pins what a person approves: sha256 in hex over the tool, the
// operation, the parameters in canonical form (RFC 8785, duplicate names
// refused, numbers exact) and the content hash of each file (G14). The order of
// names and the layout do not matter; every other difference does. Without
// parameters it is the digest of {}.
func Digest(toolName, operation string, parameters json.RawMessage, contents map[string]string) (string, error) {
	if len(bytes.TrimSpace(parameters)) == 0 {
		parameters = json.RawMessage("{}")
	}
	canonical, err := tool.Canonical(parameters)
	if err != nil {
		return "", fmt.Errorf("digest of the parameters of %s.%s: %w", toolName, operation, err)
	}
	whole := []string{"countersign/approval/1", toolName, operation, string(canonical)}
	names := make([]string, 0, len(contents))
	//workflowcheck:ignore
	for name := range contents { // sorted below
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		whole = append(whole, name, contents[name])
	}
	hash := sha256.New()
	for _, part := range whole {
		// The length before each part keeps two parts from reading as one.
		hash.Write([]byte(strconv.Itoa(len(part)) + ":" + part + "\n"))
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}
