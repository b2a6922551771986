package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
)

// page is a browser on the web page: it signs in, writes, and presses the buttons; what the page
// would show it hears from the page's own live feed.
type page struct {
	base  string
	http  *http.Client
	csrf  string
	posts chan post
	// told is filled at each event: then the page fetches again what it shows.
	told  chan struct{}
	nonce atomic.Int64
	// thread is what the feed says that this conversation is.
	thread atomic.Pointer[chat.Thread]
	end    context.CancelFunc
	ended  chan struct{}
}

var csrfField = regexp.MustCompile(`name="csrf" value="([^"]+)"`)

// signIn opens the page and signs in.
func (r *rig) signIn(ctx context.Context) (*page, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	p := &page{base: r.gateway.base, posts: make(chan post, 64), told: make(chan struct{}, 1), ended: make(chan struct{})}
	p.http = &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if err := p.read(ctx, "/signin"); err != nil {
		return nil, err
	}
	if err := p.form(ctx, "/signin", url.Values{"csrf": {p.csrf}, "token": {token}}); err != nil {
		return nil, fmt.Errorf("sign in: %w", err)
	}
	if err := p.read(ctx, "/"); err != nil {
		return nil, err
	}
	return p, nil
}

// openPage signs in and listens until close.
func (r *rig) openPage(ctx context.Context) (*page, error) {
	p, err := r.signIn(ctx)
	if err != nil {
		return nil, err
	}
	ctx, p.end = context.WithCancel(ctx)
	feed, err := p.send(ctx, http.MethodGet, "/events", "", nil, http.StatusOK) //nolint:bodyclose // listen closes it
	if err != nil {
		p.end()
		return nil, fmt.Errorf("listen to the page's events: %w", err)
	}
	go p.listen(feed.Body)
	return p, nil
}

func (p *page) close() {
	p.end()
	<-p.ended
}

// send makes a request of the page's own and wants a status.
func (p *page) send(ctx context.Context, method, path, kind string, body io.Reader, want int) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, p.base+path, body) //nolint:gosec // the gateway that this program has started
	if err != nil {
		return nil, err
	}
	if kind != "" {
		request.Header.Set("Content-Type", kind)
	}
	response, err := p.http.Do(request) //nolint:gosec // the gateway that this program has started
	if err != nil {
		return nil, err
	}
	if response.StatusCode != want {
		return nil, errors.Join(fmt.Errorf("%s %s: status %d instead of %d", method, path, response.StatusCode, want), response.Body.Close())
	}
	return response, nil
}

// read loads a page for the token that its forms carry.
func (p *page) read(ctx context.Context, path string) error {
	response, err := p.send(ctx, http.MethodGet, path, "", nil, http.StatusOK)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	html, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	found := csrfField.FindSubmatch(html)
	if found == nil {
		return fmt.Errorf("the page %s has no form", path)
	}
	p.csrf = string(found[1])
	return nil
}

// form submits one; the page answers with a redirect.
func (p *page) form(ctx context.Context, path string, values url.Values) error {
	response, err := p.send(ctx, http.MethodPost, path, "application/x-www-form-urlencoded", strings.NewReader(values.Encode()), http.StatusSeeOther)
	if err != nil {
		return err
	}
	return response.Body.Close()
}

// say sends a message.
func (p *page) say(ctx context.Context, text string) error {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for _, field := range [][2]string{{"csrf", p.csrf}, {"nonce", strconv.FormatInt(p.nonce.Add(1), 10)}, {"text", text}} {
		if err := form.WriteField(field[0], field[1]); err != nil {
			return err
		}
	}
	if err := form.Close(); err != nil {
		return err
	}
	response, err := p.send(ctx, http.MethodPost, "/messages", form.FormDataContentType(), &body, http.StatusSeeOther)
	if err != nil {
		return err
	}
	return response.Body.Close()
}

// press presses Yes.
func (p *page) press(ctx context.Context, q post) error {
	return p.form(ctx, "/decisions", url.Values{
		"csrf": {p.csrf}, "nonce": {strconv.FormatInt(p.nonce.Add(1), 10)},
		"invocation": {q.invocation}, "here": {"1"}, "action": {string(chat.ActionYes)},
	})
}

func (p *page) tell() {
	select {
	case p.told <- struct{}{}:
	default: // it is going to look anyway
	}
}

// listen turns the feed's events into posts.
func (p *page) listen(feed io.ReadCloser) {
	defer close(p.ended)
	defer feed.Close()
	for lines := bufio.NewScanner(feed); lines.Scan(); {
		at := time.Now()
		data, ok := strings.CutPrefix(lines.Text(), "data:")
		if ok {
			p.tell()
		}
		var event struct {
			Kind       string      `json:"kind"`
			Invocation string      `json:"invocation"`
			Thread     chat.Thread `json:"thread"`
			Text       string      `json:"text"`
		}
		if !ok || json.Unmarshal([]byte(data), &event) != nil || event.Thread.Connector != chat.Web {
			continue // an owner's feed has everybody's
		}
		said := post{at: at, text: event.Text}
		switch event.Kind {
		case "asked":
			said.invocation = event.Invocation
		case "reply":
		default:
			continue
		}
		p.thread.Store(&event.Thread)
		select {
		case p.posts <- said:
		default: // nobody waits
		}
	}
}

// talk is the workflow id of the page's conversation.
func (p *page) talk() string { return contract.ConversationID(*p.thread.Load()) }

// pageCall: a person writes on the web page and presses its button.
func (r *rig) pageCall(ctx context.Context, p *page) (timing, error) {
	for len(p.posts) > 0 {
		<-p.posts // what is said twice, for instance
	}
	return r.do(ctx, call{
		posts: p.posts, replied: true, answer: p.press,
		talk: p.talk,
		start: func(ctx context.Context, file string) error {
			return p.say(ctx, "/file_manager delete disk=local path="+file)
		},
	})
}
