package cli

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/countersignhq/countersign/attachments"
	"github.com/countersignhq/countersign/gateway"
)

// kept is where the gateway keeps the terminal's files.
const kept = "/api/terminal/files/"

// receiveAll saves the files of an answer to the terminal, and deletes at the gateway those of
// each message that are all here. What could not be saved stays there.
func (t *talk) receiveAll(ctx context.Context, files []file) error {
	messages := map[string][]int{} // indices by the message's uuid
	for n, f := range files {
		uuid, err := messageOf(f)
		if err != nil {
			return err
		}
		messages[uuid] = append(messages[uuid], n)
	}
	var broken error
	for uuid, indices := range messages {
		folder := t.folder
		if folder == "" {
			folder = filepath.Join(t.dataDir(), "received", attachments.SafeName(uuid))
		}
		missing := false
		for _, n := range indices {
			err := t.receive(ctx, files[n:n+1], folder)
			broken, missing = errors.Join(broken, err), missing || err != nil
		}
		if missing {
			continue
		}
		if _, err := t.call(ctx, http.MethodDelete, kept+url.PathEscape(uuid), nil, nil); err != nil {
			broken = errors.Join(broken, plain(err))
		}
	}
	return broken
}

func messageOf(f file) (string, error) {
	address, err := url.Parse(f.URL)
	if err != nil {
		return "", failed("the gateway named a file at no address")
	}
	uuid, _, found := strings.Cut(strings.TrimPrefix(address.EscapedPath(), kept), "/")
	if plain, err := url.PathUnescape(uuid); found && err == nil {
		return plain, nil
	}
	return "", failed("the gateway named a file at %q, which is none of the terminal's", address.Path)
}

// receive saves files in a folder, each under its name or, where that is taken, with a number,
// and notes where.
func (s *starter) receive(ctx context.Context, files []file, folder string) error {
	var broken error
	for n := range files {
		path, err := s.save(ctx, files[n], folder)
		if err != nil {
			broken = errors.Join(broken, failed("%s was not saved (%v); it is still at %s", files[n].Name, err, files[n].URL))
			continue
		}
		files[n].Path = path
	}
	return broken
}

// save asks our own gateway for the file's path, whatever host the answer names, so that the
// token goes nowhere else. A file that breaks off leaves nothing.
func (s *starter) save(ctx context.Context, f file, folder string) (saved string, err error) {
	address, err := url.Parse(f.URL)
	if err != nil {
		return "", errors.New("that is no address")
	}
	response, err := s.open(ctx, http.MethodGet, address.EscapedPath(), nil)
	if err != nil {
		return "", plain(err)
	}
	defer response.Body.Close()
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	draft, err := os.CreateTemp(folder, ".receiving-*") // mode 0600
	if err != nil {
		return "", err
	}
	defer func() {
		if saved == "" {
			err = errors.Join(err, os.Remove(draft.Name()))
		}
	}()
	_, err = io.Copy(draft, response.Body)
	if err := errors.Join(err, draft.Close()); err != nil {
		return "", err
	}
	return place(draft.Name(), folder, f.Name)
}

// place gives a finished file its name, never that of another.
func place(draft, folder, name string) (string, error) {
	name = attachments.SafeName(name)
	for n, free := 0, name; ; {
		target := filepath.Join(folder, free)
		claim, err := os.OpenFile(target, os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			n++
			free = attachments.Numbered(name, n)
			continue
		}
		if err != nil {
			return "", err
		}
		if err := errors.Join(claim.Close(), os.Rename(draft, target)); err != nil {
			return "", errors.Join(err, os.Remove(target))
		}
		return target, nil
	}
}

// files tells of each file its name, its size, and where it is.
func (p *printer) files(files []file) {
	for _, f := range files {
		where := f.Path
		if where == "" {
			where = f.URL
		}
		p.line("file: %s (%s) %s", strings.ReplaceAll(f.Name, "\n", " "), gateway.Size(f.Size), strings.ReplaceAll(where, "\n", " "))
	}
}

// together is one failure that says all of them.
func together(errs ...error) error {
	if err := errors.Join(errs...); err != nil {
		return failed("%s", err.Error())
	}
	return nil
}
