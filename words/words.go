package words

import (
	"embed"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/nicksnyder/go-i18n/v2/i18n"
	"github.com/nicksnyder/go-i18n/v2/i18n/template"
	"golang.org/x/text/language"

	"github.com/countersignhq/countersign/chat"
)

// English is what everything falls back to.
const English = "en"

// countArg is the argument that chooses the plural form, where an entry has several.
const countArg = "count"

//go:embed catalogs/*.toml
var catalogs embed.FS

// book is the catalogs, read once.
type book struct {
	languages []string
	matcher   language.Matcher
	in        map[string]*i18n.Localizer
}

// shelf is read when the program starts: a catalog that cannot be read is a mistake of the build.
var shelf = open()

func open() book {
	bundle := i18n.NewBundle(language.English)
	bundle.RegisterUnmarshalFunc("toml", toml.Unmarshal)
	b := book{in: map[string]*i18n.Localizer{}}
	tags := []language.Tag{}
	for _, name := range chat.Languages() {
		if _, err := bundle.LoadMessageFileFS(catalogs, "catalogs/active."+name+".toml"); err != nil {
			panic(fmt.Sprintf("words: the catalog %s: %v", name, err))
		}
		b.languages = append(b.languages, name)
		tags = append(tags, language.MustParse(name))
	}
	for _, name := range b.languages {
		b.in[name] = i18n.NewLocalizer(bundle, name)
	}
	b.matcher = language.NewMatcher(tags)
	return b
}

// Languages are those with a catalog, English first.
func Languages() []string { return append([]string(nil), shelf.languages...) }

// Match returns the language with a catalog that serves a reader of the one that is named, as
// BCP 47 writes it (de-AT is served by de, zh by zh-CN). ok is false where none does.
func Match(name string) (matched string, ok bool) {
	tag, err := language.Parse(strings.TrimSpace(name))
	if err != nil {
		return "", false
	}
	_, at, confidence := shelf.matcher.Match(tag)
	if confidence < language.High {
		return "", false
	}
	return shelf.languages[at], true
}

// Pick returns the first of the candidates that there is a catalog for; English if there is none.
func Pick(candidates ...string) string {
	for _, candidate := range candidates {
		if candidate == "" {
			continue
		}
		if matched, ok := Match(candidate); ok {
			return matched
		}
	}
	return English
}

// Say renders a line in a language; one without a catalog is English. Arguments are put in
// literally, whatever they hold. An entry that is not known, from a newer program, is its id.
func Say(name string, line chat.Line) string {
	if line.Empty() {
		return ""
	}
	in, ok := shelf.in[name]
	if !ok {
		name = Pick(name)
		in = shelf.in[name]
	}
	args := line.Args
	if len(line.Texts) > 0 {
		args = make(map[string]string, len(line.Args)+len(line.Texts))
		maps.Copy(args, line.Args)
		for arg, id := range line.Texts {
			args[arg] = Say(name, chat.Line{ID: id})
		}
	}
	config := i18n.LocalizeConfig{MessageID: line.ID, TemplateData: args, TemplateParser: parser}
	if n, err := strconv.Atoi(args[countArg]); err == nil {
		config.PluralCount = n
	}
	text, _ := in.Localize(&config) // where it fails it has still fallen back to English, or to nothing
	if text == "" {
		return line.ID
	}
	return text
}

// parser leaves out an argument that is missing, where the default shows "<no value>".
var parser = &template.TextParser{Option: "missingkey=zero"}

// Choice says in which language somebody is spoken to. The zero value is English for all whose
// language is not known.
type Choice struct {
	// Default is the installation's.
	Default string
	// Conversations are the configured ones by "connector:thread_key"; the key of a channel or
	// group counts for all threads and topics in it.
	Conversations map[string]string
}

// Of returns the language for a person in a conversation; told is what the conversation itself has
// chosen (`!language`), which wins over what is configured for it.
func (c Choice) Of(who chat.Person, thread chat.Thread, told string) string {
	return Pick(who.Language, told, c.conversation(thread), c.Default)
}

func (c Choice) conversation(thread chat.Thread) string {
	if name, ok := c.Conversations[thread.String()]; ok {
		return name
	}
	whole, _, inside := strings.Cut(thread.Key, ":")
	if !inside {
		return ""
	}
	return c.Conversations[chat.Thread{Connector: thread.Connector, Key: whole}.String()]
}
