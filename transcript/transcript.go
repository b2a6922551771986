package transcript

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"github.com/countersignhq/countersign/agent"
	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/internal/listing"
)

// recent bounds how many exchanges an agent is shown.
const recent = 50

// Store keeps transcripts in a bucket. It is safe for use by several goroutines and processes.
type Store struct {
	bucket *blob.Bucket
	now    func() time.Time
}

// New returns a store on a bucket.
func New(bucket *blob.Bucket, now func() time.Time) *Store {
	if now == nil {
		now = time.Now
	}
	return &Store{bucket: bucket, now: now}
}

// Record keeps a message. The same message again overwrites itself.
func (s *Store) Record(ctx context.Context, m chat.Message) error {
	return s.put(ctx, m, agent.Exchange{Message: m})
}

// Close adds what was done and answered.
func (s *Store) Close(ctx context.Context, m chat.Message, results []contract.ToolResult, reply string) error {
	if command, _ := chat.ReadCommand(m.Text); command == chat.CommandNew {
		return nil
	}
	return s.put(ctx, m, agent.Exchange{Message: m, Results: results, Reply: reply})
}

// Afresh makes the conversation start over with an empty folder.
func (s *Store) Afresh(ctx context.Context, t chat.Thread) error {
	fresh := s.now().UTC().Format("20060102T150405.000000000")
	if err := s.bucket.WriteAll(ctx, path.Join(home(t), "current"), []byte(fresh), nil); err != nil {
		return fmt.Errorf("point %s to a fresh transcript: %w", t, err)
	}
	return nil
}

// History returns the exchanges before a message, oldest first.
func (s *Store) History(ctx context.Context, m chat.Message) ([]agent.Exchange, error) {
	keys, err := s.keys(ctx, m.Thread)
	if err != nil {
		return nil, err
	}
	// What came later, e.g. a file while a question was open, was not said before.
	keys = slices.DeleteFunc(keys, func(k string) bool { return path.Base(k) >= object(m) })
	if extra := len(keys) - recent; extra > 0 {
		keys = keys[extra:]
	}
	history := make([]agent.Exchange, 0, len(keys))
	for _, k := range keys {
		raw, err := s.bucket.ReadAll(ctx, k)
		if err != nil {
			return nil, fmt.Errorf("read the transcript of %s: %w", m.Thread, err)
		}
		var e agent.Exchange
		if err := json.Unmarshal(raw, &e); err != nil {
			return nil, fmt.Errorf("read the transcript of %s: %w", m.Thread, err)
		}
		history = append(history, e)
	}
	return history, nil
}

// Messages returns the uuids of a conversation's messages, newest first.
func (s *Store) Messages(ctx context.Context, connector, threadKey string) ([]string, error) {
	keys, err := s.keys(ctx, chat.Thread{Connector: connector, Key: threadKey})
	if err != nil {
		return nil, err
	}
	slices.Reverse(keys)
	uuids := make([]string, 0, len(keys))
	for _, k := range keys {
		_, uuid, ok := strings.Cut(strings.TrimSuffix(path.Base(k), ".json"), "_")
		if ok {
			uuids = append(uuids, uuid)
		}
	}
	return uuids, nil
}

func (s *Store) put(ctx context.Context, m chat.Message, e agent.Exchange) error {
	folder, err := s.current(ctx, m.Thread)
	if err != nil {
		return err
	}
	raw, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("write the transcript of %s: %w", m.Thread, err)
	}
	if err := s.bucket.WriteAll(ctx, path.Join(folder, object(m)), raw, nil); err != nil {
		return fmt.Errorf("write the transcript of %s: %w", m.Thread, err)
	}
	return nil
}

// keys lists the objects of a conversation, oldest first.
func (s *Store) keys(ctx context.Context, t chat.Thread) (keys []string, err error) {
	folder, err := s.current(ctx, t)
	if err != nil {
		return nil, err
	}
	objects, err := listing.Objects(ctx, s.bucket, folder+"/")
	if err != nil {
		return nil, fmt.Errorf("list the transcript of %s: %w", t, err)
	}
	for _, o := range objects {
		// Half-written files are no exchanges.
		if strings.HasSuffix(o.Key, ".json") {
			keys = append(keys, o.Key)
		}
	}
	slices.Sort(keys)
	return keys, nil
}

// current is the folder that the conversation writes to now.
func (s *Store) current(ctx context.Context, t chat.Thread) (string, error) {
	raw, err := s.bucket.ReadAll(ctx, path.Join(home(t), "current"))
	switch {
	case gcerrors.Code(err) == gcerrors.NotFound:
		return path.Join(home(t), "first"), nil
	case err != nil:
		return "", fmt.Errorf("find the transcript of %s: %w", t, err)
	}
	return path.Join(home(t), string(raw)), nil
}

// home is a conversation's folder: its key is the sender's data, so it is hashed.
func home(t chat.Thread) string {
	sum := sha256.Sum256([]byte(t.Key))
	return path.Join("transcripts", t.Connector, hex.EncodeToString(sum[:]))
}

// object sorts by the gateway's time.
func object(m chat.Message) string {
	return m.ReceivedAt.UTC().Format("20060102T150405.000000000") + "_" + m.UUID + ".json"
}
