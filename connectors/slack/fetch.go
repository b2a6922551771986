package slack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	slackgo "github.com/slack-go/slack"

	"github.com/countersignhq/countersign/chat"
)

// maxRedirects within Slack's own hosts.
const maxRedirects = 3

// slackDomains are the domains whose hosts are Slack's.
var slackDomains = []string{"slack.com", "slack-edge.com", "slack-gov.com"}

// fetch stores the files of a message under inbound/{uuid}/. What can never be had becomes
// a file with a Problem; what may be had later is an error, so that Slack sends the
// message again, until that has gone on for too long: Slack tries three times only, and
// the text must get through.
func (c *Connector) fetch(ctx context.Context, uuid string, m *incoming) ([]chat.File, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timing.download)
	defer cancel()
	var out []chat.File
	for _, f := range m.files {
		stored, err := c.fetchOne(ctx, uuid, f)
		switch {
		case err == nil:
		case c.now().Sub(m.written()) < c.timing.patience:
			return nil, fmt.Errorf("taking a file from slack: %w", err)
		default:
			c.log.Warn("slack file given up", "error", err)
			stored = f.without("it could not be taken from Slack; send it again")
		}
		out = append(out, stored)
	}
	return out, nil
}

func (c *Connector) fetchOne(ctx context.Context, uuid string, f fileInfo) (chat.File, error) {
	if f.Access == "check_file_info" { // of a channel shared between workspaces
		if err := c.look(ctx, &f); err != nil {
			if said := asFailure(err); said != nil && final(said) {
				return f.without("Slack does not hand it out (" + said.Error() + ")"), nil
			}
			return chat.File{}, err
		}
	}
	if reason := f.unavailable(); reason != "" {
		return f.without(reason), nil
	}
	response, err := c.api.download(ctx, f.address())
	if err != nil {
		if said := asFailure(err); said != nil && final(said) {
			return f.without("Slack does not hand it out (" + said.Error() + ")"), nil
		}
		return chat.File{}, err
	}
	defer response.Body.Close()
	if isPage(response.Header.Get("Content-Type")) && !f.page() {
		c.log.Warn("slack gave a page in place of a file: does the app have files:read?", "file", f.ID)
		return f.without(signInPage), nil
	}
	body := &download{r: response.Body, want: f.size()}
	stored, err := c.files.Save(ctx, uuid, f.name(), body)
	switch {
	case body.err != nil: // the library of the disk may have hidden it, or words it with the address
		return chat.File{}, c.api.fail("file download", &exchange{}, body.err)
	case err != nil:
		return chat.File{}, fmt.Errorf("storing %.100q: %w", f.name(), err)
	}
	return stored, nil
}

const signInPage = "Slack gave a sign-in page in place of it: the app needs the scope files:read"

// look asks Slack for what the event does not tell about a file.
func (c *Connector) look(ctx context.Context, f *fileInfo) error {
	return c.api.call(ctx, "files.info", func(ctx context.Context, client *slackgo.Client) error {
		file, _, _, err := client.GetFileInfoContext(ctx, f.ID, 0, 0)
		if err == nil {
			*f = fileInfo{
				ID: file.ID, Name: file.Name, Title: file.Title, MIMEType: file.Mimetype, FileType: file.Filetype,
				Mode: file.Mode, IsExternal: file.IsExternal, Size: int64(file.Size),
				Private: file.URLPrivate, Download: file.URLPrivateDownload,
			}
		}
		return err
	})
}

