package email_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/connectors/email"
	"github.com/countersignhq/countersign/connectors/email/emailtest"
)

func subjectOf(t testing.TB, m sent) string {
	t.Helper()
	subject, err := new(mime.WordDecoder).DecodeHeader(m.Get("Subject"))
	require.NoError(t, err)
	return subject
}

func TestQuestion(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := card("i-1")
	c.Expires = time.Date(2029, 1, 1, 12, 5, 3, 0, time.UTC)
	receipt, err := b.Post(t.Context(), c)
	require.NoError(t, err)
	require.Equal(t, b.Token("i-1", ada), receipt.Ref)
	m := b.sent(t)[0]
	require.Equal(t, []string{ada}, m.to)
	require.Equal(t, `"Countersign" <bot@bot.test>`, m.Get("From"))
	require.Equal(t, "Delete the file at reports/old.csv on disk local?", subjectOf(t, m))
	require.Equal(t, "⚠️ Delete the file at reports/old.csv on disk local? Reply 'Yes' to confirm.\n\n"+
		"Reply to this mail with one of these words, alone on the first line, above anything that is quoted: yes, no, always.\n"+
		"(always: from now on in this conversation, without asking.)\nIt is open until 12:05:03 UTC.", strings.TrimRight(m.text, "\n"))
	require.Equal(t, "<q."+receipt.Ref+"@bot.test>", m.Get("Message-ID"))
	require.Equal(t, "<bot+"+receipt.Ref+"@bot.test>", m.Get("Reply-To"))

	// The same question again is the same mail.
	again, err := b.Post(t.Context(), c)
	require.NoError(t, err)
	require.Equal(t, receipt, again)
	require.Len(t, b.sink.Copies(), 2)
	require.Len(t, b.sink.Mails(), 1)
}

// Values are data, in the subject too.
func TestQuestionOfOddText(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := card("i-1")
	c.Text = "⚠️ Delete a\r\nBcc: eve@example.test\r\n\r\nyes <b>&amp; é " + strings.Repeat("x", 3000) + "\n.\nyes"
	c.Buttons = nil
	_, err := b.Post(t.Context(), c)
	require.NoError(t, err)
	m := b.sent(t)[0]
	require.Equal(t, []string{ada}, m.to)
	require.Empty(t, m.Get("Bcc"))
	require.Equal(t, "Delete a", subjectOf(t, m))
	require.Equal(t, strings.ReplaceAll(c.Text, "\r\n", "\n"), strings.TrimRight(m.text, "\n"))
}

func TestNotice(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	receipt, err := b.Post(t.Context(), card("i-1"))
	require.NoError(t, err)
	require.NoError(t, b.Edit(t.Context(), receipt, card("i-1")), "still open: nothing to say")
	require.Len(t, b.sink.Copies(), 1)
	for range 2 {
		require.NoError(t, b.Edit(t.Context(), receipt, closed(card("i-1"))))
	}
	all := b.sent(t)
	require.Len(t, all, 2, "the same notice again is the same mail")
	require.Equal(t, "Re: "+subjectOf(t, all[0]), subjectOf(t, all[1]))
	require.Equal(t, all[0].Get("Message-ID"), all[1].Get("In-Reply-To"))
	require.Equal(t, all[0].Get("Message-ID"), all[1].Get("References"))
	require.Equal(t, "✅ Approved by ada at 12:03:04 UTC.\n\n> "+card("").Text, strings.TrimRight(all[1].text, "\n"))
	b.sink.Break(emailtest.Fault{Refuse: true})
	classified(t, b.Edit(t.Context(), receipt, closed(card("i-1"))), true)
	classified(t, b.Edit(t.Context(), chat.Receipt{Ref: "1001/7"}, closed(card("i-1"))), false)
}

// Question and notice go into the thread of the mail that led to the question.
func TestQuestionInItsThread(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for n, tt := range []struct{ header, subject, led string }{
		{id(1) + "Subject: clean up, please", "Re: clean up, please", "<m1@example.test>"},
		{id(2) + "Subject: RE: clean up", "RE: clean up", "<m2@example.test>"},
		{id(3), "Re: Delete the file at reports/old.csv on disk local?", "<m3@example.test>"},
		{"Message-ID: none\nSubject: clean up", "Delete the file at reports/old.csv on disk local?", ""},
	} {
		m, reason := b.receive(t, from(tt.header, "/file_manager delete disk=local path=reports/old.csv"))
		require.Empty(t, reason)
		c := card(fmt.Sprintf("i-%d", n))
		c.ReplyTo = m.Ref
		receipt, err := b.Post(t.Context(), c)
		require.NoError(t, err)
		require.NoError(t, b.Edit(t.Context(), receipt, closed(c)))
		all := b.sent(t)
		question, notice := all[2*n], all[2*n+1]
		require.Equal(t, tt.subject, subjectOf(t, question))
		require.Equal(t, tt.led, question.Get("In-Reply-To"))
		require.Equal(t, tt.led, question.Get("References"))
		require.Contains(t, question.Get("Reply-To"), receipt.Ref)
		want := tt.subject
		if tt.led == "" {
			want = "Re: " + want
		}
		require.Equal(t, want, subjectOf(t, notice))
		require.Equal(t, question.Get("Message-ID"), notice.Get("In-Reply-To"))
		require.Equal(t, strings.TrimSpace(tt.led+" "+question.Get("Message-ID")), notice.Get("References"))
		// What a program makes of all that in an answer still belongs to the question.
		answer, _ := b.receive(t, from("In-Reply-To: "+question.Get("Message-ID")+"\nReferences: "+tt.led+" "+question.Get("Message-ID"), "yes"))
		require.Equal(t, receipt.Ref, answer.ReplyTo)
	}
	// No reference writes a header of its own.
	c := card("i-9")
	c.ReplyTo = "<a@b>\r\nBcc: <eve@example.test> x\r\nBcc: eve@example.test"
	_, err := b.Post(t.Context(), c)
	require.NoError(t, err)
	all := b.sent(t)
	require.Empty(t, all[len(all)-1].Get("Bcc"))
}

