package letter

import (
	"encoding/base64"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/approval"
	"github.com/countersignhq/countersign/chat"
)

// with is a mail of one text and further parts, each header and body as given.
func with(text string, parts ...string) string {
	var b strings.Builder
	b.WriteString("Content-Type: multipart/mixed; boundary=\"=_x\"\n\npreamble yes\n--=_x\n\n" + text)
	for _, p := range parts {
		b.WriteString("\n--=_x\n" + p)
	}
	b.WriteString("\n--=_x--\nepilogue yes\n")
	return b.String()
}

func attached(disposition string) string {
	return "Content-Type: application/octet-stream\nContent-Disposition: " + disposition + "\n\ndata"
}

func names(files []chat.File) []string {
	var names []string
	for _, f := range files {
		names = append(names, f.Name)
	}
	return names
}

func TestNames(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ id, disposition, want string }{
		{"B01 dots", `attachment; filename="../../outbound/x.txt"`, "x.txt"},
		{"B01 2231", `attachment; filename*=UTF-8''..%2F..%2Foutbound%2Fx`, "x"},
		{"B01 windows", `attachment; filename="C:\docs\a.txt"`, "a.txt"},
		{"B01 only dots", `attachment; filename=".."`, "attachment"},
		{"B01 encoded word", `attachment; filename="=?UTF-8?Q?..=2F..=2Fx.txt?="`, "x.txt"},
		{"B03 word in quotes", `attachment; filename="=?UTF-8?B?4oKsLnR4dA==?="`, "€.txt"},
		{"B03 continuations", `attachment; filename*0*=UTF-8''%e2%82%ac; filename*1*=.txt`, "€.txt"},
		{"B03 both", `attachment; filename="plain.txt"; filename*=UTF-8''%e2%82%ac.txt`, "€.txt"},
		{"B03 split character", `attachment; filename="=?UTF-8?B?4oI=?= =?UTF-8?B?rC50eHQ=?="`, "€.txt"},
		{"B03 mixed continuations", `attachment; filename*0*=UTF-8''%e2%82%ac%20; filename*1="b c"; filename*2*=%2Etxt`, "€ b c.txt"},
		{"B03 plain continuations", `attachment; filename*0="a b"; filename*1=".txt"`, "a b.txt"},
		{"B04 unquoted blank", `attachment; filename=Quarter one.pdf`, "Quarter one.pdf"},
		{"B04 twice", `attachment; filename="a"; filename="b"`, "a"},
		{"B04 no value", `;filename*=UTF-8''t.pdf`, "t.pdf"},
		{"B04 latin", `attachment; filename*=iso-8859-1''%e9.txt`, "é.txt"},
		{"B04 open quote", `attachment; filename="a b.txt`, "a b.txt"},
		{"B04 semicolon in quotes", `attachment; filename="a;b.txt"; size=3`, "a;b.txt"},
		{"B04 escaped quote", `attachment; filename="a\"b.txt"`, `a"b.txt`},
		{"B04 raw 8 bit", "attachment; filename=\"\xe9.txt\"", "é.txt"},
		{"B04 raw utf-8", "attachment; filename=\"é.txt\"", "é.txt"},
		{"B04 no charset", `attachment; filename*=%c3%a9.txt`, "é.txt"},
		{"B04 unknown charset", `attachment; filename*=x-none''a.txt`, "a.txt"},
		{"B04 garbage", `attachment; =; filename; ==; "`, "attachment"},
		{"B13", "attachment; filename=\"inv\u202efdp.exe\"", "invfdp.exe"},
		{"B13 letters stay", "attachment; filename=\"חשבון.pdf\"", "חשבון.pdf"},
	} {
		t.Run(tt.id, func(t *testing.T) {
			t.Parallel()
			out, s := read(t, with("yes", attached(tt.disposition)))
			require.Equal(t, []string{tt.want}, names(out.Files))
			require.Equal(t, "data", s.content[tt.want])
			require.Equal(t, approval.Yes, kindOf(out.Text))
		})
	}
}

// Where Content-Disposition says no name, Content-Type may; else there is one by type.
func TestB04NameFallbacks(t *testing.T) {
	t.Parallel()
	out, _ := read(t, with("see",
		"Content-Type: application/pdf; name=\"=?utf-8?q?r=C3=A9sum=C3=A9.pdf?=\"\nContent-Disposition: attachment; filename=\"\"\n\n%PDF",
		"Content-Type: application/pdf\nContent-Disposition: attachment\n\n%PDF",
		"Content-Type: application/octet-stream\nContent-Transfer-Encoding: base64\n\niVBORw0KGgo=",
		"Content-Type: foo\n\n\x00\x01",
	))
	require.Equal(t, []string{"résumé.pdf", "attachment.pdf", "attachment.png", "attachment"}, names(out.Files))
	require.Equal(t, "see", out.Text)
}

