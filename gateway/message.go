package gateway

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/google/uuid"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
)

// messageAnswer is what POST /api/message and POST /api/terminal/messages return.
type messageAnswer struct {
	Success     bool         `json:"success"`
	Text        string       `json:"text"`
	Key         string       `json:"key"`
	Attachments []attachment `json:"attachments"`
}

type attachment struct {
	Name string `json:"name"`
	Size int64  `json:"size"` // bytes
	URL  string `json:"url"`
}

// postMessage takes a message, waits for the turn that answers it, and returns the answer.
func (g *gateway) postMessage(w http.ResponseWriter, r *http.Request) {
	who := callerOf(r)
	if ok, wait := g.messages.Take(who.hash); !ok {
		seconds := int(wait.Seconds()) + 1
		w.Header().Set("Retry-After", fmt.Sprint(seconds))
		fail(w, http.StatusTooManyRequests, fmt.Sprintf(
			"more than %d messages a minute with this token (LARACLAW_WEBHOOK_RATE_LIMIT); send it again in %d seconds", g.RateLimit, seconds))
		return
	}
	message := chat.Message{
		UUID: g.NewUUID(), From: who.person, ReceivedAt: g.receivedAt(r), Thread: chat.Thread{Connector: chat.API},
	}
	spare := g.NewUUID()
	if key := r.Header.Get("Idempotency-Key"); key != "" {
		// The same key of the same sender is the same message, in the same thread, with the
		// same turn: a repeat waits for that one's answer.
		message.UUID = derived(who.hash, "message", key)
		spare = derived(who.hash, "thread", key)
	}
	message.EventID = message.UUID
	sent, err := g.readMessage(w, r, message.UUID)
	if err != nil {
		g.failed(w, r, err)
		return
	}
	message.Text, message.Files, message.Thread.Key = sent.Text, sent.files, sent.Key
	if message.Thread.Key == "" {
		message.Thread.Key = spare
	}
	result, err := g.converse(r.Context(), message)
	if err != nil {
		g.failed(w, r, err)
		return
	}
	respond(w, http.StatusOK, g.answer(r, message, result, "/api/attachments/"))
}

// converse hands over a message and waits for its turn's end.
func (g *gateway) converse(ctx context.Context, message chat.Message) (contract.TurnResult, error) {
	deliver, cancel := context.WithTimeout(ctx, g.EngineTimeout)
	defer cancel()
	if err := g.Engine.Deliver(deliver, message); err != nil {
		return contract.TurnResult{}, err
	}
	turn, cancel := context.WithTimeout(ctx, g.TurnTimeout)
	defer cancel()
	result, err := g.Engine.Turn(turn, message.UUID)
	if err != nil && ctx.Err() == nil && (turn.Err() != nil || errors.Is(err, chat.ErrUnreachable)) {
		return result, problem(http.StatusGatewayTimeout,
			"the message was taken, but its answer did not come in time; the work goes on, do not send it again (GET /api/invocations shows it)")
	}
	return result, err
}

func (g *gateway) answer(r *http.Request, message chat.Message, result contract.TurnResult, under string) messageAnswer {
	answer := messageAnswer{Success: result.Undelivered == "", Text: result.Text, Key: message.Thread.Key, Attachments: []attachment{}}
	for _, file := range result.Files {
		answer.Attachments = append(answer.Attachments, attachment{
			Name: file.Name, Size: file.Size,
			URL: g.base(r) + under + url.PathEscape(message.UUID) + "/" + url.PathEscape(file.Name),
		})
	}
	return answer
}

// base is the address under which the client reached the gateway.
func (g *gateway) base(r *http.Request) string {
	switch {
	case g.PublicURL != "":
		return strings.TrimRight(g.PublicURL, "/")
	case r.TLS != nil:
		return "https://" + r.Host
	default:
		return "http://" + r.Host
	}
}

// derived returns a uuid (RFC 9562, version 5) that is always the same for the same parts.
func derived(parts ...string) string {
	id := uuid.NameSpaceOID
	for _, part := range parts {
		id = uuid.NewSHA1(id, []byte(part))
	}
	return id.String()
}
