package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"

	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/gateway"
)

// chosen is the gateway's address as somebody has named it; empty where nobody has.
func (s *starter) chosen() string {
	return strings.TrimRight(cmp.Or(s.url, s.Getenv("COUNTERSIGN_URL")), "/")
}

// base is the gateway's address.
func (s *starter) base() string {
	if address := s.chosen(); address != "" {
		return address
	}
	if address, ok := GatewayAt(cmp.Or(s.HTTPAddr, s.Getenv("COUNTERSIGN_HTTP_ADDR"))); ok {
		return address
	}
	return "http://127.0.0.1:8080"
}

// GatewayAt is where a gateway that listens at host:port answers from this machine; ok is
// false where that does not say, as with port 0.
func GatewayAt(addr string) (address string, ok bool) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil || port == "0" {
		return "", false
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1" // listens everywhere, so here too
	}
	return "http://" + net.JoinHostPort(host, port), true
}

func (s *starter) dataDir() string {
	return cmp.Or(s.DataDir, s.Getenv("COUNTERSIGN_DATA_DIR"), ".countersign")
}

func (s *starter) token() (string, error) {
	if token := strings.TrimSpace(s.Getenv("COUNTERSIGN_TOKEN")); token != "" {
		return token, nil
	}
	path := filepath.Join(s.dataDir(), gateway.TokenFile)
	content, err := os.ReadFile(path)
	if err != nil {
		return "", failed("there is no token: set COUNTERSIGN_TOKEN, or run where the gateway's data folder is (%s is not there)", path)
	}
	return strings.TrimSpace(string(content)), nil
}

// problem is an answer that says no.
type problem struct{ gateway.Problem }

func (p *problem) Error() string { return p.Detail }

// call sends a request and reads the answer, a JSON document, if into is not nil.
// The error of a refusal is a *problem.
func (s *starter) call(ctx context.Context, method, path string, body, into any) (status int, err error) {
	var content io.Reader
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return 0, failed("the request cannot be written as JSON: %v", err)
		}
		content = bytes.NewReader(encoded)
	}
	response, err := s.open(ctx, method, path, content)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return response.StatusCode, failed("the gateway's answer broke off: %v", err)
	}
	if into != nil && len(answer) > 0 {
		if err := json.Unmarshal(answer, into); err != nil {
			return response.StatusCode, failed("%s does not answer like a Countersign gateway", s.base())
		}
	}
	return response.StatusCode, nil
}

// open sends a request; the caller closes the body of the answer, which is a success.
func (s *starter) open(ctx context.Context, method, path string, body io.Reader) (*http.Response, error) {
	token, err := s.token()
	if err != nil {
		return nil, err
	}
	address := path
	if !strings.Contains(path, "://") {
		address = s.base() + path
	}
	request, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return nil, misused("the gateway's address is none: %v", err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := s.HTTP.Do(request)
	if err != nil {
		return nil, s.unreachable(ctx, err)
	}
	if response.StatusCode < 400 {
		return response, nil
	}
	defer response.Body.Close()
	var refused problem
	content, _ := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if json.Unmarshal(content, &refused.Problem) != nil || refused.Detail == "" {
		return nil, failed("%s answered %s; is it a Countersign gateway?", s.base(), response.Status)
	}
	refused.Status = response.StatusCode
	return nil, &refused
}

func (s *starter) unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return failed("interrupted; what was started goes on, and questions stay open")
	}
	var inner *url.Error
	if errors.As(err, &inner) {
		err = inner.Err // without the address, which is named below
	}
	return failed("no gateway answers at %s (%v). Start one with `make run`, or set COUNTERSIGN_URL.", s.base(), err)
}

// plain turns a refusal into an exit code for a person.
func plain(err error) error {
	var refused *problem
	if errors.As(err, &refused) {
		return failed("%s", refused.Detail)
	}
	return err
}

func invocationPath(id string) string { return "/api/invocations/" + url.PathEscape(id) }

// wait asks for an invocation until it has ended or the time (0: no limit) is over; told
// is called with every state on the way.
func (s *starter) wait(ctx context.Context, id string, limit time.Duration, told func(contract.State)) (contract.State, error) {
	deadline := s.Now().Add(limit)
	pause := "1s" // first, so that a question is shown soon
	for {
		if limit > 0 {
			left := deadline.Sub(s.Now())
			if whole, _ := time.ParseDuration(pause); left < whole {
				pause = max(left, 0).String()
			}
		}
		var state contract.State
		if _, err := s.call(ctx, http.MethodGet, invocationPath(id)+"?wait="+pause, nil, &state); err != nil {
			return state, err
		}
		if ended(state.Status) {
			return state, nil
		}
		told(state)
		if limit > 0 && !s.Now().Before(deadline) {
			return state, nil
		}
		if err := s.Sleep(ctx, 50*time.Millisecond); err != nil { // should the gateway answer at once
			return state, failed("interrupted; what was started goes on, and questions stay open")
		}
		if pause = "30s"; state.Approval == nil && state.Handoff == nil {
			pause = "2s" // it may still come to a question
		}
	}
}

func ended(status string) bool { return status != "" && status != "waiting" && status != "running" }

// about tells where Temporal's Web UI is.
type about struct {
	UIURL     string `json:"ui_url"`
	Namespace string `json:"namespace"`
	URL       string `json:"url"`
}

func (s *starter) about(ctx context.Context) (about, error) {
	var a about
	_, err := s.call(ctx, http.MethodGet, "/api/about", nil, &a)
	return a, err
}

func (a about) workflow(id string) string {
	return gateway.WorkflowURL(a.UIURL, a.Namespace, contract.InvocationID(id))
}

// show prints as JSON, or as text by the function.
func (s *starter) show(document any, text func(out *printer)) error {
	out := &printer{to: s.Stdout}
	if s.output == "json" {
		var encoded bytes.Buffer
		encoder := json.NewEncoder(&encoded)
		encoder.SetIndent("", "  ")
		encoder.SetEscapeHTML(false)
		if out.err = encoder.Encode(document); out.err == nil {
			_, out.err = io.WriteString(s.Stdout, harmlessJSON(encoded.String()))
		}
	} else {
		text(out)
	}
	if out.err != nil {
		return failed("cannot print: %v", out.err)
	}
	return nil
}

// printer prints until something goes wrong.
type printer struct {
	to  io.Writer
	err error
}

func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintln(p.to, harmless(fmt.Sprintf(format, args...)))
	}
}

// raw prints what was made harmless before.
func (p *printer) raw(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.to, format+"\n", args...)
	}
}

// harmless shows control and direction characters as escapes: what an agent or a stranger
// wrote must not rewrite the terminal. Line ends of Windows become plain ones.
func harmless(text string) string {
	return escaped(strings.ReplaceAll(text, "\r\n", "\n"), `\u{%04X}`)
}

// harmlessJSON is the same in JSON's own escapes; encoding/json leaves what lies above U+007E.
func harmlessJSON(document string) string { return escaped(document, `\u%04x`) }

func escaped(text, form string) string {
	const joiner = '\u200d' // joins emoji
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\n', r == '\t', r == joiner, !unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp):
			b.WriteRune(r)
		case r > 0xFFFF && form == `\u%04x`: // JSON writes two of them (RFC 8259 §7)
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, form+form, high, low)
		default:
			fmt.Fprintf(&b, form, r)
		}
	}
	return b.String()
}
