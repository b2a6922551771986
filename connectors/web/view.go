package web

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/gateway"
)

//go:embed templates
var templateFiles embed.FS

var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"clock":  func(t time.Time) string { return t.UTC().Format("15:04") },
	"stamp":  func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") },
	"rfc":    func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
	"escape": url.PathEscape,
	"size":   gateway.Size,
}).ParseFS(templateFiles, "templates/*.html"))

// view is what the templates see.
type view struct {
	Title   string
	Person  string
	Owner   bool
	CSRF    string
	Nonce   string
	UIURL   string
	Flash   *flash
	Problem string
	// Away says why questions cannot be listed now.
	Away    string
	Feed    []line
	Others  []question
	Details *details
	History []row
	// Head and Text are of a page that only says something.
	Head, Text string
}

// line is one entry of the feed.
type line struct {
	Entry
	Question *question
}

// question is an open question with its buttons, or what became of it.
type question struct {
	ID      string
	Text    string
	Closed  string
	Buttons []chat.Button
	Expires time.Time
	// Here: it is asked in this conversation.
	Here  bool
	Where string
	Who   string // who asked for it
	What  string // tool.operation
	// Parameters in full, indented.
	Parameters string
	Steps      []string
	Missing    string
	CSRF       string
	Nonce      string
}

type details struct {
	contract.State
	Parameters string
	Output     string
	UI         string
	Question   *question
}

type row struct {
	contract.State
	UI string
}

