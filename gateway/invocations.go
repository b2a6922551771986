package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
)

// maxWait is the longest GET /api/invocations/{id}?wait= that is granted.
const maxWait = time.Minute

// invocationRequest is the body of POST /api/invocations.
type invocationRequest struct {
	ID         string          `json:"id"`
	Tool       string          `json:"tool"`
	Operation  string          `json:"operation"`
	Parameters json.RawMessage `json:"parameters"`
	Connector  string          `json:"connector"`
	ThreadKey  string          `json:"thread_key"`
	Requester  string          `json:"requester"`
}

type started struct {
	ID         string `json:"id"`
	WorkflowID string `json:"workflow_id"`
}

func (g *gateway) postInvocation(w http.ResponseWriter, r *http.Request) {
	var sent invocationRequest
	err := decode(w, r, &sent)
	if err == nil {
		err = sent.check()
	}
	var requester chat.Person
	if err == nil {
		requester, err = g.requester(callerOf(r), sent.Requester)
	}
	if err != nil {
		g.failed(w, r, err)
		return
	}
	if sent.ID == "" {
		sent.ID = ulid.Make().String()
	}
	if sent.Connector == "" {
		sent.Connector = chat.API
	}
	if sent.ThreadKey == "" {
		sent.ThreadKey = g.NewUUID()
	}
	if sent.Parameters == nil {
		sent.Parameters = json.RawMessage("{}")
	}
	ctx, cancel := context.WithTimeout(r.Context(), g.EngineTimeout)
	defer cancel()
	id, err := g.Engine.Start(ctx, contract.Invocation{
		ID: sent.ID, Tool: sent.Tool, Operation: sent.Operation, Parameters: sent.Parameters,
		Thread: chat.Thread{Connector: sent.Connector, Key: sent.ThreadKey}, Requester: requester,
	})
	if err != nil {
		g.failed(w, r, err)
		return
	}
	w.Header().Set("Location", "/api/invocations/"+url.PathEscape(id))
	respond(w, http.StatusAccepted, started{ID: id, WorkflowID: contract.InvocationID(id)})
}

var connectors = []string{chat.Telegram, chat.Slack, chat.Email, chat.API, chat.Terminal, chat.Web}

// check refuses what no invocation can be; whether the tool and its parameters exist is
// the invocation's own first step.
func (i invocationRequest) check() error {
	switch {
	case i.Tool == "":
		return problem(http.StatusUnprocessableEntity, "tool is missing; GET /api/tools lists them")
	case i.Operation == "":
		return problem(http.StatusUnprocessableEntity, "operation is missing; GET /api/tools lists them")
	case i.Connector != "" && !slices.Contains(connectors, i.Connector):
		return problem(http.StatusUnprocessableEntity, fmt.Sprintf("there is no connector %q; known are %s", i.Connector, strings.Join(connectors, ", ")))
	}
	for _, name := range [][2]string{
		{"id", i.ID}, {"tool", i.Tool}, {"operation", i.Operation}, {"thread_key", i.ThreadKey}, {"requester", i.Requester},
	} {
		if err := checkName(name[0], name[1]); err != nil {
			return err
		}
	}
	return nil
}

// requester returns the person an invocation is made for: by default the token's. An
// approver may name nobody else: a question that anyone but the requester may answer
// (`who: other`) would otherwise be theirs to ask and to answer.
func (g *gateway) requester(who caller, ref string) (chat.Person, error) {
	if ref == "" {
		return who.person, nil
	}
	person, known := g.Identity.Person(ref)
	if !known {
		connector, id, _ := strings.Cut(ref, ":")
		if id == "" || !slices.Contains(connectors, connector) {
			return person, problem(http.StatusUnprocessableEntity, fmt.Sprintf(
				"nobody in the configuration is named %q; a stranger is written connector:id, as in telegram:1001", ref))
		}
		person = chat.Person{ID: ref}
	}
	if who.role == RoleApprover && person.Key() != who.person.Key() {
		return person, problem(http.StatusForbidden, "an approver's token starts invocations for its own person only; use an owner's or an agent's token")
	}
	return person, nil
}

func (g *gateway) showInvocation(w http.ResponseWriter, r *http.Request) {
	wait, err := parseWait(r.URL.Query().Get("wait"))
	if err != nil {
		g.failed(w, r, err)
		return
	}
	state, err := g.Engine.State(r.Context(), pathValue(r, "id"), wait)
	if err != nil {
		g.failed(w, r, err)
		return
	}
	respond(w, http.StatusOK, state)
}

func parseWait(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	wait, err := time.ParseDuration(text)
	if err != nil || wait < 0 {
		return 0, problem(http.StatusUnprocessableEntity, "wait must be a duration such as 30s")
	}
	return min(wait, maxWait), nil
}

func (g *gateway) listInvocations(w http.ResponseWriter, r *http.Request) {
	limit := 50
	if text := r.URL.Query().Get("limit"); text != "" {
		number, err := strconv.Atoi(text)
		if err != nil || number < 1 || number > 1000 {
			fail(w, http.StatusUnprocessableEntity, "limit must be a number from 1 to 1000")
			return
		}
		limit = number
	}
	states, err := g.Engine.Invocations(r.Context(), limit)
	if err != nil {
		g.failed(w, r, err)
		return
	}
	respond(w, http.StatusOK, map[string]any{"invocations": list(states)})
}

// list is never null in JSON.
func list[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}
