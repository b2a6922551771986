package filemanager

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"time"

	"github.com/countersignhq/countersign/attachments"
	"github.com/countersignhq/countersign/disks"
	"github.com/countersignhq/countersign/tool"
)

// defaultMaxDownload is the largest file that download_url takes unless configured, in bytes.
const defaultMaxDownload = 100 << 20

// Conversation tells which messages belong to a conversation.
type Conversation interface {
	// Messages returns the uuids of the conversation's messages, newest first.
	Messages(ctx context.Context, connector, threadKey string) ([]string, error)
}

// Params of New.
type Params struct {
	Disks        *disks.Disks
	Attachments  *attachments.Store
	Conversation Conversation
	// MaxDownload is the largest file that download_url takes, in bytes; zero means 100 MB.
	MaxDownload int64
	// AllowAddr says which addresses download_url may connect to; nil means
	// public ones only. Anything else is for tests.
	AllowAddr func(netip.Addr) bool

	// timeout of a download; only tests have less than 30 s to wait.
	timeout time.Duration
}

// New returns the tool file_manager.
func New(params Params) tool.Tool {
	m := &manager{
		disks: params.Disks, attachments: params.Attachments, conversation: params.Conversation,
		maxDownload: params.MaxDownload, allowAddr: params.AllowAddr, timeout: params.timeout,
	}
	if m.maxDownload == 0 {
		m.maxDownload = defaultMaxDownload
	}
	if m.allowAddr == nil {
		m.allowAddr = Public
	}
	if m.timeout == 0 {
		m.timeout = downloadTimeout
	}
	m.client = newClient(m.allowAddr)
	return tool.Tool{
		Name:        "file_manager",
		Description: "Work with files and folders on the allowed disks. Paths start at the disk's root and use forward slashes.",
		Operations: translated([]tool.Operation{
			m.list(), m.read(), m.exists(),
			m.write(), m.append(), m.mkdir(),
			m.move(), m.copy(), m.delete(),
			m.saveAttachment(), m.attachToReply(), m.downloadURL(),
		}),
	}
}

type manager struct {
	disks        *disks.Disks
	attachments  *attachments.Store
	conversation Conversation
	maxDownload  int64
	allowAddr    func(netip.Addr) bool
	client       *http.Client
	timeout      time.Duration
}

// parameters of all operations; the schema of each says which it has.
type parameters struct {
	Disk        string   `json:"disk"`
	Path        string   `json:"path"`
	Paths       []string `json:"paths"`
	Destination string   `json:"destination"`
	Content     string   `json:"content"`
	Source      string   `json:"source"`
	URL         string   `json:"url"`
}

// request is a call with its disk.
type request struct {
	parameters
	call tool.Call
	disk *disks.Disk
}

func (m *manager) request(call tool.Call) (request, error) {
	r := request{call: call}
	if err := json.Unmarshal(call.Parameters, &r.parameters); err != nil {
		return request{}, fmt.Errorf("file_manager %s: parameters: %w", call.Operation, err)
	}
	var err error
	r.disk, err = m.disks.Guarded(r.Disk)
	return r, err
}

// available makes an operation's Available of a function that looks and
// changes nothing. A refusal is an answer for the person; any other error is
// the disk's.
func (m *manager) available(look func(ctx context.Context, r request) error) func(context.Context, tool.Call) error {
	return func(ctx context.Context, call tool.Call) error {
		r, err := m.request(call)
		if err == nil {
			err = look(ctx, r)
		}
		return unavailable(err)
	}
}

func unavailable(err error) error {
	if refusal, ok := errors.AsType[*disks.Refusal](err); ok {
		return tool.Unavailable(refusal.Error())
	}
	return err
}

// run makes an operation's Run.
func (m *manager) run(do func(ctx context.Context, r request) (any, error)) func(context.Context, tool.Call) (any, error) {
	return func(ctx context.Context, call tool.Call) (any, error) {
		r, err := m.request(call)
		if err != nil {
			return nil, err
		}
		return do(ctx, r)
	}
}

// contents makes an operation's Contents: a hash for each file it reads or takes away.
func (m *manager) contents(hash func(ctx context.Context, r request) (map[string]string, error)) func(context.Context, tool.Call) (map[string]string, error) {
	return func(ctx context.Context, call tool.Call) (map[string]string, error) {
		r, err := m.request(call)
		if err != nil {
			return nil, unavailable(err)
		}
		hashes, err := hash(ctx, r)
		return hashes, unavailable(err)
	}
}

// hashPath is what most operations hash: the file or folder at path.
func hashPath(ctx context.Context, r request) (map[string]string, error) {
	return hashes(ctx, r.disk, r.Path)
}

func hashes(ctx context.Context, disk *disks.Disk, paths ...string) (map[string]string, error) {
	all := make(map[string]string, len(paths))
	for _, path := range paths {
		clean, err := disk.Check(ctx, path)
		if err != nil {
			return nil, err
		}
		hash, err := disk.Fingerprint(ctx, clean)
		if err != nil {
			return nil, err
		}
		all[disk.Name()+":"+clean] = hash
	}
	return all, nil
}

// file looks up a file that has to be there.
func file(ctx context.Context, r request) (disks.Info, error) {
	info, err := r.disk.Stat(ctx, r.Path)
	if err == nil && info.Folder {
		err = &disks.Refusal{Path: r.Path, Reason: "is a folder, not a file", Cause: disks.ErrFolder}
	}
	return info, err
}
