package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/countersignhq/countersign/contract"
)

// gateway is the HTTP side of the worker, with an owner's token.
type gateway struct {
	base, token string
	http        *http.Client
	// turnedAway counts answers 503: Temporal was too slow.
	turnedAway atomic.Int64
}

func newGateway(base, token string) *gateway {
	// The default of two idle connections would dial anew for most calls.
	transport := &http.Transport{MaxIdleConnsPerHost: 256}
	return &gateway{base: base, token: token, http: &http.Client{Transport: transport}}
}

// do makes a request and wants a status; into, unless nil, takes the answer.
func (g *gateway) do(ctx context.Context, method, path string, body any, want int, into any) error {
	status, answer, err := g.insist(ctx, method, path, body)
	switch {
	case err != nil:
		return fmt.Errorf("%s %s: %w", method, path, err)
	case status != want:
		return fmt.Errorf("%s %s: status %d instead of %d: %s", method, path, status, want, answer)
	case into == nil:
		return nil
	}
	return json.Unmarshal(answer, into)
}

// insist makes a request again where the gateway could not reach Temporal in time. Whatever is
// sent here has an id of its own, so that a repeat has no second effect (CONTRACT §§1, 8, 9).
func (g *gateway) insist(ctx context.Context, method, path string, body any) (status int, answer []byte, err error) {
	const tries = 10
	for range tries {
		status, answer, err = g.send(ctx, method, path, body)
		if err != nil || status != http.StatusServiceUnavailable {
			break
		}
		g.turnedAway.Add(1)
		if err = pause(ctx, 200*time.Millisecond); err != nil {
			break
		}
	}
	return status, answer, err
}

// send makes a request with the owner's token and, for the webhook, Telegram's secret.
func (g *gateway) send(ctx context.Context, method, path string, body any) (status int, answer []byte, err error) {
	content, err := json.Marshal(body)
	if err != nil {
		return 0, nil, err
	}
	request, err := http.NewRequestWithContext(ctx, method, g.base+path, bytes.NewReader(content)) //nolint:gosec // the gateway that this program has started
	if err != nil {
		return 0, nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+g.token)
	request.Header.Set("X-Telegram-Bot-Api-Secret-Token", secret)
	response, err := g.http.Do(request) //nolint:gosec // the gateway that this program has started
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	answer, err = io.ReadAll(response.Body)
	return response.StatusCode, answer, err
}

// webhook hands in an update as Telegram does; nil means that Temporal has it.
func (g *gateway) webhook(ctx context.Context, update map[string]any) error {
	return g.do(ctx, http.MethodPost, "/telegram/webhook", update, http.StatusOK, nil)
}

// invoke starts the deletion of a file, asked for in a Telegram chat.
func (g *gateway) invoke(ctx context.Context, chat int64, file string) (id string, err error) {
	var started struct {
		ID string `json:"id"`
	}
	err = g.do(ctx, http.MethodPost, "/api/invocations", map[string]any{
		"id": "bench-" + rand.Text(), "tool": "file_manager", "operation": "delete", "parameters": map[string]any{"disk": "local", "path": file},
		"connector": "telegram", "thread_key": fmt.Sprint(chat),
	}, http.StatusAccepted, &started)
	return started.ID, err
}

// allow decides over HTTP; kept tells that no engine answered in time, and that the decision
// counts all the same (CONTRACT §9).
func (g *gateway) allow(ctx context.Context, id string) (kept bool, err error) {
	path := "/api/approvals/" + url.PathEscape(id) + "/decision"
	status, answer, err := g.insist(ctx, http.MethodPost, path, map[string]any{"decision": "allow", "decision_id": "bench"})
	if err == nil && status != http.StatusOK && status != http.StatusAccepted {
		err = fmt.Errorf("status %d: %s", status, answer)
	}
	if err != nil {
		return false, fmt.Errorf("POST %s: %w", path, err)
	}
	return status == http.StatusAccepted, nil
}

// completed waits until an invocation has ended well.
func (g *gateway) completed(ctx context.Context, id string) error {
	var state contract.State
	if err := g.do(ctx, http.MethodGet, "/api/invocations/"+url.PathEscape(id)+"?wait=30s", nil, http.StatusOK, &state); err != nil {
		return err
	}
	if state.Status != "completed" {
		return fmt.Errorf("invocation %s is %s (%s %s)", id, state.Status, state.Code, state.Reason)
	}
	return nil
}
