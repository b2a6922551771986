package harness

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/countersignhq/countersign/contract"
)

// API is a gateway, as somebody with a token uses it.
type API struct {
	base  string
	token string
	// file holds the token, where token is empty.
	file string
}

// NewAPI is the gateway at an address, with the token in the file of a data folder.
func NewAPI(base, tokenFile string) *API { return &API{base: base, file: tokenFile} }

// Answer of the gateway.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
	// Took is how long it took.
	Took time.Duration
}

// Decode reads the body.
func (a Answer) Decode(t testing.TB, into any) {
	t.Helper()
	if err := json.Unmarshal(a.Body, into); err != nil {
		t.Fatalf("the answer is not what was expected: %v: %s", err, a.Body)
	}
}

// Problem is an error of the gateway (RFC 9457).
type Problem struct {
	Status   int       `json:"status"`
	Detail   string    `json:"detail"`
	Reason   string    `json:"reason"`
	Decision *Decision `json:"decision"`
}

// Problem reads the body as one.
func (a Answer) Problem(t testing.TB) (p Problem) {
	t.Helper()
	if kind := a.Header.Get("Content-Type"); kind != "application/problem+json" {
		t.Fatalf("status %d has the content type %q: %s", a.Status, kind, a.Body)
	}
	a.Decode(t, &p)
	return p
}

// Decision is one that stands.
type Decision struct {
	Decision string    `json:"decision"`
	By       string    `json:"by"`
	Via      string    `json:"via"`
	At       time.Time `json:"at"`
	Reason   string    `json:"reason"`
}

// Do makes a request; a body that is not nil is sent as JSON.
func (a *API) Do(t testing.TB, method, path string, body any) Answer {
	t.Helper()
	answer, err := a.try(t.Context(), method, path, body)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	return answer
}

func (a *API) try(ctx context.Context, method, path string, body any) (Answer, error) {
	var content io.Reader
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return Answer{}, err
		}
		content = bytes.NewReader(encoded)
	}
	request, err := http.NewRequestWithContext(ctx, method, a.base+path, content)
	if err != nil {
		return Answer{}, err
	}
	token := a.token
	if token == "" {
		file, err := os.ReadFile(a.file)
		if err != nil {
			return Answer{}, err
		}
		token = strings.TrimSpace(string(file))
	}
	request.Header.Set("Authorization", "Bearer "+token)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	began := time.Now()
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return Answer{}, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	return Answer{Status: response.StatusCode, Header: response.Header, Body: answer, Took: time.Since(began)}, err
}

// Status of a GET without a token; 0 where nobody answers.
func (a *API) Status(path string) int {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, a.base+path, nil)
	if err != nil {
		return 0
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0
	}
	_ = response.Body.Close()
	return response.StatusCode
}

// Call is the body of POST /api/invocations.
type Call struct {
	ID         string         `json:"id,omitempty"`
	Tool       string         `json:"tool"`
	Operation  string         `json:"operation"`
	Parameters map[string]any `json:"parameters"`
	Connector  string         `json:"connector,omitempty"`
	ThreadKey  string         `json:"thread_key,omitempty"`
	Requester  string         `json:"requester,omitempty"`
}

// File is a call of the File Manager on the disk local.
func File(operation, path string, more ...string) Call {
	parameters := map[string]any{"disk": "local", "path": path}
	for n := 0; n+1 < len(more); n += 2 {
		parameters[more[n]] = more[n+1]
	}
	return Call{Tool: "file_manager", Operation: operation, Parameters: parameters}
}

// In puts a call into a conversation.
func (c Call) In(connector, key string) Call {
	c.Connector, c.ThreadKey = connector, key
	return c
}

// Invoke starts an invocation and returns its id. While Temporal is too busy to take it (503) it
// is sent again, as the gateway asks for; so a call without an id is given one.
func (a *API) Invoke(t testing.TB, call Call) string {
	t.Helper()
	if call.ID == "" {
		call.ID = "e2e-" + rand.Text()
	}
	answer := Until(t, "an invocation is taken", func() (Answer, bool) {
		answer := a.Do(t, http.MethodPost, "/api/invocations", call)
		return answer, answer.Status != http.StatusServiceUnavailable
	})
	if answer.Status != http.StatusAccepted {
		t.Fatalf("start an invocation: status %d: %s", answer.Status, answer.Body)
	}
	var started struct {
		ID string `json:"id"`
	}
	answer.Decode(t, &started)
	return started.ID
}

// State is how an invocation stands now.
func (a *API) State(t testing.TB, id string) (state contract.State) {
	t.Helper()
	answer := a.Do(t, http.MethodGet, "/api/invocations/"+url.PathEscape(id), nil)
	if answer.Status != http.StatusOK {
		t.Fatalf("look at %s: status %d: %s", id, answer.Status, answer.Body)
	}
	answer.Decode(t, &state)
	return state
}

// Result waits for an invocation's end.
func (a *API) Result(t testing.TB, id string) contract.State {
	t.Helper()
	return Until(t, "the end of "+id, func() (state contract.State, ended bool) {
		answer, err := a.try(t.Context(), http.MethodGet, "/api/invocations/"+url.PathEscape(id)+"?wait=10s", nil)
		if err != nil || answer.Status != http.StatusOK {
			return state, false
		}
		answer.Decode(t, &state)
		return state, state.Status != "running" && state.Status != "waiting"
	})
}

// Question waits until a question is out, and returns it.
func (a *API) Question(t testing.TB, id string) contract.Approval {
	t.Helper()
	return Until(t, "the question of "+id+" is out", func() (question contract.Approval, asked bool) {
		answer, err := a.try(t.Context(), http.MethodGet, "/api/approvals/"+url.PathEscape(id), nil)
		if err != nil || answer.Status != http.StatusOK {
			return question, false
		}
		answer.Decode(t, &question)
		return question, question.ExpiresAt != nil
	})
}

// Pending lists the questions that are open, once an engine answers.
func (a *API) Pending(t testing.TB) []contract.Approval {
	t.Helper()
	answer := Until(t, "the pending questions are listed", func() (Answer, bool) {
		answer := a.Do(t, http.MethodGet, "/api/approvals?status=pending", nil)
		return answer, answer.Status != http.StatusServiceUnavailable
	})
	if answer.Status != http.StatusOK {
		t.Fatalf("list the pending questions: status %d: %s", answer.Status, answer.Body)
	}
	var list struct {
		Approvals []contract.Approval `json:"approvals"`
	}
	answer.Decode(t, &list)
	return list.Approvals
}

// Say is the body of a decision.
type Say struct {
	Decision   string `json:"decision"`
	Reason     string `json:"reason,omitempty"`
	DecisionID string `json:"decision_id,omitempty"`
}

// Decide answers a question.
func (a *API) Decide(t testing.TB, id string, say Say) Answer {
	t.Helper()
	return a.Do(t, http.MethodPost, "/api/approvals/"+url.PathEscape(id)+"/decision", say)
}

// Insist is Decide that sends a decision again, under its decision_id, while Temporal is too
// busy to take it (503), as the gateway asks for.
func (a *API) Insist(t testing.TB, id string, say Say) Answer {
	t.Helper()
	if say.DecisionID == "" {
		t.Fatal("a decision that is sent again needs a decision_id")
	}
	return Until(t, "a decision is taken", func() (Answer, bool) {
		answer := a.Decide(t, id, say)
		return answer, answer.Status != http.StatusServiceUnavailable
	})
}
