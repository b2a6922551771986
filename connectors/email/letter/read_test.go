package letter

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"

	"github.com/countersignhq/countersign/approval"
	"github.com/countersignhq/countersign/chat"
)

// shelf is a Sink that keeps what it is given.
type shelf struct{ content map[string]string }

func (s *shelf) sink(name string, r io.Reader) (chat.File, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return chat.File{}, fmt.Errorf("shelf: %s", err) // not wrapped, like some libraries
	}
	if s.content == nil {
		s.content = map[string]string{}
	}
	s.content[name] = string(b)
	sum := sha256.Sum256(b)
	return chat.File{Name: name, Path: "inbound/u/" + name, Size: int64(len(b)), SHA256: hex.EncodeToString(sum[:])}, nil
}

func read(t testing.TB, raw string, limits ...Limits) (Letter, *shelf) {
	t.Helper()
	h, body, err := Open(strings.NewReader(crlf(raw)))
	require.NoError(t, err)
	s := &shelf{}
	var l Limits
	if len(limits) > 0 {
		l = limits[0]
	}
	out, err := Read(h, body, l, s.sink)
	require.NoError(t, err)
	return out, s
}

// crlf writes mails as mails are written.
func crlf(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\n", "\r\n")
}

func plain(body string) string { return "Content-Type: text/plain; charset=utf-8\n\n" + body }

func kindOf(text string) approval.ReplyKind { return approval.Read(text).Kind }

// The rule reads the first line that is not empty: no quotation is cut, no
// signature known, no separator needed.
func TestFirstLineDecides(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		id, body string
		want     approval.ReplyKind
	}{
		{"A01", "YES\r\n\r\nOn Mon, 1 Jan 2029 at 09:00, Bot\r\n<a-very-long-address@example.test> wrote:\r\n> Run delete?", approval.Yes},
		{"A02", "On Mon, Bot <bot@example.test> wrote:\r\n> Run delete?\r\n\r\nyes", approval.Other},
		{"A04", "Sent from my phone\r\n\r\nyes\r\n", approval.Other},
		{"A05", "yes\r\nVerstuurd vanaf mijn telefoon", approval.Yes},
		{"A05 dash", "-yes", approval.Other},
		{"A06", "yes\r\n\r\nFra: Bot\r\nSendt: 1. januar 2029\r\nTil: Person\r\nEmne: Run?", approval.Yes},
		{"A07", "yes\r\n\r\n> ---- please reply above ----", approval.Yes},
		{"A11", "[EXTERNAL] Be careful with links\r\n\r\nyes", approval.Other},
		{"A12 nbsp", "\u00a0yes\u00a0", approval.Yes},
		{"A12 ideographic", "yes\u3000", approval.Yes},
		{"A13 bom", "\ufeffyes", approval.Yes},
		{"A13 zero width", "\u200byes", approval.Yes},
		{"A13 mark behind", "yes\u200e", approval.Yes},
		{"A13 embedding", "\u202ayes", approval.Yes},
		{"A13 joiner", "\u2060yes", approval.Yes},
		{"A13 line of nothing", "\u200b\r\nyes", approval.Yes},
		{"A13 inside", "y\u200bes", approval.Other},
		{"empty", "", approval.NoText},
	} {
		t.Run(tt.id, func(t *testing.T) {
			t.Parallel()
			out, _ := read(t, plain(tt.body))
			require.Equal(t, tt.want, kindOf(out.Text), "%q", out.Text)
		})
	}
}

func TestA08HTMLOnly(t *testing.T) {
	t.Parallel()
	out, _ := read(t, "Content-Type: text/html; charset=utf-8\n\n<div>yes</div><br><blockquote>Run?</blockquote>")
	require.Equal(t, approval.Yes, kindOf(out.Text))
	require.Equal(t, "yes\n\n> Run?", out.Text)
}

