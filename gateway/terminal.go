package gateway

import (
	"net/http"
	"strings"

	"github.com/countersignhq/countersign/chat"
)

// postTerminal takes a line typed in `starter chat` and returns the answer. The outgoing
// files were moved to Delivered before their outbound folder went; the client fetches
// them, and then deletes them there.
func (g *gateway) postTerminal(w http.ResponseWriter, r *http.Request) {
	var sent struct {
		User string `json:"user"`
		Text string `json:"text"`
	}
	err := decode(w, r, &sent)
	switch {
	case err != nil:
	case sent.User == "":
		err = problem(http.StatusUnprocessableEntity, "user is missing: the name of the shell's user")
	case len(sent.Text) > maxText:
		err = tooLong()
	case strings.TrimSpace(sent.Text) == "":
		err = problem(http.StatusUnprocessableEntity, "text is missing: what to say")
	default:
		err = checkName("user", sent.User)
	}
	if err != nil {
		g.failed(w, r, err)
		return
	}
	uuid := g.NewUUID()
	message := chat.Message{
		UUID: uuid, EventID: uuid, Text: sent.Text, ReceivedAt: g.receivedAt(r), From: callerOf(r).person,
		Thread: chat.Thread{Connector: chat.Terminal, Key: "terminal:" + sent.User},
	}
	result, err := g.converse(r.Context(), message)
	if err != nil {
		g.failed(w, r, err)
		return
	}
	respond(w, http.StatusOK, g.answer(r, message, result, "/api/terminal/files/"))
}

func (g *gateway) showTerminalFile(w http.ResponseWriter, r *http.Request) {
	if g.Delivered == nil {
		noSuchFile(w)
		return
	}
	uuid, name := pathValue(r, "uuid"), pathValue(r, "name")
	content, size, err := g.Delivered.Open(r.Context(), chat.Terminal, uuid, name)
	g.sendFile(w, r, name, content, size, err)
}

func (g *gateway) deleteTerminalFiles(w http.ResponseWriter, r *http.Request) {
	if g.Delivered != nil {
		if err := g.Delivered.Remove(r.Context(), chat.Terminal, pathValue(r, "uuid")); err != nil {
			g.failed(w, r, err)
			return
		}
	}
	w.WriteHeader(http.StatusNoContent)
}
