package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/countersignhq/countersign/attachments"
	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
)

// version of the program; the build sets it.
var version = "dev"

func now() time.Time { return time.Now().UTC() }

func gone(err error) bool { return errors.Is(err, contract.ErrGone) }

// files is the attachments disk as the gateway and the connectors see it.
type files struct{ store *attachments.Store }

// Save streams a file into inbound/{uuid}/.
func (f files) Save(ctx context.Context, uuid, name string, content io.Reader) (chat.File, error) {
	return f.store.Inbound(uuid).Set(ctx, name, content)
}

// Discard takes back a file that Save has put there.
func (f files) Discard(ctx context.Context, uuid, name string) error {
	return f.store.Inbound(uuid).Remove(ctx, name)
}

// Saved returns the file that Save has put there under this name, without a number.
func (f files) Saved(ctx context.Context, uuid, name string) (chat.File, error) {
	content, file, err := f.store.Inbound(uuid).Open(ctx, attachments.SafeName(name))
	if err != nil {
		return chat.File{}, err
	}
	defer content.Close()
	sum := sha256.New()
	if file.Size, err = io.Copy(sum, content); err != nil {
		return chat.File{}, fmt.Errorf("read attachment: %w", err)
	}
	file.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return file, nil
}

// Open returns a file of outbound/{uuid}/.
func (f files) Open(ctx context.Context, uuid, name string) (io.ReadCloser, int64, error) {
	content, file, err := f.store.Outbound(uuid).Open(ctx, name)
	return content, file.Size, err
}

// byPath is the same disk for connectors, which are handed paths.
type byPath struct{ files }

// Open reads what chat.File.Path names.
func (f byPath) Open(ctx context.Context, path string) (io.ReadCloser, error) {
	return f.store.OpenPath(ctx, path)
}

// spill keeps a text that is too long for a signal as a file of its message.
func spill(store *attachments.Store) func(context.Context, string, string) (chat.File, error) {
	return func(ctx context.Context, uuid, text string) (chat.File, error) {
		return store.Inbound(uuid).Set(ctx, "message.txt", strings.NewReader(text))
	}
}
