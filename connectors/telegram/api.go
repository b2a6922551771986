package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"
	"sync"
	"time"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/countersignhq/countersign/connectors/wire"
)

// maxAnswer bounds what one answer of the server may hold, in bytes.
const maxAnswer = 16 << 20

// The bounds of one call; the caller's context may be shorter.
const (
	callTimeout   = 30 * time.Second
	uploadTimeout = 10 * time.Minute
)

// params of a Bot API method.
type params = tgbotapi.Params

// api calls the Bot API. The library writes requests and reads envelopes; contexts,
// limits, classification and scrubbing, which it has not, are added here.
type api struct {
	base  string
	token string
	http  *http.Client
	scrub *strings.Replacer
}

func newAPI(base, token, webhookSecret string, client *http.Client) *api {
	// A redirect would carry the token to another host, in the Referer header.
	own := *client
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &api{base: strings.TrimRight(base, "/"), token: token, http: &own, scrub: scrubber(token, webhookSecret)}
}

// call makes one request and decodes its result into result, unless that is nil.
// Errors are *chat.Error.
func (a *api) call(ctx context.Context, method string, p params, result any) error {
	return a.callFor(ctx, callTimeout, method, p, result)
}

func (a *api) callFor(ctx context.Context, limit time.Duration, method string, p params, result any) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	bot, seen := a.bot(ctx)
	answer, err := bot.MakeRequest(method, p)
	return a.settle(ctx, method, seen, answer, err, result)
}

// upload is call with one file, streamed from content.
func (a *api) upload(ctx context.Context, method string, p params, field, name string, content io.Reader, result any) error {
	ctx, cancel := context.WithTimeout(ctx, uploadTimeout)
	defer cancel()
	bot, seen := a.bot(ctx)
	source := &gate{r: content}
	defer source.shut()
	file := tgbotapi.RequestFile{Name: field, Data: tgbotapi.FileReader{Name: name, Reader: source}}
	answer, err := bot.UploadFiles(method, p, []tgbotapi.RequestFile{file})
	return a.settle(ctx, method, seen, answer, err, result)
}

// gate ends the reading of an upload: the library reads in a goroutine that may
// outlive the call, while the caller closes the file.
type gate struct {
	mu     sync.Mutex
	r      io.Reader
	closed bool
}

func (g *gate) Read(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return 0, io.ErrClosedPipe
	}
	return g.r.Read(p)
}

// shut returns when nobody reads any more.
func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
}

// bot is a library client for one call: it carries the context, which the library's methods cannot.
func (a *api) bot(ctx context.Context) (*tgbotapi.BotAPI, *exchange) {
	seen := &exchange{ctx: ctx, client: a.http}
	bot := &tgbotapi.BotAPI{Token: a.token, Client: seen}
	bot.SetAPIEndpoint(strings.ReplaceAll(a.base, "%", "%%") + "/bot%s/%s")
	return bot, seen
}

func (a *api) settle(ctx context.Context, method string, seen *exchange, answer *tgbotapi.APIResponse, err error, result any) error {
	if err == nil && result != nil {
		if err = json.Unmarshal(answer.Result, result); err != nil {
			err = fmt.Errorf("reading the result: %w", err)
		}
	}
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return a.fail(method, seen, answer, err)
}

// file opens the download of a file_path that getFile gave.
func (a *api) file(ctx context.Context, filePath string) (*http.Response, error) {
	const op = "file download"
	if filePath == "" || path.IsAbs(filePath) || strings.Contains("/"+filePath+"/", "/../") {
		return nil, a.fail(op, &exchange{}, nil, &failure{code: http.StatusBadRequest, description: "no usable file_path"})
	}
	segments := strings.Split(filePath, "/")
	for i, s := range segments {
		segments[i] = url.PathEscape(s)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, a.base+"/file/bot"+a.token+"/"+strings.Join(segments, "/"), nil)
	if err != nil {
		return nil, a.fail(op, &exchange{}, nil, err)
	}
	seen := &exchange{ctx: ctx, client: a.http, unlimited: true}
	response, err := seen.Do(request)
	if err != nil {
		return nil, a.fail(op, seen, nil, err)
	}
	if response.StatusCode != http.StatusOK {
		_ = response.Body.Close()
		if wire.Final(response.StatusCode) {
			return nil, a.fail(op, seen, nil, &failure{code: response.StatusCode, description: "the file is not handed out"})
		}
		return nil, a.fail(op, seen, nil, errors.New("not the file"))
	}
	return response, nil
}

// exchange is one HTTP request: it adds the context and remembers what came back.
type exchange struct {
	ctx       context.Context
	client    *http.Client
	unlimited bool

	status     int
	retryAfter string
}

func (e *exchange) Do(request *http.Request) (*http.Response, error) {
	response, err := e.client.Do(request.WithContext(e.ctx))
	if err != nil {
		return nil, err
	}
	e.status = response.StatusCode
	e.retryAfter = response.Header.Get("Retry-After")
	if !e.unlimited {
		response.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(response.Body, maxAnswer), response.Body}
	}
	return response, nil
}

// asFailure is what Telegram itself said, nil if it was not Telegram that failed.
func asFailure(err error) *failure {
	var f *failure
	if errors.As(err, &f) {
		return f
	}
	return nil
}
