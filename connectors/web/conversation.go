package web

import (
	"net/http"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/words"
)

// How much of a conversation is shown.
const (
	feedLength = 200
	dockLength = 12
)

func (p *page) showConversation(w http.ResponseWriter, r *http.Request) {
	p.respondConversation(w, r, http.StatusOK, p.cookies.takeFlash(w, r))
}

func (p *page) respondConversation(w http.ResponseWriter, r *http.Request, status int, said *flash) {
	shown, err := p.conversation(r, feedLength)
	if err != nil {
		p.trouble(w, r, http.StatusInternalServerError, chat.Text(linePageConversationUnreadable), p.explain(r, err))
		return
	}
	shown.Flash = said
	p.render(w, r, status, "conversation", shown)
}

// showLive is the part of the conversation that changes; assets/cards.js swaps it in.
func (p *page) showLive(w http.ResponseWriter, r *http.Request) {
	shown, err := p.conversation(r, feedLength)
	if err != nil {
		p.trouble(w, r, http.StatusInternalServerError, chat.Text(linePageConversationUnreadable), p.explain(r, err))
		return
	}
	p.render(w, r, http.StatusOK, "live", shown)
}

// showDock is the same for dock.js: the end of the conversation and what is open.
func (p *page) showDock(w http.ResponseWriter, r *http.Request) {
	shown, err := p.conversation(r, dockLength)
	if err != nil {
		p.trouble(w, r, http.StatusInternalServerError, chat.Text(linePageConversationUnreadable), p.explain(r, err))
		return
	}
	shown.Docked, shown.Others = true, nil // those of other conversations are for the page itself
	p.render(w, r, http.StatusOK, "dock", shown)
}

func (p *page) conversation(r *http.Request, length int) (view, error) {
	v := visitorOf(r)
	shown := p.base(v, words.Say(v.language, chat.Text(linePageConversation)))
	entries, err := p.Store.Entries(r.Context(), v.ID, length)
	if err != nil {
		return shown, err
	}
	pending, err := p.Engine.Pending(r.Context())
	if err != nil {
		shown.Away = p.say(r, p.explain(r, err)) // the feed is there all the same
	}
	open := map[string]question{}
	for _, state := range pending {
		q, ok := p.question(v, state)
		if ok && (q.Here || v.mayDecide(state)) {
			open[q.ID] = q
		}
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
		if q, ok := open[state.ID]; ok {
			shown.Others = append(shown.Others, q)
		}
	}
	return shown, nil
}
