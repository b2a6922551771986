package web

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/internal/listing"
)

// The kinds of Entry.
const (
	Said  = "said"  // by the person
	Asked = "asked" // a question and what became of it
	Reply = "reply" // by the agent
)

// Entry is one line of a conversation's feed.
type Entry struct {
	// ID is the same for the same event, also when it is written again.
	ID   string    `json:"id"`
	Kind string    `json:"kind"`
	At   time.Time `json:"at"`
	From string    `json:"from,omitempty"`
	Text string    `json:"text,omitempty"`
	// UUID of the message that the files belong to.
	UUID  string      `json:"uuid,omitempty"`
	Files []chat.File `json:"files,omitempty"`
	Card  *chat.Card  `json:"card,omitempty"`
}

// Store keeps the feeds, over restarts.
type Store interface {
	// Append adds an entry and returns its reference. An entry with the ID of an older one
	// takes its place.
	Append(ctx context.Context, thread string, entry Entry) (ref string, err error)
	// Amend changes an entry; fs.ErrNotExist if it is gone.
	Amend(ctx context.Context, ref string, change func(*Entry)) error
	// Entries returns the latest, oldest first.
	Entries(ctx context.Context, thread string, limit int) ([]Entry, error)
}

// feeds is a Store in a bucket: one object per entry, named so that the names sort by
// time. There is nothing that two writers could overwrite for each other.
type feeds struct {
	bucket *blob.Bucket
}

// NewStore returns a Store in bucket, which the caller closes.
func NewStore(bucket *blob.Bucket) Store { return feeds{bucket} }

const feedPrefix = "web/feeds/"

func (f feeds) Append(ctx context.Context, thread string, entry Entry) (string, error) {
	ref := fmt.Sprintf("%s%013d-%s.json", feed(thread), entry.At.UnixMilli(), digest(entry.ID))
	return ref, f.write(ctx, ref, entry)
}

func (f feeds) Amend(ctx context.Context, ref string, change func(*Entry)) error {
	if !strings.HasPrefix(ref, feedPrefix) {
		return fmt.Errorf("find the entry %q: %w", ref, fs.ErrNotExist)
	}
	entry, err := f.read(ctx, ref)
	if err != nil {
		return err
	}
	change(&entry)
	return f.write(ctx, ref, entry)
}

func (f feeds) Entries(ctx context.Context, thread string, limit int) ([]Entry, error) {
	objects, err := listing.Objects(ctx, f.bucket, feed(thread))
	if err != nil {
		return nil, fmt.Errorf("list the conversation: %w", err)
	}
	var refs []string
	for _, object := range objects {
		if strings.HasSuffix(object.Key, ".json") {
			refs = append(refs, object.Key)
		}
	}
	entries, latest := []Entry{}, map[string]int{}
	for _, ref := range refs[max(0, len(refs)-limit):] {
		entry, err := f.read(ctx, ref)
		if errors.Is(err, fs.ErrNotExist) {
			continue // pruned meanwhile
		}
		if err != nil {
			return nil, err
		}
		if older, again := latest[entry.ID]; again {
			entries[older].Kind = ""
		}
		latest[entry.ID] = len(entries)
		entries = append(entries, entry)
	}
	kept := entries[:0]
	for _, entry := range entries {
		if entry.Kind != "" {
			kept = append(kept, entry)
		}
	}
	return kept, nil
}

func (f feeds) write(ctx context.Context, ref string, entry Entry) error {
	content, err := json.Marshal(entry)
	if err == nil {
		err = f.bucket.WriteAll(ctx, ref, content, nil)
	}
	if err != nil {
		return fmt.Errorf("write to the conversation: %w", err)
	}
	return nil
}

func (f feeds) read(ctx context.Context, ref string) (Entry, error) {
	var entry Entry
	content, err := f.bucket.ReadAll(ctx, ref)
	if gcerrors.Code(err) == gcerrors.NotFound {
		return entry, fmt.Errorf("find the entry %q: %w", ref, fs.ErrNotExist)
	}
	if err == nil {
		err = json.Unmarshal(content, &entry)
	}
	if err != nil {
		return entry, fmt.Errorf("read the conversation: %w", err)
	}
	return entry, nil
}

func feed(thread string) string { return feedPrefix + digest(thread) + "/" }

// digest makes a name from outside safe as a part of an object's name.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}
