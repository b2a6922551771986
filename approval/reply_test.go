package approval_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/approval"
	"github.com/countersignhq/countersign/chat"
)

func TestRead(t *testing.T) {
	t.Parallel()
	const (
		none, yes, always, other = approval.NoText, approval.Yes, approval.Always, approval.Other
	)
	for name, tc := range map[string]struct {
		in   string
		want approval.ReplyKind
	}{
		"A01 quoted history":              {"YES\r\n\r\nOn Mon, 1 Jan 2029 at 09:00, Bot\r\n<a-very-long-address@example.test> wrote:\r\n> Run delete?", yes},
		"A02 bottom posting":              {"On Mon, Bot <bot@example.test> wrote:\r\n> Run delete?\r\n\r\nyes", other},
		"A04 signature on top":            {"Sent from my phone\r\n\r\nyes\r\n", other},
		"A05 signature under it":          {"yes\r\nVerstuurd vanaf mijn telefoon", yes},
		"A05 a dash":                      {"-yes", other},
		"A06 header block under it":       {"yes\r\n\r\nFra: Bot\r\nSendt: 1. januar 2029\r\nTil: Person\r\nEmne: Run?", yes},
		"A07 marker altered":              {"yes\r\n\r\n> ---- please reply above ----", yes},
		"A11 banner":                      {"[EXTERNAL] Be careful with links\r\n\r\nyes", other},
		"A12 no-break space":              {"\u00a0yes\u00a0", yes},
		"A12 ideographic space":           {"yes\u3000", yes},
		"A12 next line, ogham":            {"\u0085yes\u1680", yes},
		"A13 byte order mark":             {"\ufeffyes", yes},
		"A13 zero-width space":            {"\u200byes", yes},
		"A13 left-to-right mark":          {"yes\u200e", yes},
		"A13 embedding":                   {"\u202ayes", yes},
		"A13 word joiner":                 {"\u2060yes", yes},
		"A13 line of only U+200B":         {"\u200b\nyes", yes},
		"A13 isolates, Arabic mark":       {"\u2066\u061cyes\u2069", yes},
		"A13 mixed":                       {" \u200f\u202e\tyes\u200d \ufeff", yes},
		"A13 inside":                      {"y\u200bes", other},
		"not in the list: soft hyphen":    {"\u00adyes", other},
		"not in the list: U+180E":         {"\u180eyes", other},
		"not in the list: U+034F":         {"yes\u034f", other},
		"not in the list: U+FE0F":         {"yes\ufe0f", other},
		"not in the list: U+2061":         {"yes\u2061", other},
		"not in the list: U+206A":         {"yes\u206a", other},
		"not in the list: NUL":            {"yes\x00", other},
		"A18 quotes":                      {"\u201cyes\u201d", other},
		"H06 negation":                    {"not yes", other},
		"H06 word in word":                {"yesterday's file is fine", other},
		"H06 in a sentence":               {"I said yes", other},
		"H06 question":                    {"yes?", other},
		"H06 but":                         {"yes, but only A", other},
		"H07 full stop":                   {"Yes.", other},
		"H07 exclamation":                 {"yes!", other},
		"H07 quoted":                      {`"yes"`, other},
		"H07 bold":                        {"*yes*", other},
		"H07 check mark":                  {"✅", other},
		"H07 thumb":                       {"👍", other},
		"H07 Russian":                     {"да", other},
		"H07 German":                      {"ja", other},
		"H07 y":                           {"y", other},
		"H07 ok":                          {"ok", other},
		"H07 twice":                       {"yes yes", other},
		"H07 upper case":                  {"YES ", yes},
		"H07 blanks":                      {"  Yes\t", yes},
		"H07 mixed case":                  {"yEs", yes},
		"H09 question":                    {"what would it delete?", other},
		"long s":                          {"yeſ", other},
		"full width":                      {"ｙｅｓ", other},
		"Cyrillic e":                      {"yеs", other},
		"combining mark":                  {"yes\u0301", other},
		"invalid UTF-8":                   {"yes\xff", other},
		"no":                              {"no\nyes", other},
		"empty lines first":               {"\n\r\n \t\n yes \nno", yes},
		"a lone CR ends no line":          {"yes\rno", other},
		"CR before it":                    {"\ryes\r", yes},
		"U+2028 ends no line":             {"yes\u2028no", other},
		"U+0085 ends no line":             {"yes\u0085no", other},
		"form feed":                       {"\fyes\v", yes},
		"always":                          {"Always", always},
		"always, quoted history":          {"\u200b\nALWAYS\r\n> yes", always},
		"yes always is neither":           {"yes always", other},
		"always yes is neither":           {"always yes", other},
		"always, second line":             {"yes\nalways", yes},
		"always with Kelvin-like letters": {"alwayſ", other},
		"nothing":                         {"", none},
		"only what does not count":        {" \t\r\n\u200b\ufeff\u2060\u061c\u202a\u202e\u2066\u2069\u00a0\n\n", none},
		"not nothing: braille blank":      {"\u2800", other},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, approval.Read(tc.in).Kind)
		})
	}
}

func TestReadText(t *testing.T) {
	t.Parallel()
	require.Equal(t, approval.Answer{Kind: approval.Other, Text: "no,\r\n not that one"},
		approval.Read("\ufeff\r\n  no,\r\n not that one \u200b\n"))
	require.Equal(t, "a\uFFFDb", approval.Read("a\xff\xfeb").Text)
	require.Zero(t, approval.Read(" \u200b "))
}

