package filemanager

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/countersignhq/countersign/attachments"
	"github.com/countersignhq/countersign/disks"
	"github.com/countersignhq/countersign/tool"
)

const (
	// downloadTimeout bounds a download from the first look-up to the last byte (CONTRACT §7).
	downloadTimeout = 30 * time.Second
	maxRedirects    = 5
	// maxNameBytes is the longest name of a file on a disk, in bytes.
	maxNameBytes = 255
)

type downloadedOutput struct {
	URL  string `json:"url"`
	Disk string `json:"disk"`
	// Path where it is now: with a number where the name was taken.
	Path string `json:"path"`
	Size int64  `json:"size"`
}

func (m *manager) downloadURL() tool.Operation {
	return tool.Operation{
		Name:        "download_url",
		Description: "Download a file from a public http or https address, within 30 seconds. A path that is a folder, or ends in /, takes it in; a taken name gets a number.",
		Kind:        tool.Write,
		Schema:      schema(map[string]property{"url": urlProperty, "disk": diskProperty, "path": pathProperty}),
		Prompt:      "Download {url} to {path} on disk {disk}?",
		RunTimeout:  downloadTimeout + 15*time.Second,
		Available: m.available(func(ctx context.Context, r request) error {
			address, err := m.address(r.URL)
			if err != nil {
				return err
			}
			_, err = r.disk.Place(ctx, r.Path, nameIn(address))
			return err
		}),
		Run: m.run(m.download),
		Check: m.check(func(ctx context.Context, r request) (tool.Outcome, error) {
			address, err := m.address(r.URL)
			if err != nil {
				return tool.Outcome{}, err
			}
			target, err := r.disk.Place(ctx, r.Path, nameIn(address))
			if err != nil {
				return tool.Outcome{}, err
			}
			return notDoneIfMissing(ctx, r, target)
		}),
	}
}

// nameIn is the file name that an address suggests.
func nameIn(address *url.URL) string { return attachments.SafeName(path.Base(address.Path)) }

// address checks what can be said of a URL without asking anybody. Where a name
// leads is checked when it is dialled.
func (m *manager) address(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil {
		// Not shown: a password in it could not be told from the rest.
		return nil, &disks.Refusal{Path: "url", Reason: "is not an address", Cause: errAddress}
	}
	refuse := func(reason string) (*url.URL, error) {
		return nil, &disks.Refusal{Path: u.Scheme + "://" + u.Host, Reason: reason, Cause: errAddress}
	}
	addr, err := netip.ParseAddr(u.Hostname())
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return refuse("is not an http or https address")
	case u.User != nil:
		return refuse("has a user name before it in the address; leave that out")
	case u.Hostname() == "":
		return refuse("names no host")
	case err == nil && !m.allowAddr(addr):
		return refuse("does not lead to the public internet")
	case err != nil && numeric(u.Hostname()):
		return refuse("has a host that is neither a name nor a plain IP address")
	}
	return u, nil
}

var errAddress = errors.New("address refused")

// numeric tells whether a host that is no plain address would be taken for one
// by some resolvers: 2130706433, 0x7f.1, 127.1 (WHATWG URL, "ends in a number").
func numeric(host string) bool {
	labels := strings.Split(strings.TrimSuffix(host, "."), ".")
	last := strings.ToLower(labels[len(labels)-1])
	if digits, ok := strings.CutPrefix(last, "0x"); ok {
		_, err := strconv.ParseUint(digits, 16, 64)
		return digits == "" || err == nil
	}
	return last != "" && strings.Trim(last, "0123456789") == ""
}

// newClient returns a client that connects to allowed addresses only, on every
// hop, and that brings nothing along: no proxy, no cookies, no credentials.
func newClient(allowed func(netip.Addr) bool) *http.Client {
	dialer := &net.Dialer{Control: func(_, address string, _ syscall.RawConn) error {
		dialled, err := netip.ParseAddrPort(address)
		if err != nil || !allowed(dialled.Addr()) {
			return fmt.Errorf("%s is not an address of the public internet: %w", address, errAddress)
		}
		return nil
	}}
	return &http.Client{
		Transport: &http.Transport{
			DialContext:            dialer.DialContext,
			ForceAttemptHTTP2:      true,
			DisableKeepAlives:      true,
			TLSHandshakeTimeout:    10 * time.Second,
			MaxResponseHeaderBytes: 64 << 10,
		},
	}
}

func (m *manager) download(ctx context.Context, r request) (any, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, m.timeout, fmt.Errorf("it took longer than %s", m.timeout))
	defer cancel()
	address, err := m.address(r.URL)
	if err != nil {
		return nil, err
	}
	target, err := r.disk.Place(ctx, r.Path, nameIn(address))
	if err != nil {
		return nil, err
	}
	response, err := m.fetch(ctx, address)
	if err != nil {
		return nil, fmt.Errorf("download from %s: %w", disks.Quoted(address.Host), err)
	}
	defer response.Body.Close()
	body := &limited{from: response.Body, limit: m.maxDownload, ctx: ctx}
	free, err := r.disk.FreeName(ctx, target)
	if err != nil {
		return nil, err
	}
	if err := r.disk.Create(ctx, free, body); err != nil {
		return nil, fmt.Errorf("download from %s: %w", disks.Quoted(address.Host), err)
	}
	return downloadedOutput{URL: r.URL, Disk: r.Disk, Path: free, Size: body.read}, nil
}

// fetch asks for a file, through redirects, and returns a response that has it.
func (m *manager) fetch(ctx context.Context, address *url.URL) (*http.Response, error) {
	client := *m.client
	client.CheckRedirect = func(next *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects {
			return fmt.Errorf("more than %d redirects", maxRedirects)
		}
		if _, err := m.address(next.URL.String()); err != nil {
			return fmt.Errorf("it redirects: %w", err)
		}
		// The address that redirects, with what may be secret in it, is not the next one's business.
		next.Header.Del("Referer")
		return nil
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("User-Agent", "Countersign")
	response, err := client.Do(request)
	if err != nil {
		return nil, reason(ctx, err)
	}
	if response.StatusCode != http.StatusOK {
		_ = response.Body.Close()
		return nil, fmt.Errorf("the server answered %d %s", response.StatusCode, http.StatusText(response.StatusCode))
	}
	if encoding := response.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		_ = response.Body.Close()
		return nil, fmt.Errorf("the server sent it in the encoding %q, which was not asked for", encoding)
	}
	return response, nil
}

// reason takes the whole URL, which may hold a secret, out of a client's error.
func reason(ctx context.Context, err error) error {
	if failed, ok := errors.AsType[*url.Error](err); ok {
		err = failed.Err
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return err
}

// limited counts decoded bytes, and fails once there are more than the limit.
type limited struct {
	from  io.Reader
	limit int64
	read  int64
	ctx   context.Context
}

func (l *limited) Read(p []byte) (int, error) {
	n, err := l.from.Read(p)
	l.read += int64(n)
	if l.read > l.limit {
		return 0, &attachments.TooLargeError{Limit: l.limit}
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = reason(l.ctx, err)
	}
	return n, err
}
