package email_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/approval"
	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/connectors/email"
	"github.com/countersignhq/countersign/connectors/email/emailtest"
)

// The cases about texts and names (A01 to A18, B01 to B13) are tests of letter; here
// are those about who wrote, to what, and what becomes of it.

func said(m chat.Message) approval.ReplyKind { return approval.Read(m.Text).Kind }

// What letter reads arrives at the desk as the text of an answer, as it is.
func TestA01ToA18ReachTheDesk(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for name, tt := range map[string]struct {
		header, body string
		want         approval.ReplyKind
	}{
		"A01": {"", "YES\r\n\r\nOn Mon, 1 Jan 2029 at 09:00, Bot\r\n<a-very-long-address@example.test> wrote:\r\n> Run delete?", approval.Yes},
		"A02": {"", "On Mon, Bot <bot@example.test> wrote:\r\n> Run delete?\r\n\r\nyes", approval.Other},
		"A04": {"", "Sent from my phone\r\n\r\nyes\r\n", approval.Other},
		"A08": {"Content-Type: text/html; charset=utf-8", "<div>yes</div><br><blockquote>Run?</blockquote>", approval.Yes},
		"A09": {"Content-Type: text/html", `<div style="display:none">yes</div><p>no</p>`, approval.Other},
		"A13": {"", "\u200b\r\n\ufeffyes", approval.Yes},
		"A16": {"Content-Type: text/plain; format=flowed; delsp=yes", "ye \r\ns\r\n", approval.Yes},
		"A17": {"Content-Transfer-Encoding: quoted-printable", "y=\r\nes\r\n", approval.Yes},
		"A18": {"Content-Type: text/plain; charset=x-unknown", "yes\r\n\xe9", approval.Other},
	} {
		m, reason := b.receive(t, from(tt.header, tt.body))
		require.Empty(t, reason, name)
		require.Equal(t, tt.want, said(m), "%s %q", name, m.Text)
		require.Empty(t, m.ReplyTo, name)
		require.False(t, m.Forwarded, name)
	}
}

func TestMessage(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	at := time.Now().Add(-time.Minute).UTC()
	raw := b.dkim.Sign(t, from("From: =?utf-8?q?Ad=C3=A0?= <ADA@Example.TEST>\n"+id(1)+"Subject: =?utf-8?q?r=C3=A9port?=\n  two\n", "list reports\n"))
	reason, err := b.Receive(t.Context(), raw, at)
	require.NoError(t, err)
	require.Empty(t, reason)
	m := b.desk.Messages()[0]
	require.NotEmpty(t, m.UUID)
	require.Equal(t, chat.Message{
		UUID: m.UUID, EventID: "email:" + botAddress + ":m1@example.test", Thread: thread(ada),
		From: chat.Person{ID: "email:" + ada, Name: "ada", Display: ada},
		Text: "list reports", Ref: "<m1@example.test> réport two", ReceivedAt: at,
	}, m)
}

func TestA19AutomaticReplies(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for header, heard := range map[string]bool{
		"Auto-Submitted: auto-replied":                     false,
		"Auto-Submitted: auto-generated; owner=x":          false,
		"Auto-Submitted: auto-notified (vacation)":         false,
		"Auto-Submitted: ":                                 false,
		"Auto-Submitted: no\nAuto-Submitted: auto-replied": false,
		"Auto-Submitted: nobody":                           false,
		"Auto-Submitted: no":                               true,
		"Auto-Submitted: No (person)":                      true,
		"Auto-Submitted: (a) NO ; x=y":                     true,
		"X-Auto-Response-Suppress: All":                    true,
		"Precedence: bulk":                                 true,
		"Precedence: first-class":                          true,
		"Precedence: auto_reply":                           false,
		"X-Autoreply: yes":                                 false,
		"List-Id: <team.example.test>":                     false,
	} {
		m, reason := b.receive(t, from(header, "yes"))
		if !heard {
			require.Contains(t, reason, "automatic", header)
			continue
		}
		require.Empty(t, reason, header)
		require.Equal(t, approval.Yes, said(m), header)
	}
	// Bulk mail may be an answer, and starts nothing else.
	token := b.Token("i-1", ada)
	_, reason := b.receive(t, from("Precedence: junk", "I am away until Monday"))
	require.Contains(t, reason, "bulk")
	m, reason := b.receive(t, from("Precedence: list\nIn-Reply-To: <q."+token+"@bot.test>", "no, keep it"))
	require.Empty(t, reason)
	require.Equal(t, token, m.ReplyTo)
	require.Empty(t, b.sink.Mails(), "nobody is answered")
}

func TestA20Bounces(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	report := "Content-Type: multipart/report; report-type=delivery-status; boundary=b\n"
	body := "--b\n\nyes\n--b\nContent-Type: message/delivery-status\n\nAction: failed\n--b\nContent-Type: message/rfc822\n\nSubject: q\n\nyes\n--b--\n"
	for _, header := range []string{
		"Return-Path: <>\n" + report, report, "Return-Path: <>\n", "Return-Path: < >\n", "X-Failed-Recipients: x@example.test\n",
	} {
		_, reason := b.receive(t, from(header, body))
		require.Contains(t, reason, "automatic", header)
	}
	require.Empty(t, b.sink.Mails())
}

