package web

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/connectors/web/openid"
	"github.com/countersignhq/countersign/gateway"
	"github.com/countersignhq/countersign/words"
)

// spoken is an identity whose people have a language.
type spoken struct {
	fakeIdentity
	language string
}

func (s spoken) Token(hash string) (chat.Person, string, bool) {
	person, role, ok := s.fakeIdentity.Token(hash)
	person.Language = s.language
	return person, role, ok
}

// The person's language, then the conversation's, then the browser's, then the installation's.
func TestWhoseLanguage(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		person, accept, told, installed, want string
	}{
		"nobody says":           {want: "en"},
		"the installation's":    {installed: "zh-CN", want: "zh-CN"},
		"the browser's":         {accept: "fr, de-AT;q=0.8, en;q=0.5", installed: "zh-CN", want: "de"},
		"not spoken here":       {accept: "fr", person: "pt", want: "en"},
		"the conversation's":    {accept: "de", told: "es", want: "es"},
		"the person's":          {accept: "de", told: "zh-cn", person: "es", want: "es"},
		"a browser's that lies": {accept: `"><script>`, want: "en"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, func(p *Params) {
				p.Languages.Default = test.installed
				p.Identity = spoken{p.Identity.(fakeIdentity), test.person}
			})
			visitor := b.browser(t)
			visitor.accept = test.accept
			visitor.signIn("owner")
			if test.told != "" {
				visitor.send(visitor.csrf(), "n", " !Language "+test.told+"\n", nil)
			}
			for _, path := range []string{"/", "/history", "/grants", "/nowhere"} {
				visitor.get(path)
				require.Contains(t, visitor.body, `<html lang="`+test.want+`">`, path)
				require.Equal(t, test.want, visitor.header.Get("Content-Language"))
			}
			visitor.get("/dock")
			require.Contains(t, visitor.body, `<div class="dock" lang="`+test.want+`">`)
			if test.person != "" {
				require.Equal(t, test.person, visitor.delivered(b).From.Language, "the engine speaks it too")
			}
		})
	}
}

// delivered is the last message that a browser sent.
func (b *browser) delivered(of *bench) chat.Message {
	b.t.Helper()
	b.send(b.csrfOf("/"), "last", "hello", nil)
	return of.engine.delivered[len(of.engine.delivered)-1]
}

func (b *browser) csrfOf(path string) string {
	b.get(path)
	return b.csrf()
}

// A language that is chosen in the conversation is its own: a new sign-in is a new conversation. A
// script is told by the answer, so that it can load its page again.
func TestLanguageOfTheConversation(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	visitor := b.signedIn(t, "owner")
	csrf := visitor.csrf()
	b.engine.err = chat.ErrUnreachable
	visitor.send(csrf, "a", "!language de", nil)
	require.Contains(t, visitor.body, `<html lang="en">`, "it was not taken")
	b.engine.err = nil
	for _, text := range []string{"!language fr", "!language", "speak German", "!language de please"} {
		visitor.send(csrf, text, text, nil)
		require.Contains(t, visitor.body, `<html lang="en">`, text)
	}
	visitor.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	visitor.send(csrf, "b", "!language de", nil)
	visitor.client.CheckRedirect = nil
	require.Contains(t, visitor.header.Get("Set-Cookie"), sessionCookie)
	visitor.get("/")
	require.Contains(t, visitor.body, `<html lang="de">`)
	require.Equal(t, csrf, visitor.csrf(), "forms that are open elsewhere still count")
	visitor.post("/decisions", url.Values{"csrf": {csrf}, "invocation": {"1"}, "action": {"yes"}}, "Accept", "application/json")
	require.Equal(t, "de", visitor.header.Get("Content-Language"))
	visitor.post("/signout", url.Values{"csrf": {csrf}})
	require.Contains(t, visitor.body, `<html lang="en">`)
	visitor.signIn("owner")
	require.Contains(t, visitor.body, `<html lang="en">`)
}