func TestReply(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	question, _ := b.receive(t, from(id(1)+"Subject: Re: reports", "send them"))
	files := []chat.File{
		b.put(t, "réport ;\"1\".csv", []byte("a;b\n")), b.put(t, "empty.txt", nil), b.put(t, "noext", bytes.Repeat([]byte{0, 255}, 5000)),
		{Name: "gone.pdf", Problem: "larger than 20 MB"},
	}
	done := progress{}
	reply := chat.Reply{Thread: thread(ada), To: question.Ref, UUID: "u-1", Text: "Here they are.\n", Files: files}
	require.NoError(t, b.Reply(t.Context(), reply, done))
	require.Len(t, done, 5)
	m := b.sent(t)[0]
	require.Equal(t, "Re: reports", subjectOf(t, m))
	require.Equal(t, "<m1@example.test>", m.Get("In-Reply-To"))
	require.Equal(t, "<m1@example.test>", m.Get("References"))
	require.Empty(t, m.Get("Reply-To"))
	require.Equal(t, "Here they are.\n\n\ngone.pdf could not be attached: larger than 20 MB", strings.TrimRight(m.text, "\n"))
	require.Len(t, m.files, 3)
	require.Equal(t, files[0].Name, m.files[0].File)
	require.Equal(t, "a;b\n", string(m.files[0].Content))
	require.Empty(t, m.files[1].Content)
	require.Equal(t, bytes.Repeat([]byte{0, 255}, 5000), m.files[2].Content)
	// All of it is done: nothing goes out again.
	require.NoError(t, b.Reply(t.Context(), reply, done))
	require.Len(t, b.sink.Copies(), 1)
	// After an answer that was lost the whole mail comes once more, recognisably.
	b.sink.Break(emailtest.Fault{Lose: true})
	lost := progress{}
	other := reply
	other.UUID = "u-2"
	classified(t, b.Reply(t.Context(), other, lost), true)
	require.Empty(t, lost)
	require.NoError(t, b.Reply(t.Context(), other, lost))
	require.Len(t, b.sink.Copies(), 3)
	require.Len(t, b.sink.Mails(), 2)
	// Two texts of one turn are two mails.
	for _, text := range []string{"one", "two"} {
		require.NoError(t, b.Reply(t.Context(), chat.Reply{Thread: thread(ada), UUID: "u-3", Text: text}, progress{}))
	}
	require.Len(t, b.sink.Mails(), 4)
	// Nothing to say is no mail.
	require.NoError(t, b.Reply(t.Context(), chat.Reply{Thread: thread(ada), UUID: "u-4", Text: " \n"}, progress{}))
	require.Len(t, b.sink.Copies(), 5)
}

func TestReplyThatIsTooLarge(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.sink.Limit(20_000)
	done := progress{}
	reply := chat.Reply{Thread: thread(ada), UUID: "u-1", Text: "see file", Files: []chat.File{b.put(t, "big.bin", make([]byte, 50_000))}}
	require.NoError(t, b.Reply(t.Context(), reply, done))
	m := b.sent(t)[0]
	require.Equal(t, "see file\n\nbig.bin could not be sent: the mail server takes no mail of that size.", strings.TrimRight(m.text, "\n"))
	require.Empty(t, m.files)
	require.Len(t, done, 2)
	// A text alone that is too large is final.
	err := b.Reply(t.Context(), chat.Reply{Thread: thread(ada), UUID: "u-2", Text: strings.Repeat("x ", 50_000)}, progress{})
	classified(t, err, false)
}

// A file that cannot be read in the middle never makes half a mail.
func TestFileThatBreaks(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		path      string
		temporary bool
	}{
		"gone":   {"outbound/u-1/none.bin", false},
		"broken": {"outbound/u-1/a.bin", true},
	} {
		b := newBench(t, func(p *email.Params) { p.Files = breaking{p.Files} })
		b.put(t, "a.bin", make([]byte, 300_000))
		reply := chat.Reply{Thread: thread(ada), UUID: "u-1", Text: "see", Files: []chat.File{{Name: "a.bin", Path: tt.path}}}
		done := progress{}
		classified(t, b.Reply(t.Context(), reply, done), tt.temporary)
		require.Empty(t, done, name)
		require.Empty(t, b.sink.Copies(), name)
	}
}