func TestA21OurOwnMail(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ours := emailtest.NewDomain(t, b.zone, "bot.test")
	for _, header := range []string{
		"From: " + botAddress, "From: Bot <BOT+x@bot.test>", "X-Countersign-Loop: somebody@else.test",
	} {
		_, reason := b.receiveRaw(t, ours.Sign(t, b.dkim.Sign(t, from(header, "yes"))))
		require.NotEmpty(t, reason, header)
	}
	// What we send says so.
	_, err := b.Post(t.Context(), card("i-1"))
	require.NoError(t, err)
	require.NoError(t, b.Edit(t.Context(), chat.Receipt{Ref: b.Token("i-1", ada)}, closed(card("i-1"))))
	require.NoError(t, b.Reply(t.Context(), chat.Reply{Thread: thread(ada), UUID: "u", Text: "done"}, progress{}))
	all := b.sent(t)
	require.Len(t, all, 3)
	for n, want := range []string{"auto-generated", "auto-generated", "auto-replied"} {
		require.Equal(t, want, all[n].Get("Auto-Submitted"))
		require.Equal(t, "All", all[n].Get("X-Auto-Response-Suppress"))
		require.Equal(t, botAddress, all[n].Get("X-Countersign-Loop"))
		// And comes to nothing if it comes back.
		_, reason := b.receiveRaw(t, b.sink.Mails()[n].Raw)
		require.NotEmpty(t, reason)
	}
}

func TestA22Threading(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first, second := b.Token("i-1", ada), b.Token("i-2", ada)
	_, err := b.Post(t.Context(), card("i-1"))
	require.NoError(t, err)
	question := b.sent(t)[0]
	replyTo, err := question.AddressList("Reply-To")
	require.NoError(t, err)
	messageID := question.Get("Message-ID")
	for name, tt := range map[string]struct{ header, want string }{
		"nothing points anywhere":      {"", ""},
		"In-Reply-To":                  {"In-Reply-To: " + messageID, first},
		"token address":                {"To: " + replyTo[0].Address, first},
		"both":                         {"To: <" + replyTo[0].Address + ">\nIn-Reply-To: " + messageID, first},
		"upper case":                   {"To: " + strings.ToUpper(replyTo[0].Address), first},
		"Message-ID rewritten":         {"To: Bot <" + replyTo[0].Address + ">\nIn-Reply-To: <0100@relay.test>\nReferences: <0100@relay.test>", first},
		"references only":              {"References: <x@y>\n " + messageID, first},
		"references as encoded word":   {"References: =?utf-8?Q?" + strings.NewReplacer("<", "=3C", ">", "=3E").Replace(messageID) + "?=", first},
		"in an encoded word, as it is": {"References: =?utf-8?Q?" + messageID + "?=", first},
		"the nearest of references":    {"References: " + messageID + " <q." + second + "@bot.test>", second},
		"delivered to":                 {"Delivered-To: bot+" + first + "@bot.test", first},
		"list that cannot be parsed":   {"To: \"open <bot+" + first + "@bot.test>,,", first},
		"another question's token":     {"To: bot+" + second + "@bot.test", second},
		"two that contradict":          {"To: bot+" + first + "@bot.test\nIn-Reply-To: <q." + second + "@bot.test>", "conflicting-tokens"},
		"two recipients":               {"To: bot+" + first + "@bot.test\nCc: bot+" + second + "@bot.test", "conflicting-tokens"},
		"token of another domain":      {"To: bot+" + first + "@attacker.test", ""},
		"Outlook's own index":          {"Thread-Index: AdoX=", ""},
	} {
		header := tt.header
		m, reason := b.receive(t, from(header, "yes"))
		require.Empty(t, reason, name)
		require.Equal(t, tt.want, m.ReplyTo, name)
	}
	// An answer to one of our replies answers no question.
	require.NoError(t, b.Reply(t.Context(), chat.Reply{Thread: thread(ada), UUID: "u", Text: "done"}, progress{}))
	reply := b.sent(t)[1].Get("Message-ID")
	m, _ := b.receive(t, from("In-Reply-To: "+reply+"\nReferences: "+messageID+" "+reply, "yes"))
	require.NotEmpty(t, m.ReplyTo)
	require.NotEqual(t, first, m.ReplyTo)
	// One to the notice about a question does answer that one, which has ended.
	require.NoError(t, b.Edit(t.Context(), chat.Receipt{Ref: first}, closed(card("i-1"))))
	m, _ = b.receive(t, from("In-Reply-To: "+b.sent(t)[2].Get("Message-ID"), "yes"))
	require.Equal(t, first, m.ReplyTo)
}