// What is in another language than the page says so (WCAG 2.2, 3.1.2); buttons are in the page's.
func TestCardsInOtherLanguages(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	visitor := b.browser(t)
	visitor.accept = "de"
	visitor.signIn("owner")
	visitor.send(visitor.csrf(), "n", "hello", nil)
	card := chat.Card{
		Invocation: "1", Thread: b.engine.delivered[0].Thread, Text: "¿?", Language: "es",
		Buttons: []chat.Button{{Label: "Sí", Action: chat.ActionYes}, {Label: "Otra", Action: "another"}},
	}
	_, err := b.sender.Post(t.Context(), card)
	require.NoError(t, err)
	card.Invocation, card.Language, card.Text, card.Closed, card.Buttons = "2", "de", "Wirklich?", "Ja.", nil
	_, err = b.sender.Post(t.Context(), card)
	require.NoError(t, err)
	card.Invocation, card.Language, card.Text = "3", "", "Really?" // of an earlier version
	_, err = b.sender.Post(t.Context(), card)
	require.NoError(t, err)
	visitor.get("/")
	require.Regexp(t, `<p class="prompt" dir="auto" lang="es" id="[^"]+">¿\?</p>`, visitor.body)
	require.Regexp(t, `<p class="prompt" dir="auto" id="[^"]+">Wirklich\?</p>`, visitor.body)
	require.Regexp(t, `<p class="prompt" dir="auto" lang="en" id="[^"]+">Really\?</p>`, visitor.body)
	require.Contains(t, visitor.body, `<p class="outcome" dir="auto" lang="en">Ja.</p>`)
	require.Contains(t, visitor.body, ">Ja</button>")
	require.Contains(t, visitor.body, ">Otra</button>", "what is not known stays")
}

// Names that look like markup, or like the marks that they take the place of, are only text.
func TestNamesAreOnlyText(t *testing.T) {
	t.Parallel()
	got := rich("en", "page_by", []any{"what", "<b>{{.by}}\x021\x03\x023\x03</b>", "by", isolated("\x021\x03<i>")})
	require.Equal(t, "&lt;b&gt;{{.by}}13&lt;/b&gt; by <bdi>\x021\x03&lt;i&gt;</bdi>", string(got))
}

// sample is a page with all that there is to be said on it, and what a browser read there.
type sample struct {
	*browser
	texts map[string][]string
}

func (s *sample) read(name string) {
	s.t.Helper()
	require.NotContains(s.t, s.body, "page_", name)
	require.NotContains(s.t, s.body, "<no value>", name)
	s.texts[name] = append(s.texts[name], readable(s.t, s.body)...)
}

func (s *sample) visit(path string) { s.get(path); s.read(path) }

// told keeps what a script would show.
func (s *sample) told(name string) {
	s.t.Helper()
	var said flash
	require.NoError(s.t, json.Unmarshal([]byte(s.body), &said), "%s: %s", name, s.body)
	s.texts[name] = append(s.texts[name], said.Text)
}

// readable is every text of a page that somebody sees or hears.
func readable(t *testing.T, page string) (texts []string) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	require.NoError(t, err)
	keep := func(text string) {
		if text = strings.Join(strings.Fields(text), " "); text != "" {
			texts = append(texts, text)
		}
	}
	for node := range root.Descendants() {
		switch node.Type {
		case html.TextNode:
			keep(node.Data)
		case html.ElementNode:
			words := false
			for _, a := range node.Attr {
				words = words || a.Key == "data-words"
			}
			for _, a := range node.Attr {
				switch {
				case a.Key == "aria-label", a.Key == "title", a.Key == "placeholder", a.Key == "alt", a.Key == "data-label", words && a.Key != "lang":
					keep(a.Val)
				}
			}
		default: // comments and the like
		}
	}
	return texts
}

