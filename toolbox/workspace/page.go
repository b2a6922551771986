package workspace

import (
	"context"
	"crypto/subtle"
	"errors"
	"strings"
	"time"
)

// verificationCode stands in for what only a person has: a text message, a hardware key.
const verificationCode = "246810"

// What is wrong with an attempt to publish.
var (
	ErrCode    = errors.New("the verification code is not right; nothing was published")
	ErrChanged = errors.New("the workspace has changed since the page was opened; look at it again")
)

// Publish is what the workspace's page does when a person presses Publish changes: it is not
// an operation of the tool, so an agent cannot call it. revision is the draft that the person
// saw. Published again, the same draft stays as it is.
func Publish(ctx context.Context, store Store, code, revision, by string, now time.Time) error {
	state, err := store.Read(ctx)
	switch {
	case err != nil:
		return err
	case subtle.ConstantTimeCompare([]byte(strings.TrimSpace(code)), []byte(verificationCode)) != 1:
		return ErrCode
	case state.Draft.Revision != revision:
		return ErrChanged
	case state.Published():
		return nil
	}
	return store.WritePublication(ctx, Publication{
		Name: state.Draft.Name, Revision: state.Draft.Revision, By: by, At: now.UTC(),
	})
}