func TestA25SameMailTwice(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for n, header := range []string{id(1), "Date: Mon, 1 Jan 2029 09:00:00 +0000\n"} {
		signed := b.dkim.Sign(t, header+"From: "+ada+"\nTo: "+botAddress+"\nSubject: x\nContent-Type: multipart/mixed; boundary=b\n\n"+
			"--b\n\nyes\n--b\nContent-Disposition: attachment; filename=a.txt\n\ndata\n--b--\n")
		var copies []string
		for _, trace := range []string{"", "Received: from a by b; now\r\n", "Received: from c by d; then\r\nDelivered-To: x\r\n"} {
			copies = append(copies, trace+signed)
		}
		m, reason := b.receiveRaw(t, copies[0])
		require.Empty(t, reason)
		require.Len(t, m.Files, 1)
		if n == 0 {
			require.Contains(t, m.EventID, "m1@example.test")
		}
		for _, again := range copies {
			_, reason := b.receiveRaw(t, again)
			require.Equal(t, "a copy of a mail that was taken", reason)
		}
		// A worker that knows nothing of the first gives it the same names.
		twin := newBench(t, func(p *email.Params) { p.Resolver, p.Files = b.zone, b.files })
		saves := b.files.saves
		got, reason := twin.receiveRaw(t, copies[2])
		require.Empty(t, reason)
		require.Equal(t, m.EventID, got.EventID)
		require.Equal(t, m.UUID, got.UUID)
		require.Equal(t, m.Files, got.Files)
		require.Equal(t, saves, b.files.saves, "the file is there already")
	}
	// Another text is another mail, and so is another file.
	a, _ := b.receive(t, "From: "+ada+"\nTo: "+botAddress+"\nSubject: y\n\none")
	c, _ := b.receive(t, "From: "+ada+"\nTo: "+botAddress+"\nSubject: y\n\ntwo")
	require.NotEqual(t, a.EventID, c.EventID)
	require.NotEqual(t, a.UUID, c.UUID)
	// A Message-ID of one person says nothing about another's mail.
	d, reason := b.receive(t, from("From: bob@example.test\n"+id(1), "yes"))
	require.Empty(t, reason)
	require.NotEqual(t, b.desk.Messages()[0].UUID, d.UUID)
}

// There is no link that decides anything: programs open links.
func TestA28NoLinks(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	_, err := b.Post(t.Context(), card("i-1"))
	require.NoError(t, err)
	require.NoError(t, b.Edit(t.Context(), chat.Receipt{Ref: b.Token("i-1", ada)}, closed(card("i-1"))))
	for _, m := range b.sent(t) {
		require.NotRegexp(t, `(?i)https?:|mailto:|<a |List-Unsubscribe`, m.text)
		require.Empty(t, m.Get("List-Unsubscribe"))
		require.True(t, strings.HasPrefix(m.Get("Content-Type"), "text/plain"))
	}
}

// Two questions to one person: an answer belongs to the one that it replies to.
func TestH03TwoQuestions(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a, err := b.Post(t.Context(), card("i-1"))
	require.NoError(t, err)
	c, err := b.Post(t.Context(), card("i-2"))
	require.NoError(t, err)
	require.NotEqual(t, a.Ref, c.Ref)
	questions := b.sent(t)
	for n, receipt := range []chat.Receipt{a, c} {
		m, _ := b.receive(t, from("In-Reply-To: "+questions[n].Get("Message-ID")+"\nTo: "+questions[n].Get("Reply-To"), "yes"))
		require.Equal(t, receipt.Ref, m.ReplyTo)
		require.Equal(t, approval.Yes, said(m))
	}
	m, _ := b.receive(t, from("Subject: bare", "yes"))
	require.Empty(t, m.ReplyTo, "the conversation decides: it has one question at most")
	// The same question to another person has another token.
	require.NotEqual(t, b.Token("i-1", ada), b.Token("i-1", "bob@example.test"))
	// And with another secret everything is different.
	require.NotEqual(t, b.Token("i-1", ada), newBench(t, func(p *email.Params) { p.TokenSecret += "x" }).Token("i-1", ada))
}

// A is over, B is asked, and then comes the yes to A: it still points at A.
func TestH04LateYes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a, err := b.Post(t.Context(), card("i-1"))
	require.NoError(t, err)
	late := b.dkim.Sign(t, from("In-Reply-To: "+b.sent(t)[0].Get("Message-ID"), "yes"))
	timeout := card("i-1")
	timeout.Closed = "⌛ No answer until 10:05:00 UTC. It was not run."
	require.NoError(t, b.Edit(t.Context(), a, timeout))
	require.Contains(t, b.sent(t)[1].text, timeout.Closed, "the end is always announced")
	c, err := b.Post(t.Context(), card("i-2"))
	require.NoError(t, err)
	m, _ := b.receiveRaw(t, late)
	require.Equal(t, a.Ref, m.ReplyTo)
	require.NotEqual(t, c.Ref, m.ReplyTo)
}

func closed(c chat.Card) chat.Card {
	c.Closed, c.Buttons = "✅ Approved by ada at 12:03:04 UTC.", nil
	return c
}
