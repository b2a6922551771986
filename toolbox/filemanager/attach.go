package filemanager

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/countersignhq/countersign/attachments"
	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/disks"
	"github.com/countersignhq/countersign/tool"
)

// maxNumber is how many other names are tried for a taken one.
const maxNumber = 10_000

type attachedOutput struct {
	Disk string `json:"disk"`
	Path string `json:"path"`
	// Attached is the file's name in the reply.
	Attached string `json:"attached"`
	Size     int64  `json:"size"`
}

func (m *manager) attachToReply() tool.Operation {
	return tool.Operation{
		Name:        "attach_to_reply",
		Description: "Send a file with the reply: a copy of it as it is now.",
		Kind:        tool.Write,
		Schema:      schema(map[string]property{"disk": diskProperty, "path": pathProperty}),
		Prompt:      "Attach the file at {path} on disk {disk} to the reply?",
		// The same content under the same name is attached once, however often it is run.
		Idempotent: true,
		Available: m.available(func(ctx context.Context, r request) error {
			_, err := file(ctx, r)
			return err
		}),
		Contents: m.contents(hashPath),
		Run:      m.run(m.attach),
	}
}

func (m *manager) attach(ctx context.Context, r request) (any, error) {
	info, err := file(ctx, r)
	if err != nil {
		return nil, err
	}
	outbound := m.attachments.Outbound(messageOf(r.call))
	// The name that was asked for, also where that is a link to another one.
	clean, err := disks.Clean(r.Path)
	if err != nil {
		return nil, err
	}
	base := attachments.SafeName(clean)
	name, err := attached(ctx, r, outbound, base, info.Size)
	if err != nil {
		return nil, err
	}
	out := attachedOutput{Disk: r.Disk, Path: r.Path, Attached: name, Size: info.Size}
	if name != "" {
		return out, nil
	}
	content, _, err := r.disk.Reader(ctx, r.Path)
	if err != nil {
		return nil, err
	}
	defer content.Close()
	staged, err := outbound.Set(ctx, base, content)
	if err != nil {
		return nil, err
	}
	out.Attached, out.Size = staged.Name, staged.Size
	return out, nil
}

// messageOf is the uuid of the message that a call answers (CONTRACT §6).
func messageOf(call tool.Call) string {
	if call.MessageUUID != "" {
		return call.MessageUUID
	}
	return call.ID
}

// attached returns the name under which a file with that name and content is
// in the reply already, or nothing.
func attached(ctx context.Context, r request, outbound attachments.Folder, name string, size int64) (string, error) {
	staged, err := outbound.List(ctx)
	if err != nil {
		return "", err
	}
	names := []string{name}
	for n := range staged {
		names = append(names, attachments.Numbered(name, n+1))
	}
	digest := ""
	for _, other := range staged {
		if other.Size != size || !slices.Contains(names, other.Name) {
			continue
		}
		if digest == "" {
			if digest, err = r.disk.Digest(ctx, r.Path); err != nil {
				return "", err
			}
		}
		same, err := attachmentDigest(ctx, outbound, other.Name)
		if err != nil {
			return "", err
		}
		if same == digest {
			return other.Name, nil
		}
	}
	return "", nil
}

