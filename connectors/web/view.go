package web

import (
	"bytes"
	"embed"
	"html/template"
	"net/http"
	"net/url"
	"time"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/connectors/web/openid"
	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/gateway"
	"github.com/countersignhq/countersign/words"
)

//go:embed templates
var templateFiles embed.FS

// templates are the page's, by language.
var templates = func() map[string]*template.Template {
	all := map[string]*template.Template{}
	for _, language := range words.Languages() {
		all[language] = spokenTemplates(language)
	}
	return all
}()

// plainFuncs are what templates call whatever their language.
var plainFuncs = template.FuncMap{
	"clock":  func(t time.Time) string { return t.UTC().Format("15:04") },
	"stamp":  func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") },
	"rfc":    func(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) },
	"escape": url.PathEscape,
	"key":    digest, // an id may hold anything; that of an element may not
	"size":   gateway.Size,
	"bdi":    isolated,
	"code":   code,
}

// view is what the templates see.
type view struct {
	Title   string
	Person  string
	Owner   bool
	CSRF    string
	Nonce   string
	UIURL   string
	Now     time.Time
	Flash   *flash
	Problem string
	// Provider is the host at which people sign in; empty where only tokens do.
	Provider string
	// Account is one that is nobody's here.
	Account *openid.Account
	// To is what is shown after the sign-in.
	To string
	// Next is where the browser goes on to by itself.
	Next string
	// Away says why questions cannot be listed now.
	Away    string
	Feed    []line
	Others  []question
	Details *details
	History []row
	Grants  []grant
	// Workspace is the example's; HasWorkspace where there is one.
	Workspace    *WorkspaceState
	HasWorkspace bool
	// Docked: the conversation is shown on another page.
	Docked bool
	// Head and Text are of a page that only says something.
	Head, Text string
}

// line is one entry of the feed.
type line struct {
	Entry
	Question *question
}

type details struct {
	contract.State
	Parameters []parameter
	Output     []piece
	UI         string
	Approvers  string
	Question   *question
	Outcome    outcome
}

func (p *page) render(w http.ResponseWriter, r *http.Request, status int, name string, v view) {
	language := p.language(r)
	var page bytes.Buffer // a template that fails halfway must not look like a page
	if err := templates[language].ExecuteTemplate(&page, name, v); err != nil {
		p.Logger.Error("render a page", "template", name, "error", err)
		http.Error(w, words.Say(language, chat.Text(linePageNotRendered)), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Language", language)
	w.WriteHeader(status)
	_, _ = page.WriteTo(w) // the browser is gone: nobody is left to tell
}

func (p *page) trouble(w http.ResponseWriter, r *http.Request, status int, head, why chat.Line) {
	title := p.say(r, head)
	p.render(w, r, status, "trouble", view{Title: title, Head: title, Text: p.say(r, why)})
}

func (p *page) base(v visitor, title string) view {
	return view{
		Title: title, Person: v.person.Label(), Owner: v.owner, CSRF: p.cookies.token(v.session), Nonce: p.NewUUID(),
		UIURL: p.UIURL, Now: p.Now(), HasWorkspace: p.Workspace != nil,
	}
}

func (p *page) workflow(id string) string {
	return gateway.WorkflowURL(p.UIURL, p.Namespace, contract.InvocationID(id))
}