func TestA09HTMLThatIsNotSeen(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]approval.ReplyKind{
		`<style>p{color:red}</style><p>yes</p>`:                              approval.Yes,
		`<div style="display:none">yes</div><p>no</p>`:                       approval.Other,
		`<p>&nbsp;yes&nbsp;</p>`:                                             approval.Yes,
		`<span>yes</span><span> and no</span>`:                               approval.Other,
		`<p hidden>yes</p>`:                                                  approval.NoText,
		`<p style="visibility: hidden">yes</p><p>stop</p>`:                   approval.Other,
		`<p style="font-size:0">yes</p><p>stop</p>`:                          approval.Other,
		`<p style="FONT-SIZE: 0px !important">yes</p><p>stop</p>`:            approval.Other,
		`<div style="height:0;overflow:hidden">yes</div>stop`:                approval.Other,
		`<div style="opacity:0.0">yes</div>stop`:                             approval.Other,
		`<!-- yes --><p>stop</p>`:                                            approval.Other,
		`<head><title>yes</title></head><p>stop</p>`:                         approval.Other,
		`<script>yes</script><p>stop</p>`:                                    approval.Other,
		`<template>yes</template><p>stop</p>`:                                approval.Other,
		`<style>.x{display:none}</style><p class="x">yes</p><p>stop</p>`:     approval.Other,
		`<style>.x{display:none}</style><p class="x">stop</p><p>yes</p>`:     approval.Other, // it is not sure which of them shows
		`<style>@media screen{#a{font-size:1px}}</style><p id=a>yes</p>stop`: approval.Other,
		`<style>[title]{display:none}</style><p title=a>yes</p>stop`:         approval.Other,
		`<p style="disp\6cay:none">yes</p>stop`:                              approval.Other,
		`<p style="color:#fff">yes</p>stop`:                                  approval.Other,
		`<font color=white>yes</font><br>stop`:                               approval.Other,
		`<p style="position:absolute;left:-9999px">yes</p>stop`:              approval.Other,
		`<p style="color:#000;font-size:11pt;margin:0in">yes</p>`:            approval.Yes,
		`<style>@font-face{font-family:"\@SimSun"} p.MsoNormal{margin:0in;font-size:11.0pt}</style><p class=MsoNormal>yes<o:p></o:p></p>`: approval.Yes,
		`<div dir="ltr">yes</div><br><div class="gmail_quote"><blockquote>Run?</blockquote></div>`:                                        approval.Yes,
		`<table><tr><td>yes</td><td>no</td></tr></table>`:                                                                                 approval.Other,
		`ye<b>s</b>`:                          approval.Yes,
		"<pre>yes\nplease</pre>":              approval.Yes,
		"yes\nplease":                         approval.Other,
		`<ul><li>yes</li></ul>`:               approval.Yes,
		strings.Repeat("<div>", 3000) + "yes": approval.Other,
	} {
		out, _ := read(t, "Content-Type: text/html\n\n"+body)
		require.Equal(t, want, kindOf(out.Text), "%.200s -> %q", body, out.Text)
	}
}

// A small page must not become a large one: the parser opens what was left open
// again in each paragraph.
func TestHTMLThatSwells(t *testing.T) {
	t.Parallel()
	var open strings.Builder
	for n := range 400 {
		fmt.Fprintf(&open, "<b id=%d>", n)
	}
	page := "<p>yes" + open.String() + "</p>" + strings.Repeat("<p>x</p>", 50_000)
	start := time.Now()
	out, _ := read(t, "Content-Type: text/html\n\n"+page)
	require.Less(t, time.Since(start), 5*time.Second)
	require.Equal(t, approval.Other, kindOf(out.Text))
	require.Contains(t, out.Text, "could not be read")
	// Sloppy, as people's programs are, is no attack.
	out, _ = read(t, "Content-Type: text/html\n\n<p>yes</p>"+strings.Repeat("<font color=red><p>x</p>", 100)+strings.Repeat("<p><b>x</b></p>", 1000))
	require.Equal(t, approval.Yes, kindOf(out.Text))
}

func alternative(plain, html string) string {
	return "Content-Type: multipart/alternative; boundary=b\n\n--b\nContent-Type: text/plain; charset=utf-8\n\n" + plain +
		"\n--b\nContent-Type: text/html; charset=utf-8\n\n" + html + "\n--b--\n"
}

// Both versions of a mail have to agree.
func TestVersionsAgree(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		plain, html string
		want        approval.ReplyKind
		text        string
	}{
		{"yes\n\n> Run?", "<p>yes</p><blockquote>Run?</blockquote>", approval.Yes, "yes\n\n> Run?"},
		{"Yes", "<p>YES</p>", approval.Yes, "Yes"},
		{"yes", "<p>no</p>", approval.Other, "no"},
		{"no", "<p>yes</p>", approval.Other, "no"},
		{"yes", "<p>always</p>", approval.Other, "[" + disagreement + "]\n\nyes"},
		{"always", "<p>yes</p>", approval.Other, "[" + disagreement + "]\n\nalways"},
		{"yes", "<p><img src=x></p>", approval.Other, "[" + disagreement + "]\n\nyes"},
		{"yes", `<p style="display:none">yes</p>`, approval.Other, "[" + disagreement + "]\n\nyes"},
		{"", "<p>yes</p>", approval.Yes, "yes"}, // an empty plain text says nothing
		{"please list", "<p>please <b>list</b></p>", approval.Other, "please list"},
	} {
		out, _ := read(t, alternative(tt.plain, tt.html))
		require.Equal(t, tt.want, kindOf(out.Text), "%q / %q", tt.plain, tt.html)
		require.Equal(t, tt.text, out.Text)
	}
}

func TestA11DamagedEncoding(t *testing.T) {
	t.Parallel()
	encoded := base64.StdEncoding.EncodeToString([]byte("yes\r\n"))
	head := "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\n"
	out, _ := read(t, head+"[EXTERNAL] Be careful\n"+encoded)
	require.Equal(t, approval.Other, kindOf(out.Text), out.Text)
	out, _ = read(t, head+encoded[:4]+"\n "+strings.TrimRight(encoded[4:], "=")) // split, and no padding
	require.Equal(t, approval.Yes, kindOf(out.Text), out.Text)
	out, _ = read(t, head+encoded+"!")
	require.Equal(t, approval.Other, kindOf(out.Text), out.Text)
}