// sampled goes everywhere in one language.
func sampled(t *testing.T, language string) map[string][]string {
	t.Helper()
	workspace := &fakeWorkspace{state: WorkspaceState{Name: "Atlas", Revision: "r1", LastName: "Atlas", LastBy: "owner", LastAt: time.Unix(0, 0)}}
	b := newBench(t, func(p *Params) {
		p.Workspace, p.Guides = workspace, map[string]string{"workspace.publish_changes": "/workspace"}
	})
	s := &sample{b.browser(t), map[string][]string{}}
	s.accept = language
	s.visit("/signin")
	csrf := s.csrf()
	for name, form := range map[string]url.Values{
		"old": {"csrf": {"x"}}, "nobody": {"csrf": {csrf}, "token": {"x"}}, "agent": {"csrf": {csrf}, "token": {"agent-token"}},
	} {
		s.post("/signin", form)
		s.read("sign in: " + name)
	}
	s.post("/decisions", nil)
	s.read("signed out")
	s.signIn("owner")
	s.read("nothing yet")
	csrf = s.csrf()
	s.send(csrf, "n", "0", map[string]string{"0.csv": "1"})
	thread := b.engine.delivered[0].Thread
	b.engine.states, b.engine.grants = everything(thread), grantsOf(thread)
	for _, path := range []string{"/", "/live", "/dock", "/history", "/grants", "/workspace", "/nowhere", "/invocations/none", "/files/0/0"} {
		s.visit(path)
	}
	for _, state := range b.engine.states {
		s.visit("/invocations/" + state.ID)
	}
	for name, verdict := range verdicts() {
		b.engine.verdict = verdict
		s.post("/decisions", url.Values{"csrf": {csrf}, "invocation": {"1"}, "action": {"yes"}}, "Accept", "application/json")
		s.told(name)
	}
	s.post("/decisions", url.Values{"csrf": {csrf}, "invocation": {"1"}, "action": {"no"}, "reason": {strings.Repeat("0", maxText+1)}}, "Accept", "application/json")
	s.told("reason")
	s.post("/decisions", nil)
	s.read("stale")
	s.post("/decisions", nil, "Sec-Fetch-Site", "cross-site")
	s.read("another site")
	s.send(csrf, "", "", nil)
	s.read("no message")
	s.send(csrf, "n", strings.Repeat("0", maxText+1), nil)
	s.read("too much text")
	s.post("/workspace", url.Values{"csrf": {csrf}, "code": {"1"}})
	s.read("wrong code")
	s.post("/workspace", url.Values{"csrf": {csrf}, "code": {"1234"}, "revision": {"r0"}})
	s.read("changed")
	s.post("/workspace", url.Values{"csrf": {csrf}, "code": {"1234"}, "revision": {"r1"}})
	s.read("published")
	for _, id := range []string{"g1", "gone"} {
		s.post("/grants", url.Values{"csrf": {csrf}, "grant": {id}})
		s.read("revoke " + id)
	}
	for name, err := range map[string]error{"unreachable": chat.ErrUnreachable, "no engine": gateway.ErrNoEngine, "broken": errors.New("0")} {
		b.engine.err = err
		for _, path := range []string{"/", "/history", "/grants", "/invocations/1"} {
			s.get(path)
			s.read(name + " " + path)
		}
	}
	s.signsIn(t, language)
	return s.texts
}

// signsIn tries everything at an OpenID provider.
func (s *sample) signsIn(t *testing.T, language string) {
	t.Helper()
	l := newLinked(t, func(p *openid.Params) { p.Now = func() time.Time { return time.Now().Add(-72 * time.Hour) } })
	there := &sample{l.browser(t), s.texts}
	there.accept = language
	there.visit("/signin")
	there.get(l.back(t, there.leave(), "sub-of-ada"))
	there.read("unproven")
	l = newLinked(t)
	there.client, there.base = l.browser(t).client, l.server.URL
	for _, user := range []string{"sub-of-ada", "sub-of-eve", "sub-of-mallory", "sub-of-robot"} {
		there.get(l.back(t, there.leave(), user))
		there.read("account " + user)
		there.client = l.browser(t).client
	}
	there.visit(CallbackPath)
	there.get(CallbackPath + "?error=access_denied&state=" + must(t, there.leave()).Query().Get("state"))
	there.read("declined")
	l.provider.Away(true)
	away := newLinked(t)
	away.provider.Away(true)
	there.base = away.server.URL
	there.visit("/signin/oidc")
}

// Each page in each language: nothing that is read there is what the English page says.
func TestNothingIsLeftInEnglish(t *testing.T) {
	t.Parallel()
	english := sampled(t, words.English)
	for _, language := range words.Languages()[1:] {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			there := sampled(t, language)
			require.Len(t, there, len(english))
			for name, texts := range english {
				require.NotEmpty(t, there[name], name)
				said := map[string]bool{}
				for _, text := range texts {
					said[text] = true
				}
				for _, text := range there[name] {
					if said[text] && !data.MatchString(text) {
						require.Contains(t, same[language], text, "%s is English on %s", text, name)
					}
				}
			}
		})
	}
}

// Scripts say nothing of their own: what they show stands in the page.
func TestScriptsHaveNoWords(t *testing.T) {
	t.Parallel()
	scripts, err := filepath.Glob("assets/*.js")
	require.NoError(t, err)
	require.NotEmpty(t, scripts)
	comment, quoted := regexp.MustCompile(`(?m)//.*$`), regexp.MustCompile("\"[^\"\n]*\"|`[^`\n]*`")
	sentence := regexp.MustCompile(`[A-Za-z]{2,} [A-Za-z]{2,}`)
	for _, path := range scripts {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, found := range quoted.FindAllString(comment.ReplaceAllString(string(text), ""), -1) {
			if sentence.MatchString(found) {
				require.Regexp(t, `^.\.|[[=]|px`, found, "%s: only a selector or a style has words", path)
			}
		}
	}
}