func TestB07InlineWithoutName(t *testing.T) {
	t.Parallel()
	out, s := read(t, "Content-Type: multipart/related; boundary=r\n\n--r\nContent-Type: text/html\n\n<p>yes</p><img src=\"cid:c1\">\n"+
		"--r\nContent-Type: image/png\nContent-ID: <c1>\nContent-Disposition: inline\nContent-Transfer-Encoding: base64\n\n"+
		base64.StdEncoding.EncodeToString([]byte("\x89PNG\r\n\x1a\nlogo"))+"\n--r--")
	require.Equal(t, []string{"attachment.png"}, names(out.Files))
	require.Equal(t, "\x89PNG\r\n\x1a\nlogo", s.content["attachment.png"])
	require.Equal(t, approval.Yes, kindOf(out.Text))
}

func TestB08WinmailIsOpaque(t *testing.T) {
	t.Parallel()
	out, s := read(t, with("yes", "Content-Type: application/ms-tnef\nContent-Transfer-Encoding: base64\n\n"+
		base64.StdEncoding.EncodeToString([]byte("01234567890123456789"))))
	require.Equal(t, []string{"winmail.dat"}, names(out.Files))
	require.Equal(t, "01234567890123456789", s.content["winmail.dat"])
	require.Equal(t, approval.Yes, kindOf(out.Text))
}

func TestB09AttachedMessageIsNoText(t *testing.T) {
	t.Parallel()
	inner := "Subject: old\nContent-Type: multipart/mixed; boundary=i\n\n--i\n\nyes\n--i--\n"
	out, s := read(t, with("see attached", "Content-Type: message/rfc822\n\n"+inner))
	require.Equal(t, "see attached", out.Text)
	require.Equal(t, []string{"attachment.eml"}, names(out.Files))
	require.Equal(t, strings.TrimRight(crlf(inner), "\r\n"), strings.TrimRight(s.content["attachment.eml"], "\r\n"))

	// The text of the mail is not looked for where there is none.
	for _, raw := range []string{
		"Content-Type: message/rfc822\n\nSubject: x\n\nyes\n",
		"Content-Type: text/plain\nContent-Disposition: attachment\n\nyes",
		"Content-Type: text/plain; name=a.txt\n\nyes",
		"Content-Type: multipart/digest; boundary=d\n\n--d\n\nSubject: x\n\nyes\n--d--",
		"Content-Type: multipart/mixed; boundary=m\nContent-Disposition: attachment\n\n--m\n\nyes\n--m--",
		"Content-Type: multipart/mixed; boundary=m\n\n--m\nContent-Type: multipart/mixed; boundary=n\nContent-Disposition: attachment\n\n--n\n\nyes\n--n--\n--m--",
		"Content-Type: multipart/encrypted; boundary=m\n\n--m\n\nyes\n--m--",
	} {
		out, _ := read(t, raw)
		require.Empty(t, out.Text, "%q", raw)
		require.Len(t, out.Files, 1, "%q", raw)
	}
	// Named, it is .eml all the same.
	out, _ = read(t, with("x", "Content-Type: message/rfc822; name=\"Re: x\"\n\nSubject: x\n\nyes"))
	require.Equal(t, []string{"Re: x.eml"}, names(out.Files))
}

func TestB11ZeroBytes(t *testing.T) {
	t.Parallel()
	out, s := read(t, with("see", "Content-Type: text/csv\nContent-Disposition: attachment; filename=empty.csv\n\n"))
	require.Equal(t, []string{"empty.csv"}, names(out.Files))
	require.Zero(t, out.Files[0].Size)
	require.Contains(t, s.content, "empty.csv")
	require.Empty(t, out.Files[0].Problem)
}

func TestB12Limits(t *testing.T) {
	t.Parallel()
	limits := Limits{File: 1000, Files: 1500, Count: 6}
	part := func(name string, size int) string {
		return "Content-Disposition: attachment; filename=" + name + "\nContent-Transfer-Encoding: base64\n\n" +
			base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", size)))
	}
	out, s := read(t, with("yes", part("big", 5000), part("a", 900), part("b", 900), part("c", 1), part("d", 1), part("e", 1), part("f", 1)), limits)
	require.Equal(t, approval.Yes, kindOf(out.Text))
	require.Equal(t, []string{"big", "a", "b", "c", "d", "attachment"}, names(out.Files))
	require.Equal(t, "larger than 1000 bytes", out.Files[0].Problem)
	require.EqualValues(t, 5000, out.Files[0].Size)
	require.NotContains(t, s.content, "big")
	require.Len(t, s.content["a"], 900)
	require.Equal(t, "2 more parts were left out: a mail may have 6", out.Files[5].Problem)

	var many []string
	for n := range 10_000 {
		many = append(many, "Content-Disposition: attachment; filename="+strconv.Itoa(n)+"\n\nx")
	}
	out, _ = read(t, with("yes", many...), Limits{File: 10, Files: 1 << 20, Count: 100})
	require.Len(t, out.Files, 100)
	require.Equal(t, "9901 more parts were left out: a mail may have 100", out.Files[99].Problem)
	require.Equal(t, approval.Yes, kindOf(out.Text))
}