func TestAnswerDecision(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		kind approval.ReplyKind
		mode approval.Mode
		want string
	}{
		{approval.NoText, approval.Ask, ""},
		{approval.Yes, approval.Ask, chat.Allow},
		{approval.Yes, approval.AskAlways, chat.Allow},
		{approval.Always, approval.Ask, chat.AllowAlways},
		{approval.Always, approval.AskAlways, chat.Deny},
		{approval.Always, "", chat.Deny},
		{approval.Other, approval.Ask, chat.Deny},
		{"something new", approval.Ask, chat.Deny},
	} {
		require.Equal(t, tc.want, approval.Answer{Kind: tc.kind}.Decision(tc.mode), "%s in %s", tc.kind, tc.mode)
	}
	require.Empty(t, approval.Answer{}.Decision(approval.Ask), "the zero value decides nothing")
}

func TestStripMention(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		in       string
		mentions []string
		want     string
	}{
		"C03 Slack":                  {"<@U1> yes", []string{"<@U1>"}, "yes"},
		"Telegram":                   {"@my_bot yes", []string{"@my_bot"}, "yes"},
		"letter case":                {"@My_BOT yes", []string{"@my_bot"}, "yes"},
		"blanks before":              {" \u200b\n@my_bot\u00a0yes", []string{"@my_bot"}, "yes"},
		"line break after":           {"@my_bot\nyes", []string{"@my_bot"}, "yes"},
		"only the mention":           {"<@U1>", []string{"<@U1>"}, ""},
		"one of several":             {"@b yes", []string{"", "@a", "@b"}, "yes"},
		"second one stays":           {"@my_bot @my_bot yes", []string{"@my_bot"}, "@my_bot yes"},
		"glued":                      {"@my_botyes", []string{"@my_bot"}, "@my_botyes"},
		"longer name":                {"@my_bot2 yes", []string{"@my_bot"}, "@my_bot2 yes"},
		"comma":                      {"@my_bot, yes", []string{"@my_bot"}, "@my_bot, yes"},
		"zero width is not white":    {"@my_bot\u200byes", []string{"@my_bot"}, "@my_bot\u200byes"},
		"somebody else":              {"<@U2> yes", []string{"<@U1>"}, "<@U2> yes"},
		"at the end":                 {"yes <@U1>", []string{"<@U1>"}, "yes <@U1>"},
		"long s is no s":             {"@boſſ yes", []string{"@boss"}, "@boſſ yes"},
		"Kelvin sign is no k":        {"@\u212aay yes", []string{"@kay"}, "@\u212aay yes"},
		"no mention, blanks stay":    {"  hello ", []string{"@my_bot"}, "  hello "},
		"no bot":                     {"@my_bot yes", nil, "@my_bot yes"},
		"shorter than the mention":   {"@my", []string{"@my_bot"}, "@my"},
		"quoted mention is no start": {"> @my_bot yes", []string{"@my_bot"}, "> @my_bot yes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, approval.StripMention(tc.in, tc.mentions...))
		})
	}
}

// FuzzRead compares with a second way to say the rule: what is yes is the word,
// once everything that does not count is gone from both ends of a line.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{"yes", "\ufeffYES\r\n> x", "yeſ", " \u200b\nalways", "y\u200bes", "no", "\xff", "yes always"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		got := approval.Read(in)
		want := approval.NoText
		for _, line := range strings.Split(in, "\n") {
			runes := []rune(line)
			uncounted := func(r rune) bool {
				return unicode.IsSpace(r) || strings.ContainsRune(
					"\ufeff\u200b\u200c\u200d\u200e\u200f\u2060\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069", r)
			}
			for len(runes) > 0 && uncounted(runes[0]) {
				runes = runes[1:]
			}
			for len(runes) > 0 && uncounted(runes[len(runes)-1]) {
				runes = runes[:len(runes)-1]
			}
			if len(runes) == 0 {
				continue
			}
			switch ascii := strings.ToLower(string(runes)); {
			case len(string(runes)) == 3 && ascii == "yes":
				want = approval.Yes
			case len(string(runes)) == 6 && ascii == "always":
				want = approval.Always
			default:
				want = approval.Other
			}
			break
		}
		require.Equal(t, want, got.Kind, "%q", in)
		require.True(t, utf8.ValidString(got.Text))
		require.Equal(t, got.Kind == approval.NoText, got.Text == "")
		// Taking the text for the message changes nothing.
		require.Equal(t, got.Kind, approval.Read(got.Text).Kind)
	})
}

func FuzzStripMention(f *testing.F) {
	f.Add("@my_bot yes", "@my_bot")
	f.Add("\u200b<@U1>", "<@U1>")
	f.Fuzz(func(t *testing.T, in, mention string) {
		got := approval.StripMention(in, mention)
		require.True(t, strings.HasSuffix(in, got), "only the beginning goes")
		if mention == "" {
			require.Equal(t, in, got)
		}
	})
}

func ExampleRead() {
	for _, text := range []string{"Yes\n\n> Delete the file?", "Yes.", "\n"} {
		fmt.Printf("%q\n", approval.Read(text).Kind)
	}
	// Output:
	// "yes"
	// "other"
	// ""
}

func ExampleStripMention() {
	fmt.Println(approval.StripMention("@my_bot yes", "@my_bot"))
	fmt.Println(approval.StripMention("@my_botyes", "@my_bot"))
	// Output:
	// yes
	// @my_botyes
}