func (p *page) render(w http.ResponseWriter, status int, name string, v view) {
	var page bytes.Buffer // a template that fails halfway must not look like a page
	if err := templates.ExecuteTemplate(&page, name, v); err != nil {
		p.Logger.Error("render a page", "template", name, "error", err)
		http.Error(w, "something went wrong here; the gateway's log says what", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = page.WriteTo(w) // the browser is gone: nobody is left to tell
}

func (p *page) trouble(w http.ResponseWriter, status int, head, text string) {
	p.render(w, status, "trouble", view{Title: head, Head: head, Text: text})
}

func (p *page) base(v visitor, title string) view {
	return view{Title: title, Person: v.person.Label(), Owner: v.owner, CSRF: p.cookies.token(v.session), Nonce: p.NewUUID(), UIURL: p.UIURL}
}

func (p *page) showConversation(w http.ResponseWriter, r *http.Request) {
	shown, err := p.conversation(r)
	if err != nil {
		p.trouble(w, http.StatusInternalServerError, "The conversation cannot be read", p.explain(r, err))
		return
	}
	shown.Flash = p.cookies.takeFlash(w, r)
	p.render(w, http.StatusOK, "conversation", shown)
}

// showLive is the part of the conversation that changes; assets/page.js swaps it in.
func (p *page) showLive(w http.ResponseWriter, r *http.Request) {
	shown, err := p.conversation(r)
	if err != nil {
		p.trouble(w, http.StatusInternalServerError, "The conversation cannot be read", p.explain(r, err))
		return
	}
	p.render(w, http.StatusOK, "live", shown)
}

func (p *page) conversation(r *http.Request) (view, error) {
	v := visitorOf(r)
	shown := p.base(v, "Conversation")
	entries, err := p.Store.Entries(r.Context(), v.ID, 200)
	if err != nil {
		return shown, err
	}
	pending, err := p.Engine.Pending(r.Context())
	if err != nil {
		shown.Away = p.explain(r, err) // the feed is there all the same
	}
	open := map[string]question{}
	for _, state := range pending {
		q, ok := p.question(v, state)
		if !ok {
			continue
		}
		open[q.ID] = q
	}
	for _, entry := range entries {
		next := line{Entry: entry}
		if entry.Card != nil {
			q := p.carded(v, entry, open)
			delete(open, q.ID)
			next.Question = &q
		}
		shown.Feed = append(shown.Feed, next)
	}
	for _, state := range pending { // in the order they were asked
		if q, ok := open[state.ID]; ok && (q.Here || v.owner) {
			shown.Others = append(shown.Others, q)
		}
	}
	return shown, nil
}

// carded is a question as its card in the feed says, with what the engine adds.
func (p *page) carded(v visitor, entry Entry, open map[string]question) question {
	card := entry.Card
	q := question{ID: card.Invocation, Text: card.Text, Closed: card.Closed, Expires: card.Expires, Here: true}
	if live, ok := open[card.Invocation]; ok && card.Closed == "" {
		live.Text, live.Here = card.Text, true
		if len(card.Buttons) > 0 {
			live.Buttons = card.Buttons
		}
		q = live
	} else if card.Closed == "" {
		q.Buttons = card.Buttons
	}
	q.CSRF, q.Nonce = p.cookies.token(v.session), p.NewUUID()
	return q
}

// question makes a pending state into a question; false for one that asks nothing.
func (p *page) question(v visitor, state contract.State) (question, bool) {
	q := question{ID: state.ID, What: state.Tool + "." + state.Operation, Who: state.Requester, CSRF: p.cookies.token(v.session), Nonce: p.NewUUID()}
	where := state.Thread
	switch {
	case state.Handoff != nil && state.Handoff.Status == "pending":
		q.Text, q.Missing = state.Handoff.Reason, state.Handoff.Missing
		for _, step := range state.Handoff.Steps {
			q.Steps = append(q.Steps, step.Text)
		}
		if state.Handoff.ExpiresAt != nil {
			q.Expires = *state.Handoff.ExpiresAt
		}
		q.Buttons = []chat.Button{{Label: "Done", Action: chat.ActionDone}, {Label: "Cancel", Action: chat.ActionCancel}}
	case state.Approval != nil && state.Approval.Status == "pending":
		a := state.Approval
		q.Text, q.Parameters = a.Prompt, indent(a.Parameters)
		where = chat.Thread{Connector: a.Connector, Key: a.ThreadKey}
		if a.ExpiresAt != nil {
			q.Expires = *a.ExpiresAt
		}
		q.Buttons = []chat.Button{{Label: "Yes", Action: chat.ActionYes}, {Label: "No", Action: chat.ActionNo}}
		if a.Always {
			q.Buttons = append(q.Buttons, chat.Button{Label: "Always allow", Action: chat.ActionAlways})
		}
	default:
		return q, false
	}
	q.Here, q.Where = where == v.thread(), where.String()
	return q, true
}

// showInvocation is one call with every value in full; others' calls are for owners.
func (p *page) showInvocation(w http.ResponseWriter, r *http.Request) {
	v := visitorOf(r)
	state, err := p.Engine.State(r.Context(), pathValue(r, "id"), 0)
	if err != nil {
		p.trouble(w, http.StatusNotFound, "The call cannot be shown", p.explain(r, err))
		return
	}
	asked := state.Approval != nil && (chat.Thread{Connector: state.Approval.Connector, Key: state.Approval.ThreadKey}) == v.thread()
	if !v.owner && !asked && state.Thread != v.thread() {
		p.trouble(w, http.StatusNotFound, "The call cannot be shown", "There is no such call in this conversation.")
		return
	}
	shown := p.base(v, state.Tool+"."+state.Operation)
	shown.Details = &details{State: state, Output: indent(state.Output), UI: p.workflow(state.ID)}
	if state.Approval != nil {
		shown.Details.Parameters = indent(state.Approval.Parameters)
	}
	if q, ok := p.question(v, state); ok {
		shown.Details.Question = &q
	}
	p.render(w, http.StatusOK, "invocation", shown)
}

func (p *page) showHistory(w http.ResponseWriter, r *http.Request) {
	v := visitorOf(r)
	if !v.owner {
		p.trouble(w, http.StatusForbidden, "Only an owner sees all calls", "Your own are in the conversation.")
		return
	}
	states, err := p.Engine.Invocations(r.Context(), 100)
	if err != nil {
		p.trouble(w, http.StatusServiceUnavailable, "The history cannot be read now", p.explain(r, err))
		return
	}
	shown := p.base(v, "History")
	for _, state := range states {
		shown.History = append(shown.History, row{State: state, UI: p.workflow(state.ID)})
	}
	p.render(w, http.StatusOK, "history", shown)
}

func (p *page) workflow(id string) string {
	return gateway.WorkflowURL(p.UIURL, p.Namespace, contract.InvocationID(id))
}

func indent(raw json.RawMessage) string {
	if len(raw) == 0 || strings.TrimSpace(string(raw)) == "null" {
		return ""
	}
	var pretty bytes.Buffer
	if json.Indent(&pretty, raw, "", "  ") != nil {
		return string(raw)
	}
	return visible(pretty.String())
}

// visible shows characters that cannot be seen, or that turn the text around, as escapes:
// the person must read what the tool gets.
func visible(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r == '\n' || unicode.IsPrint(r) && !unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) {
			b.WriteRune(r)
			continue
		}
		fmt.Fprintf(&b, `\u{%04X}`, r)
	}
	return b.String()
}
