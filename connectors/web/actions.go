package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/gateway"
)

const (
	maxText  = 64 << 10
	maxFiles = 50
)

func (p *page) receivedAt(r *http.Request) time.Time {
	if at, ok := gateway.ReceivedAt(r.Context()); ok {
		return at
	}
	return p.Now().UTC()
}

// wantsJSON tells our scripts, which stay on their page, from a form that leads to the next.
func wantsJSON(r *http.Request) bool { return r.Header.Get("Accept") == "application/json" }

// back leads the browser back to the conversation with one line about what happened.
func (p *page) back(w http.ResponseWriter, r *http.Request, kind, text string) {
	if wantsJSON(r) {
		status := http.StatusOK
		if kind == "bad" {
			status = http.StatusUnprocessableEntity
		}
		answer(w, status, flash{kind, text})
		return
	}
	if text != "" {
		p.cookies.setFlash(w, kind, text)
	}
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

func answer(w http.ResponseWriter, status int, said flash) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(said) // the browser is gone: nobody is left to tell
}

// errStale: a form without this session's CSRF token.
var errStale = errors.New("the form was not from this page")

// tooMuch says in words what is wrong with a message.
type tooMuch string

func (t tooMuch) Error() string { return string(t) }

func (p *page) postMessage(w http.ResponseWriter, r *http.Request) {
	v, received := visitorOf(r), p.receivedAt(r)
	r.Body = http.MaxBytesReader(w, r.Body, p.MaxUpload)
	message, err := p.readForm(r, v)
	if err == nil {
		message.ReceivedAt = received
		err = p.deliver(r.Context(), message)
	}
	var wrong tooMuch
	var large *http.MaxBytesError
	switch {
	case errors.Is(err, errStale):
		p.stale(w)
	case errors.As(err, &wrong):
		p.back(w, r, "bad", wrong.Error())
	case errors.As(err, &large):
		p.back(w, r, "bad", "That is too large to send.")
	case err != nil:
		p.back(w, r, "bad", p.explain(r, err))
	default:
		p.back(w, r, "", "")
	}
}

// deliver hands the message over first: the feed must not show what was not taken.
func (p *page) deliver(ctx context.Context, message chat.Message) error {
	limited, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if err := p.Engine.Deliver(limited, message); err != nil {
		return err
	}
	_, err := p.Store.Append(ctx, message.Thread.Key, Entry{
		ID: "said:" + message.UUID, Kind: Said, At: message.ReceivedAt, From: message.From.Label(),
		Text: message.Text, UUID: message.UUID, Files: message.Files,
	})
	return err
}

// readForm streams the form. Its CSRF token comes first, so that nothing is stored for a
// form that is not ours, and its nonce second: the same form sent twice is one message.
func (p *page) readForm(r *http.Request, v visitor) (chat.Message, error) {
	message := chat.Message{Thread: v.thread(), From: v.person}
	parts, err := r.MultipartReader()
	if err != nil {
		return message, errStale
	}
	for position := 0; ; position++ {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = p.readPart(r.Context(), v, part, position, &message)
		}
		if err != nil {
			return message, fmt.Errorf("read the form: %w", err)
		}
	}
	switch {
	case message.UUID == "":
		return message, errStale
	case strings.TrimSpace(message.Text) == "" && len(message.Files) == 0:
		return message, tooMuch("Write something, or choose a file.")
	}
	return message, nil
}

func (p *page) readPart(ctx context.Context, v visitor, part *multipart.Part, position int, message *chat.Message) error {
	name := part.FormName()
	if name == "files" {
		switch {
		case position < 2:
			return errStale
		case part.FileName() == "": // an empty file input
			return nil
		case len(message.Files) == maxFiles:
			return tooMuch(fmt.Sprintf("More than %d files in one message; send several.", maxFiles))
		}
		file, err := p.Attachments.Save(ctx, message.UUID, part.FileName(), part)
		if err == nil {
			message.Files = append(message.Files, file)
		}
		return err
	}
	content, err := io.ReadAll(io.LimitReader(part, maxText+1))
	switch {
	case err != nil:
		return err
	case len(content) > maxText:
		return tooMuch("That is more than 64 KiB of text; send it as a file.")
	case position == 0:
		if name != "csrf" || p.cookies.forged(v.session, string(content)) {
			return errStale
		}
	case position == 1:
		if name != "nonce" {
			return errStale
		}
		message.UUID = uuid.NewSHA1(uuid.NewSHA1(uuid.NameSpaceOID, []byte(v.ID)), content).String()
		message.EventID = message.UUID
	case name == "text":
		message.Text = strings.ReplaceAll(string(content), "\r\n", "\n") // a browser's line ends (RFC 7578)
	}
	return nil
}

