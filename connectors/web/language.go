package web

import (
	"fmt"
	"html/template"
	"net/http"
	"strconv"
	"strings"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/words"
)

// spoken chooses a visitor's language: the person's, else what the conversation has chosen or is
// configured to have, else what the browser asks for, else the installation's.
func (p *page) spoken(r *http.Request, v visitor) string {
	choice := p.Languages
	if asked := words.Accepted(strings.Join(r.Header.Values("Accept-Language"), ",")); asked != "" {
		choice.Default = asked
	}
	return choice.Of(v.person, v.thread(), v.Language)
}

// language is that of whoever sent the request, signed in or not.
func (p *page) language(r *http.Request) string {
	if v := visitorOf(r); v.language != "" {
		return v.language
	}
	v, _ := p.visitor(r)
	return v.language
}

func (p *page) say(r *http.Request, line chat.Line) string { return words.Say(p.language(r), line) }

// remember keeps the language that was chosen in a conversation (`!language`) where the conversation
// itself is: in its session. The engine keeps it too, for what it says.
func (p *page) remember(w http.ResponseWriter, r *http.Request, v visitor, text string) *http.Request {
	command, chosen := chat.ReadCommand(text)
	if command != chat.CommandLanguage || chosen == "" || chosen == v.Language {
		return r
	}
	v.Language = chosen
	if err := p.cookies.setSession(w, v.session); err != nil {
		p.Logger.ErrorContext(r.Context(), "the language of a conversation was not kept", "error", err)
		return r
	}
	v.language = p.spoken(r, v)
	return withVisitor(r, v)
}

// spokenTemplates are the page's templates in one language.
func spokenTemplates(language string) *template.Template {
	return template.Must(template.New("").Funcs(plainFuncs).Funcs(template.FuncMap{
		"language": func() string { return language },
		// say takes an entry of the catalogs, and the names and values of its arguments in turn.
		"say": func(id string, args ...any) string { return words.Say(language, filled(id, args)) },
		// label is what a button with an action says.
		"label": func(action string) string { return words.Say(language, chat.Text(labels[chat.Action(action)])) },
		// rich is say with arguments that may be HTML.
		"rich": func(id string, args ...any) template.HTML { return rich(language, id, args) },
		// listed names people, each as the text that it is.
		"listed": func(people []string) template.HTML {
			list := make([]string, len(people))
			for n, name := range people {
				list[n] = string(isolated(name))
			}
			return template.HTML(strings.Join(list, template.HTMLEscapeString(words.Say(language, chat.Text(linePageComma))))) //nolint:gosec // all of it is escaped
		},
	}).ParseFS(templateFiles, "templates/*.html"))
}

// filled is a line whose arguments a template gave.
func filled(id string, args []any) chat.Line {
	texts := make([]string, len(args))
	for n, arg := range args {
		texts[n] = fmt.Sprint(arg)
	}
	return chat.Text(id, texts...)
}

// rich renders an entry of the catalogs as HTML: its text and plain arguments are escaped, and
// arguments that are HTML stay as they are. They are put in last, in place of marks that no text holds.
func rich(language, id string, args []any) template.HTML {
	marked, pairs := make([]any, len(args)), []string{}
	for n, arg := range args {
		marked[n] = arg
		if html, ok := arg.(template.HTML); ok && n%2 == 1 {
			mark := "\x02" + strconv.Itoa(n) + "\x03"
			marked[n], pairs = mark, append(pairs, mark, string(html))
		} else if n%2 == 1 {
			marked[n] = strings.Map(unmarked, fmt.Sprint(arg))
		}
	}
	text := template.HTMLEscapeString(words.Say(language, filled(id, marked)))
	return template.HTML(strings.NewReplacer(pairs...).Replace(text)) //nolint:gosec // what was not HTML is escaped
}

// unmarked takes out what could be one of rich's marks; a browser shows neither.
func unmarked(r rune) rune {
	if r == '\x02' || r == '\x03' {
		return -1
	}
	return r
}

// isolated shows somebody's text, which may run from right to left, in a text of ours.
func isolated(text string) template.HTML {
	return template.HTML("<bdi>" + template.HTMLEscapeString(text) + "</bdi>") //nolint:gosec // escaped
}

// code shows what is to be typed.
func code(text string) template.HTML {
	return template.HTML("<code>" + template.HTMLEscapeString(text) + "</code>") //nolint:gosec // escaped
}
