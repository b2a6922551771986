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
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/gateway"
	"github.com/countersignhq/countersign/words"
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
func (p *page) back(w http.ResponseWriter, r *http.Request, kind string, line chat.Line) {
	said := p.flash(r, kind, line)
	if wantsJSON(r) {
		status := http.StatusOK
		if kind == "bad" {
			status = http.StatusUnprocessableEntity
		}
		p.answer(w, r, status, said)
		return
	}
	if said.Text != "" {
		p.cookies.setFlash(w, said)
	}
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

func (p *page) flash(r *http.Request, kind string, line chat.Line) flash {
	return flash{kind, p.say(r, line)}
}

// answer tells our scripts, which load their page again where it has another language now.
func (p *page) answer(w http.ResponseWriter, r *http.Request, status int, said flash) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Language", p.language(r))
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(said) // the browser is gone: nobody is left to tell
}

// errStale: a form without this session's CSRF token.
var errStale = errors.New("the form was not from this page")

// unfit says what is wrong with a message.
type unfit struct{ why chat.Line }

func (u unfit) Error() string { return words.Say(words.English, u.why) }

func (p *page) postMessage(w http.ResponseWriter, r *http.Request) {
	v, received := visitorOf(r), p.receivedAt(r)
	r.Body = http.MaxBytesReader(w, r.Body, p.MaxUpload)
	message, err := p.readForm(r, v)
	if err == nil {
		message.ReceivedAt = received
		err = p.deliver(r.Context(), message)
	}
	var wrong unfit
	var large *http.MaxBytesError
	switch {
	case errors.Is(err, errStale):
		p.stale(w, r)
	case errors.As(err, &wrong):
		p.back(w, r, "bad", wrong.why)
	case errors.As(err, &large):
		p.back(w, r, "bad", chat.Text(linePageTooLarge))
	case err != nil:
		p.back(w, r, "bad", p.explain(r, err))
	default:
		p.back(w, p.remember(w, r, v, message.Text), "", chat.Line{})
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
		return message, unfit{chat.Text(linePageWriteSomething)}
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
			return unfit{chat.Text(linePageTooManyFiles, "count", strconv.Itoa(maxFiles))}
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
		return unfit{chat.Text(linePageTooMuchText)}
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
		p.stale(w, r)
		return
	}
	id, decision := r.PostFormValue("invocation"), decisions[chat.Action(r.PostFormValue("action"))]
	if id == "" || decision == "" {
		p.stale(w, r)
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
		p.back(w, r, "bad", chat.Text(linePageTooMuchReason))
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
	kind, line := say(verdict)
	p.told(w, r, verdict.Standing, kind, line)
}

// told answers a decision. A tab whose question has ended meanwhile gets the conversation as it is
// now, with the status that the API would give (CONTRACT §9): it has changed.
func (p *page) told(w http.ResponseWriter, r *http.Request, standing chat.Standing, kind string, line chat.Line) {
	said := p.flash(r, kind, line)
	status := map[chat.Standing]int{
		chat.StandingDecided: http.StatusConflict, chat.StandingClosed: http.StatusGone,
		chat.StandingRefused: http.StatusForbidden, chat.StandingInvalid: http.StatusUnprocessableEntity,
		chat.StandingUnknown: http.StatusNotFound,
	}[standing]
	switch {
	case status == 0 && !wantsJSON(r):
		p.back(w, r, kind, line)
	case status == 0:
		p.answer(w, r, http.StatusOK, said)
	case wantsJSON(r):
		p.answer(w, r, status, said)
	default:
		p.respondConversation(w, r, status, &said)
	}
}

// say tells what became of an answer. What it does not know is never good news.
func say(verdict chat.Verdict) (kind string, line chat.Line) {
	switch verdict.Standing {
	case chat.StandingTaken:
		if d := verdict.Decision; d != nil && d.Decision == chat.Deny {
			return "good", chat.Text(linePageDenied)
		}
		if d := verdict.Decision; d != nil && d.Decision == "done" {
			return "good", chat.Text(linePageDone)
		}
		if d := verdict.Decision; d != nil && d.Decision == "cancel" {
			return "good", chat.Text(linePageCancelled)
		}
		return "good", chat.Text(linePageTaken)
	case chat.StandingNoted:
		if verdict.Why.ID == chat.LineStepUnchecked {
			return "note", chat.Text(linePageStillOpenUnchecked, "cause", verdict.Why.Args["cause"])
		}
		if verdict.Reason != "" {
			return "note", chat.Text(linePageStillOpen, "missing", verdict.Reason)
		}
		return "note", chat.Text(linePageNoted)
	case chat.StandingKept:
		return "note", chat.Text(linePageKept)
	case chat.StandingDecided:
		if d := verdict.Decision; d != nil {
			return "note", chat.Text(linePageDecidedBy, "by", d.By, "at", d.At.UTC().Format("15:04:05 MST"), "decision", d.Decision)
		}
		return "note", chat.Text(linePageDecidedAlready)
	case chat.StandingClosed:
		return "bad", chat.Text(linePageEnded, "reason", verdict.Reason)
	case chat.StandingRefused:
		return "bad", chat.Text(linePageRefused)
	case chat.StandingInvalid:
		return "bad", chat.Text(linePageNotOffered)
	case chat.StandingUnknown:
		return "bad", chat.Text(linePageNoQuestion)
	default:
		return "bad", chat.Text(linePageNotUnderstood)
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