// breaking hands out files that end with an error in the middle.
type readCloser = io.ReadCloser

type breaking struct{ email.Files }

func (b breaking) Open(ctx context.Context, path string) (content readCloser, err error) {
	r, err := b.Files.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	return &brokenReader{readCloser: r}, nil
}

type brokenReader struct {
	readCloser
	n int
}

func (b *brokenReader) Read(p []byte) (int, error) {
	n, err := b.readCloser.Read(p)
	if b.n += n; b.n > 200_000 {
		return 0, errors.New("the disk is away")
	}
	return n, err
}

func classified(t testing.TB, err error, temporary bool) *chat.Error {
	t.Helper()
	var c *chat.Error
	require.ErrorAs(t, err, &c)
	require.Equal(t, temporary, c.Temporary, "%v", err)
	return c
}

func TestH17Undeliverable(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.sink.Gone(ada)
	_, err := b.Post(t.Context(), card("i-1"))
	classified(t, err, false)
	require.Contains(t, err.Error(), "550")
	require.Contains(t, err.Error(), "no such user here")
	for _, secret := range b.secrets() {
		require.NotContains(t, err.Error(), secret)
	}
	for _, key := range []string{"", "ada", "Ada <ada@example.test>", "ada@example.test, eve@example.test", "a@b\r\nBcc: c@d"} {
		c := card("i-1")
		c.Thread.Key = key
		_, err := b.Post(t.Context(), c)
		classified(t, err, false)
		classified(t, b.Reply(t.Context(), chat.Reply{Thread: c.Thread, UUID: "u", Text: "x"}, progress{}), false)
	}
	other := card("i-1")
	other.Thread.Connector = chat.Telegram
	_, err = b.Post(t.Context(), other)
	classified(t, err, false)
}

func TestClassification(t *testing.T) {
	t.Parallel()
	reply := func(at string, code int, text string) emailtest.Fault {
		return emailtest.Fault{At: at, Reply: &smtp.SMTPError{Code: code, EnhancedCode: smtp.NoEnhancedCode, Message: text}}
	}
	for name, tt := range map[string]struct {
		fault     emailtest.Fault
		temporary bool
		pause     bool
	}{
		"421 while sending":  {reply("mail", 421, "shutting down"), true, true},
		"451":                {reply("data", 451, "try again"), true, true},
		"452 no room":        {reply("rcpt", 452, "insufficient storage"), true, true},
		"550":                {reply("mail", 550, "you are blocked"), false, false},
		"554 after the data": {reply("data", 554, "this is spam"), false, false},
		"421 as a greeting":  {emailtest.Fault{Greeting: "421 too many connections\r\n"}, true, true},
		"554 as a greeting":  {emailtest.Fault{Greeting: "554 no service here\r\n"}, false, false},
		"no SMTP":            {emailtest.Fault{Greeting: "SSH-2.0-OpenSSH\r\n"}, true, false},
		"nothing":            {emailtest.Fault{Refuse: true}, true, false},
	} {
		b := newBench(t)
		b.sink.Break(tt.fault)
		_, err := b.Post(t.Context(), card("i-1"))
		c := classified(t, err, tt.temporary)
		require.Equal(t, tt.pause, c.RetryAfter > 0, name)
		require.Empty(t, b.sink.Copies(), name)
		_, err = b.Post(t.Context(), card("i-1"))
		require.NoError(t, err, name)
	}
	// A wrong password is the server's word, and stands in no error.
	b := newBench(t, func(p *email.Params) { p.SMTP.Password = "wrong-Secret-000" })
	_, err := b.Post(t.Context(), card("i-1"))
	classified(t, err, false)
	require.Contains(t, err.Error(), "535")
	require.NotContains(t, err.Error(), "wrong-Secret-000")
	// No server at all.
	b = newBench(t, func(p *email.Params) { p.SMTP.Port = 1 })
	_, err = b.Post(t.Context(), card("i-1"))
	classified(t, err, true)
	// Encryption that was asked for is not left out.
	b = newBench(t, func(p *email.Params) { p.SMTP.Encryption = email.StartTLS })
	_, err = b.Post(t.Context(), card("i-1"))
	require.Error(t, err)
	require.Empty(t, b.sink.Copies())
}

func TestNew(t *testing.T) {
	t.Parallel()
	_, err := email.New(email.Params{IMAP: email.Server{Encryption: "maybe"}, Address: "nobody"})
	for _, want := range []string{
		"email.imap.host", "email.imap.port", "email.imap.encryption", "email.imap.username", "email.smtp.host",
		"from_address", "token_secret", "Identify",
	} {
		require.ErrorContains(t, err, want)
	}
	_, err = email.New(email.Params{TokenSecret: "short-Secret"})
	require.NotContains(t, err.Error(), "short-Secret")
}
