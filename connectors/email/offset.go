package email

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/emersion/go-imap/v2"
)

// receivedAt is when the mail server had a mail: it is the gateway here, whatever
// the listener was doing. Its time is in whole seconds; a mail counts as late in
// its second, and never as later than now.
func receivedAt(date, now time.Time) time.Time {
	late := date.Add(time.Second - time.Nanosecond)
	if date.IsZero() || late.After(now) {
		return now
	}
	return late
}

// formatOffset is "UIDVALIDITY:UID", or "" where nothing was read yet.
func formatOffset(validity uint32, last imap.UID) string {
	if validity == 0 {
		return ""
	}
	return fmt.Sprintf("%d:%d", validity, last)
}

// parseOffset takes what it cannot read for a first start.
func parseOffset(offset string) (uint32, imap.UID) {
	v, u, _ := strings.Cut(offset, ":")
	validity, err := strconv.ParseUint(v, 10, 32)
	if err != nil {
		return 0, 0
	}
	uid, err := strconv.ParseUint(u, 10, 32)
	if err != nil {
		return 0, 0
	}
	return uint32(validity), imap.UID(uid)
}