func attachmentDigest(ctx context.Context, folder attachments.Folder, name string) (string, error) {
	content, _, err := folder.Open(ctx, name)
	if err != nil {
		return "", err
	}
	defer content.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, content); err != nil {
		return "", fmt.Errorf("read attachment %s: %w", disks.Quoted(name), err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

type savedOutput struct {
	Source string `json:"source"`
	Disk   string `json:"disk"`
	// Path where it is now: with a number where the name was taken.
	Path string `json:"path"`
	Size int64  `json:"size"`
}

func (m *manager) saveAttachment() tool.Operation {
	return tool.Operation{
		Name:        "save_attachment",
		Description: "Save a file that came with a message of this conversation. A path that is a folder, or ends in /, takes it in; a taken name gets a number.",
		Kind:        tool.Write,
		Schema:      schema(map[string]property{"source": sourceProperty, "disk": diskProperty, "path": pathProperty}),
		Prompt:      "Save the attachment {source} at {path} on disk {disk}?",
		// What was saved before is found by its content, and not saved again.
		Idempotent: true,
		Available: m.available(func(ctx context.Context, r request) error {
			source, err := m.source(ctx, r)
			if err != nil {
				return err
			}
			_, err = r.disk.Place(ctx, r.Path, source.Name)
			return err
		}),
		Contents: m.contents(func(ctx context.Context, r request) (map[string]string, error) {
			source, err := m.source(ctx, r)
			if err != nil {
				return nil, err
			}
			digest, err := attachmentDigest(ctx, source.folder, source.Name)
			return map[string]string{m.attachments.DiskName() + ":" + source.Path: digest}, err
		}),
		Run: m.run(m.save),
	}
}

func (m *manager) save(ctx context.Context, r request) (any, error) {
	source, err := m.source(ctx, r)
	if err != nil {
		return nil, err
	}
	target, err := r.disk.Place(ctx, r.Path, source.Name)
	if err != nil {
		return nil, err
	}
	digest, err := attachmentDigest(ctx, source.folder, source.Name)
	if err != nil {
		return nil, err
	}
	for n := range maxNumber {
		path := target
		if n > 0 {
			path = disks.Numbered(target, n, maxNameBytes)
		}
		info, err := r.disk.Stat(ctx, path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			err = m.saveAs(ctx, r, source, path)
			if errors.Is(err, fs.ErrExist) {
				continue
			}
		case errors.Is(err, disks.ErrProtected), errors.Is(err, disks.ErrLink), err == nil && (info.Folder || info.Size != source.Size):
			continue
		case err == nil:
			there, digestErr := r.disk.Digest(ctx, path)
			if digestErr == nil && there != digest {
				continue
			}
			err = digestErr
		}
		if err != nil {
			return nil, err
		}
		return savedOutput{Source: source.Path, Disk: r.Disk, Path: path, Size: source.Size}, nil
	}
	return nil, &disks.Refusal{Path: target, Reason: "is taken, with every number", Cause: fs.ErrExist}
}

func (m *manager) saveAs(ctx context.Context, r request, source sourceFile, path string) error {
	content, _, err := source.folder.Open(ctx, source.Name)
	if err != nil {
		return err
	}
	defer content.Close()
	return r.disk.Create(ctx, path, content)
}

// sourceFile is an attachment of this conversation.
type sourceFile struct {
	chat.File
	folder attachments.Folder
}

// source finds the attachment that a call means. The answer is the same for one
// of another conversation and for one that never was.
func (m *manager) source(ctx context.Context, r request) (sourceFile, error) {
	notOurs := &disks.Refusal{Path: r.Source, Reason: "is not an attachment of this conversation", Cause: fs.ErrNotExist}
	// Only what the conversation itself says counts: a call's own id, which
	// stands for the message where there is none, may be chosen by the caller.
	uuids, err := m.conversation.Messages(ctx, r.call.Connector, r.call.ThreadKey)
	if err != nil {
		return sourceFile{}, fmt.Errorf("look up the messages of this conversation: %w", err)
	}
	name := norm.NFC.String(r.Source)
	if strings.Contains(name, "/") {
		folder, base, inbound, err := m.attachments.Locate(name)
		if err != nil || !inbound || !slices.Contains(uuids, folder.UUID()) {
			return sourceFile{}, notOurs
		}
		uuids, name = []string{folder.UUID()}, base
	}
	for _, uuid := range uuids {
		folder := m.attachments.Inbound(uuid)
		files, err := folder.List(ctx)
		if err != nil {
			return sourceFile{}, err
		}
		for _, file := range files {
			if file.Name == name {
				return sourceFile{File: file, folder: folder}, nil
			}
		}
	}
	return sourceFile{}, notOurs
}