// A big part passes through: nothing of it is held, whatever its size.
func TestB12Streams(t *testing.T) {
	t.Parallel()
	const size = 24 << 20
	r := io.MultiReader(
		strings.NewReader("Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nyes\r\n--b\r\nContent-Transfer-Encoding: base64\r\n"+
			"Content-Disposition: attachment; filename=huge.bin\r\n\r\n"),
		&lines{left: size}, strings.NewReader("\r\n--b--\r\n"))
	h, body, err := Open(r)
	require.NoError(t, err)
	var most int
	out, err := Read(h, body, Limits{File: 4 << 20, Files: 1 << 30, Count: 10}, func(_ string, content io.Reader) (chat.File, error) {
		buffer := make([]byte, 64<<10)
		for {
			n, err := content.Read(buffer)
			most += n
			if errors.Is(err, io.EOF) {
				return chat.File{Name: "huge.bin"}, nil
			}
			if err != nil {
				return chat.File{}, err
			}
		}
	})
	require.NoError(t, err)
	require.Equal(t, approval.Yes, kindOf(out.Text))
	require.Equal(t, "larger than 4 MB", out.Files[0].Problem)
	require.InDelta(t, size/4*3, out.Files[0].Size, 1<<20)
	require.LessOrEqual(t, most, 4<<20)
}

// lines is base64 in lines of 76, without end.
type lines struct{ left, at int }

func (l *lines) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, io.EOF
	}
	n := 0
	for n < len(p) && l.left > 0 {
		switch l.at % 78 {
		case 76:
			p[n] = '\r'
		case 77:
			p[n] = '\n'
		default:
			p[n] = 'A'
			l.left--
		}
		l.at++
		n++
	}
	return n, nil
}

func TestDamagedFileIsNamed(t *testing.T) {
	t.Parallel()
	out, s := read(t, with("yes", "Content-Disposition: attachment; filename=a.bin\nContent-Transfer-Encoding: base64\n\nAAAA!AAA\n"))
	require.Equal(t, []string{"a.bin"}, names(out.Files))
	require.NotEmpty(t, out.Files[0].Problem)
	require.Empty(t, s.content)
}

// A mail that ends in the middle, or whose parts are not in order, keeps what it has.
func TestBrokenStructure(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		raw   string
		text  string
		files []string
	}{
		"no last delimiter":  {"Content-Type: multipart/mixed; boundary=b\n\n--b\n\nyes\n--b\nContent-Disposition: attachment; filename=a\n\nx", "yes", []string{"a"}},
		"header is not one":  {"Content-Type: multipart/mixed; boundary=b\n\n--b\nyes\n--b\nContent-Disposition: attachment; filename=a\n\nx\n--b--", "yes", []string{"a"}},
		"odd line in header": {"Content-Type: multipart/mixed; boundary=b\n\n--b\n\nyes\n--b\nContent-Disposition: attachment;\n filename=a\n\nx\n--b--", "yes", []string{"a"}},
		"inner not closed": {"Content-Type: multipart/mixed; boundary=o\n\n--o\nContent-Type: multipart/alternative; boundary=i\n\n--i\n\nyes\n" +
			"--o\nContent-Disposition: attachment; filename=a\n\nx\n--o--", "yes", []string{"a"}},
		"delimiter as prefix": {"Content-Type: multipart/mixed; boundary=b\n\n--b\n\nyes\n--bb\nmore\n--b--", "yes\n--bb\nmore", nil},
		"no boundary":         {"Content-Type: multipart/mixed\n\nyes", "", []string{"attachment"}},
		"old type":            {"Content-Type: text\n\nyes", "yes", nil},
		"empty":               {"", "", nil},
		"two texts":           {with("yes", "\nfooter of the list"), "yes\nfooter of the list", nil},
		"banner part first":   {with("[EXTERNAL]", "\nyes"), "[EXTERNAL]\nyes", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, _ := read(t, tt.raw)
			require.Equal(t, tt.text, out.Text)
			require.Equal(t, tt.files, names(out.Files))
		})
	}
}