func TestA16Flowed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		params, body, want string
	}{
		{"format=flowed; delsp=yes", "ye \r\ns\r\n", "yes"},
		{"format=flowed", "yes \r\nplease run it\r\n", "yes please run it"},
		{"format=flowed", " yes\r\n", "yes"},
		{"Format=Flowed; DelSp=Yes", "yes\r\n> a \r\n> b\r\n", "yes\n> ab"},
		{"format=flowed", "yes\r\n-- \r\nAda \r\nB\r\n", "yes\n-- \nAda B"},
		{"format=flowed", "yes \r\n> quoted\r\n", "yes \n> quoted"},
		{"format=fixed", "yes \r\nplease\r\n", "yes \nplease"},
	} {
		out, _ := read(t, "Content-Type: text/plain; "+tt.params+"\n\n"+tt.body)
		require.Equal(t, tt.want, strings.TrimRight(out.Text, "\r\n"), "%s %q", tt.params, tt.body)
	}
}

func TestA17QuotedPrintable(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		"y=\r\nes\r\n":        "yes",
		"y= \t\r\nes":         "yes",
		"yes=20\r\n":          "yes ",
		"=59=45=53":           "YES",
		"ye=ZZ":               "ye=ZZ",
		"ye=ZZ and =C3=A9":    "ye=ZZ and é",
		"yes   \r\nno":        "yes\r\nno",
		"yes=":                "yes",
		"a=b=3":               "a=b=3",
		"=e2=82=ac":           "€",
		"broken =\r\x00 here": "broken =\r\x00 here",
	} {
		out, _ := read(t, "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: Quoted-Printable\n\n"+body)
		require.Equal(t, crlf(want), strings.TrimRight(crlf(out.Text), "\r\n"), "%q", body)
	}
	out, _ := read(t, "Content-Transfer-Encoding: quoted-printable\n\nye=ZZ")
	require.Equal(t, approval.Other, kindOf(out.Text))
}

func TestA18Charsets(t *testing.T) {
	t.Parallel()
	encode := func(s string, err error) string {
		require.NoError(t, err)
		return base64.StdEncoding.EncodeToString([]byte(s))
	}
	b64 := "Content-Transfer-Encoding: base64\n"
	utf16, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String("yes\r\n")
	require.NoError(t, err)
	for _, tt := range []struct {
		name, raw string
		want      approval.ReplyKind
	}{
		{"iso-2022-jp", "Content-Type: text/plain; charset=ISO-2022-JP\n" + b64 + "\n" +
			encode("\x1b(Jyes\x1b(B\r\n\x1b$B$O$$\x1b(B", nil), approval.Yes},
		{"iso-2022-jp text", "Content-Type: text/plain; charset=iso-2022-jp\n" + b64 + "\n" +
			encode(japanese.ISO2022JP.NewEncoder().String("はい")), approval.Other},
		{"gb18030", "Content-Type: text/plain; charset=gb18030\n" + b64 + "\n" +
			encode(simplifiedchinese.GB18030.NewEncoder().String("yes\r\n好")), approval.Yes},
		{"gb2312 as its old name", "Content-Type: text/plain; charset=\"GB2312\"\n\nyes", approval.Yes},
		{"windows-1252 quotes", "Content-Type: text/plain; charset=windows-1252\n\n\x93yes\x94", approval.Other},
		{"utf-16", "Content-Type: text/plain; charset=utf-16\n" + b64 + "\n" + encode(utf16, nil), approval.Yes},
		{"utf-16 without mark", "Content-Type: text/plain; charset=utf-16\n" + b64 + "\n" + encode("y\x00e\x00s\x00", nil), approval.Yes},
		{"unknown, ASCII", "Content-Type: text/plain; charset=x-unknown\n\nyes", approval.Yes},
		{"unknown, not ASCII", "Content-Type: text/plain; charset=x-unknown\n\nyes\n\xe9t\xe9", approval.Other},
		{"ibm850", "Content-Type: text/plain; charset=IBM850\n\nyes\n\x82", approval.Yes},
		{"hz", "Content-Type: text/plain; charset=hz-gb-2312\n\nyes", approval.Yes},
		{"utf-7 hides nothing", "Content-Type: text/plain; charset=utf-7\n\n+AHkAZQBz-", approval.Other},
		{"none, latin", "Content-Type: text/plain\n\nyes\n\xe9", approval.Yes},
		{"none, utf-8", "\nyes\n€", approval.Yes},
		{"declared wrong", "Content-Type: text/plain; charset=us-ascii\n\nyes\né", approval.Yes},
		{"comment", "Content-Type: text/plain; charset=utf-8 (Unicode)\n\nyes", approval.Yes},
		{"meta", "Content-Type: text/html\n\n<meta charset=iso-2022-jp><p>\x1b(Jyes\x1b(B</p>", approval.Yes},
		{"odd utf-16", "Content-Type: text/plain; charset=utf-16\n\nyes", approval.Other},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			out, _ := read(t, tt.raw)
			require.Equal(t, tt.want, kindOf(out.Text), "%q", out.Text)
			require.NotEmpty(t, out.Text)
		})
	}
}
