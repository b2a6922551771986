package gateway

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// TokenFile is the owner's token in the data folder.
const TokenFile = "token"

// NewToken returns a token of 32 random bytes.
func NewToken() string {
	random := make([]byte, 32)
	_, _ = rand.Read(random) // never fails (crypto/rand)
	return "cs_" + base64.RawURLEncoding.EncodeToString(random)
}

// TokenHash returns the SHA-256 of a token in 64 hex digits; the configuration holds it
// after "sha256:".
func TokenHash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// EnsureToken returns the hash of the owner's token in dataDir. If there is none, it makes
// one, readable by its owner only (mode 0600), and prints it to out, once. Of several
// processes that start together, one makes it.
func EnsureToken(dataDir string, out io.Writer) (hash string, err error) {
	path := filepath.Join(dataDir, TokenFile)
	hash, err = readToken(path)
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return hash, err
	}
	token := NewToken()
	made, err := writeToken(path, token)
	if err != nil {
		return "", err
	}
	if !made {
		return readToken(path)
	}
	_, err = fmt.Fprintf(out, "The owner's token, shown this once (kept in %s):\n\n  %s\n\n", path, token)
	if err != nil {
		return "", fmt.Errorf("print the owner's token: %w", err)
	}
	return TokenHash(token), nil
}

func readToken(path string) (hash string, err error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read the owner's token: %w", err)
	}
	token := strings.TrimSpace(string(content))
	if len(token) < 16 {
		return "", fmt.Errorf("the owner's token in %s is too short to be one; delete the file and start again", path)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return "", fmt.Errorf("close the owner's token to others: %w", err)
	}
	return TokenHash(token), nil
}

// writeToken writes the file whole or not at all: a crash must not leave an empty token.
// It reports false where another process was first.
func writeToken(path, token string) (made bool, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return false, fmt.Errorf("make the data folder: %w", err)
	}
	draft, err := os.CreateTemp(filepath.Dir(path), ".token-*") // mode 0600
	if err != nil {
		return false, fmt.Errorf("write the owner's token: %w", err)
	}
	defer func() { err = errors.Join(err, os.Remove(draft.Name())) }()
	_, err = draft.WriteString(token + "\n")
	if err = errors.Join(err, draft.Sync(), draft.Close()); err != nil {
		return false, fmt.Errorf("write the owner's token: %w", err)
	}
	err = os.Link(draft.Name(), path)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("write the owner's token: %w", err)
	}
	return true, nil
}