var decisions = map[chat.Action]string{
	chat.ActionYes: chat.Allow, chat.ActionAlways: chat.AllowAlways, chat.ActionNo: chat.Deny,
	chat.ActionDone: "done", chat.ActionCancel: "cancel",
}

func (p *page) postDecision(w http.ResponseWriter, r *http.Request) {
	v, received := visitorOf(r), p.receivedAt(r)
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if p.cookies.forged(v.session, r.PostFormValue("csrf")) {
		p.stale(w)
		return
	}
	id, decision := r.PostFormValue("invocation"), decisions[chat.Action(r.PostFormValue("action"))]
	if id == "" || decision == "" {
		p.stale(w)
		return
	}
	given := contract.Answer{
		ID: chat.Web + ":" + v.ID + ":" + r.PostFormValue("nonce"), Decision: decision, By: v.person, Via: chat.Web,
		ReceivedAt: received, Entitled: v.owner,
	}
	if r.PostFormValue("nonce") == "" {
		given.ID = p.NewUUID()
	}
	if decision == chat.Deny {
		given.Reason = strings.TrimSpace(r.PostFormValue("reason"))
	}
	if len(given.Reason) > maxText {
		p.back(w, r, "bad", "That is more than 64 KiB of reason; nothing was decided.")
		return
	}
	if r.PostFormValue("here") != "" { // a button in the conversation itself, as in any chat
		given.Thread = v.thread()
	}
	verdict, err := p.Engine.Decide(r.Context(), id, given)
	if errors.Is(err, gateway.ErrNoEngine) {
		verdict, err = chat.Verdict{Standing: chat.StandingKept}, nil
	}
	if err != nil {
		p.back(w, r, "bad", p.explain(r, err))
		return
	}
	kind, text := say(verdict)
	p.told(w, r, verdict.Standing, flash{kind, text})
}

// told answers a decision. A tab whose question has ended meanwhile gets the conversation as it is
// now, with the status that the API would give (CONTRACT §9): it has changed.
func (p *page) told(w http.ResponseWriter, r *http.Request, standing chat.Standing, said flash) {
	status := map[chat.Standing]int{
		chat.StandingDecided: http.StatusConflict, chat.StandingClosed: http.StatusGone,
		chat.StandingRefused: http.StatusForbidden, chat.StandingInvalid: http.StatusUnprocessableEntity,
		chat.StandingUnknown: http.StatusNotFound,
	}[standing]
	switch {
	case status == 0 && !wantsJSON(r):
		p.back(w, r, said.Kind, said.Text)
	case status == 0:
		answer(w, http.StatusOK, said)
	case wantsJSON(r):
		answer(w, status, said)
	default:
		p.respondConversation(w, r, status, &said)
	}
}

// say tells what became of an answer. What it does not know is never good news.
func say(verdict chat.Verdict) (kind, text string) {
	switch verdict.Standing {
	case chat.StandingTaken:
		if d := verdict.Decision; d != nil && d.Decision == chat.Deny {
			return "good", "You said no. It is not run."
		}
		if d := verdict.Decision; d != nil && d.Decision == "done" {
			return "good", "Done, thank you."
		}
		if d := verdict.Decision; d != nil && d.Decision == "cancel" {
			return "good", "Cancelled. The step did not happen."
		}
		return "good", "Taken."
	case chat.StandingNoted:
		if verdict.Reason != "" {
			return "note", "Still open. Missing: " + verdict.Reason
		}
		return "note", "Noted. Others have to agree too."
	case chat.StandingKept:
		return "note", "Kept with its time: no engine answers now, and it counts as soon as one does."
	case chat.StandingDecided:
		if d := verdict.Decision; d != nil {
			return "note", fmt.Sprintf("Changed: already decided by %s at %s: %s.", d.By, d.At.UTC().Format("15:04:05 MST"), d.Decision)
		}
		return "note", "Changed: already decided."
	case chat.StandingClosed:
		return "bad", "Changed: the question ended before (" + verdict.Reason + "). Nothing was run on this answer."
	case chat.StandingRefused:
		return "bad", "You may not answer this question."
	case chat.StandingInvalid:
		return "bad", "This answer is not offered here."
	case chat.StandingUnknown:
		return "bad", "There is no such question."
	default:
		return "bad", "The engine's answer was not understood. Look at the call before you try again."
	}
}

// pathValue is a part of the path, unescaped where chi matched the escaped path.
func pathValue(r *http.Request, name string) string {
	value := chi.URLParam(r, name)
	if r.URL.RawPath == "" {
		return value
	}
	if plain, err := url.PathUnescape(value); err == nil {
		return plain
	}
	return value
}