// download opens a file. The token goes to Slack's hosts only; a redirect that leaves
// them leads to no file of Slack's.
func (a *api) download(ctx context.Context, address string) (*http.Response, error) {
	const op = "file download"
	for hop := range maxRedirects + 1 {
		u, err := url.Parse(address)
		switch {
		case err == nil && a.mayKnowToken(u):
		case hop == 0:
			return nil, a.fail(op, &exchange{}, &failure{code: "it does not lie on Slack's hosts"})
		default:
			return nil, a.fail(op, &exchange{}, &failure{code: "it leads to another host; does the app have the scope files:read?"})
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return nil, a.fail(op, &exchange{}, err)
		}
		request.Header.Set("Authorization", "Bearer "+a.token)
		response, err := a.http.Do(request)
		if err != nil {
			return nil, a.fail(op, &exchange{}, err)
		}
		if response.StatusCode == http.StatusOK {
			return response, nil
		}
		_ = response.Body.Close()
		seen := &exchange{}
		seen.saw(response)
		if response.StatusCode/100 != 3 {
			return nil, a.fail(op, seen, &failure{status: response.StatusCode})
		}
		next, err := response.Location()
		if err != nil {
			return nil, a.fail(op, seen, errors.New("a redirect to nowhere"))
		}
		address = next.String()
	}
	return nil, a.fail(op, &exchange{}, &failure{code: "too many redirects"})
}

// mayKnowToken tells whether the token may go to an address: to https on Slack's own
// hosts, and to where every call goes anyway.
func (a *api) mayKnowToken(u *url.URL) bool {
	if u.Scheme == a.endpoint.Scheme && strings.EqualFold(u.Host, a.endpoint.Host) {
		return true
	}
	if u.Scheme != "https" {
		return false
	}
	host := strings.ToLower(u.Hostname())
	for _, domain := range slackDomains {
		if host == domain || strings.HasSuffix(host, "."+domain) {
			return true
		}
	}
	return false
}

// unavailable says in words why a file can not be had; "" if it may.
func (f fileInfo) unavailable() string {
	switch {
	case f.Mode == "tombstone":
		return "it was deleted"
	case f.Mode == "hidden_by_limit":
		return "the workspace's plan hides it"
	case f.IsExternal || f.Mode == "external":
		return "it does not lie on Slack's hosts; send the file itself"
	case f.address() == "":
		return "Slack does not say where it lies"
	default:
		return ""
	}
}

func (f fileInfo) address() string {
	if f.Download != "" {
		return f.Download
	}
	return f.Private
}

func (f fileInfo) name() string {
	switch {
	case f.Name != "":
		return f.Name
	case f.Title != "":
		return f.Title
	case f.FileType != "" && isDigitsOrLetters(f.FileType):
		return "attachment." + f.FileType
	default:
		return "attachment"
	}
}

func isDigitsOrLetters(s string) bool {
	return len(s) <= 8 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789") == ""
}

func (f fileInfo) without(problem string) chat.File {
	return chat.File{Name: f.name(), Size: f.Size, Problem: problem}
}

// page tells that HTML is what the file holds.
func (f fileInfo) page() bool { return isPage(f.MIMEType) || f.FileType == "html" }

// size to check a download against; -1 for none. Canvases and posts have another size
// than their download.
func (f fileInfo) size() int64 {
	if f.Size > 0 && (f.Mode == "" || f.Mode == "hosted" || f.Mode == "snippet") {
		return f.Size
	}
	return -1
}

func isPage(contentType string) bool {
	kind, _, err := mime.ParseMediaType(contentType)
	return err == nil && (kind == "text/html" || kind == "application/xhtml+xml")
}

// download reads a body, sees that it has its size, and remembers how it failed.
type download struct {
	r    io.Reader
	want int64
	n    int64
	err  error
}

func (d *download) Read(p []byte) (int, error) {
	n, err := d.r.Read(p)
	d.n += int64(n)
	switch {
	case err != nil && err != io.EOF:
		d.err = err
	case d.want >= 0 && (d.n > d.want || (err == io.EOF && d.n < d.want)):
		d.err = fmt.Errorf("%w: %d bytes, %d were announced", errOtherSize, d.n, d.want)
	}
	if d.err != nil {
		return n, d.err
	}
	return n, err
}