// What is put between the fields of the header is not covered by a signature: it is no text.
func TestHeaderLineIsNoBody(t *testing.T) {
	t.Parallel()
	out, _ := read(t, "Subject: x\nyes\nTo: y\n\nno")
	require.Equal(t, "no", out.Text)
	// Nor does what follows it become part of the field before, which a signature covers.
	h, _, err := Open(strings.NewReader(crlf("To: x@example.test\nyes\n , bot@bot.test\nCc: a\n  b\n\nno")))
	require.NoError(t, err)
	require.Equal(t, Header{{"To", "x@example.test"}, {"Cc", "a b"}}, h)
}

func TestNestedTooDeep(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for n := range 200 {
		b.WriteString("Content-Type: multipart/mixed; boundary=b" + strconv.Itoa(n) + "\n\n--b" + strconv.Itoa(n) + "\n")
	}
	b.WriteString("\nyes")
	out, _ := read(t, b.String())
	require.Empty(t, out.Text)
	require.Len(t, out.Files, 1)
}

// cutAfter is a source of a mail that is too large.
type cutAfter struct{ r io.Reader }

func (c cutAfter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if errors.Is(err, io.EOF) {
		err = ErrCut
	}
	return n, err
}

func TestB12MailTooLarge(t *testing.T) {
	t.Parallel()
	raw := crlf(with("yes", attached(`attachment; filename=a`), attached(`attachment; filename=b`)))
	for at := strings.Index(raw, "filename=a"); at < len(raw)-40; at += 7 {
		h, body, err := Open(cutAfter{strings.NewReader(raw[:at])})
		require.NoError(t, err)
		s := &shelf{}
		out, err := Read(h, body, Limits{}, s.sink)
		require.NoError(t, err)
		require.Equal(t, approval.Yes, kindOf(out.Text), "cut at %d", at)
		require.NotEmpty(t, out.Files[len(out.Files)-1].Problem)
	}
}

func TestMailboxes(t *testing.T) {
	t.Parallel()
	for value, want := range map[string][]string{
		`"boss@example.test" <x@attacker.test>`:                  {"x@attacker.test"},
		`a@example.test, x@attacker.test`:                        {"a@example.test", "x@attacker.test"},
		`=?UTF-8?Q?boss=40example.test?= <x@attacker.test>`:      {"x@attacker.test"},
		`=?x-unknown?Q?boss=40example.test?= <Ada@Example.TEST>`: {"ada@example.test"},
		`Ada [work] <ada@example.test>`:                          {"ada@example.test"},
		"\"Ad\xe9\" <ada@example.test>":                          {"ada@example.test"},
		`undisclosed-recipients:;`:                               nil,
		`<ada@example.test> <x@attacker.test>`:                   nil,
		`ada@example.test <x@attacker.test>`:                     nil,
		`Ada [a@b] <ada@example.test>`:                           nil,
		`boss@example.test\n <x@attacker.test>`:                  nil,
	} {
		h := Header{{"From", value}}
		got, _ := h.Mailboxes("from")
		require.Equal(t, want, got, value)
	}
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		plain("yes"), alternative("yes", "<p>yes</p>"), with("yes", attached("attachment; filename*0*=UTF-8''%e2%82%ac; filename*1*=.txt")),
		"Content-Type: text/plain; format=flowed; delsp=yes\nContent-Transfer-Encoding: quoted-printable\n\nye =\ns=20\n",
		"Content-Type: text/html\n\n<style>.a{display:none}</style><p class=a style='opacity:0'>yes",
		"Content-Type: multipart/digest; boundary=\"\"\n\n--\n\nyes", "From: =?utf-8?b?4oI=?= =?utf-8?b?rA==?= <a@b>\n\n\x93",
		"Content-Transfer-Encoding: base64\nContent-Disposition: attachment\n\nAAA=!",
	} {
		f.Add([]byte(crlf(seed)))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		h, body, err := Open(strings.NewReader(string(raw)))
		if err != nil {
			t.Fatal(err)
		}
		s := &shelf{}
		out, err := Read(h, body, Limits{File: 1 << 20, Files: 4 << 20, Count: 50}, s.sink)
		if err != nil {
			t.Fatal(err)
		}
		if !isValid(out.Text) {
			t.Fatalf("not UTF-8: %q", out.Text)
		}
		for _, file := range out.Files {
			if file.Name == "" || strings.ContainsAny(file.Name, "/\\\x00\n") || file.Name == ".." || !isValid(file.Name) {
				t.Fatalf("name %q", file.Name)
			}
			if (file.Path == "") == (file.Problem == "") {
				t.Fatalf("neither stored nor excused: %+v", file)
			}
		}
		_, _ = h.Mailboxes("From")
		_ = h.Text("Subject")
	})
}

func isValid(s string) bool { return strings.ToValidUTF8(s, "") == s }
