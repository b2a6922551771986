package email

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/connectors/email/letter"
)

// Whatever stands in a header: what is made of it is a token that stands there, one
// of ours, or nothing.
func FuzzHeaders(f *testing.F) {
	c, err := New(Params{
		IMAP: Server{Host: "h", Port: 1, Username: "u", Password: "p"}, SMTP: Server{Host: "h", Port: 1},
		Address: "bot@bot.test", TokenSecret: "0123456789abcdef",
		Identify: func(id string) chat.Person { return chat.Person{ID: id} }, Desk: noDesk{}, Files: noFiles{},
	})
	if err != nil {
		f.Fatal(err)
	}
	token := c.token("i", "ada@example.test")
	f.Add("To", "bot+"+token+"@bot.test", "<q."+token+"@bot.test>")
	f.Add("Auto-Submitted", "no (x", "=?utf-8?q?=3Cr."+token+"=40bot.test=3E?=")
	f.Add("Message-ID", "<a b@c>", "<n."+token+".abc@x>")
	f.Add("Return-Path", "<>", "")
	f.Fuzz(func(t *testing.T, name, value, references string) {
		h := letter.Header{{Name: name, Value: value}, {Name: "References", Value: references}, {Name: "From", Value: value}}
		replyTo := c.replyTo(h)
		all := strings.ToLower(letter.DecodeWords(value) + letter.DecodeWords(references))
		switch bare := strings.TrimPrefix(replyTo, "r."); {
		case replyTo == "", replyTo == conflicting:
		case !tokenForm.MatchString(bare) || !strings.Contains(all, bare):
			t.Fatalf("%q is in neither %q nor %q", replyTo, value, references)
		}
		ref := reference(h)
		id, subject := parseReference(ref)
		if !utf8.ValidString(subject) || strings.ContainsAny(id+subject, "\r\n") {
			t.Fatalf("reference %q", ref)
		}
		from, reason := sender(h)
		if (reason == "") != (from.local != "" && from.domain != "") {
			t.Fatalf("sender %v %q", from, reason)
		}
		_ = c.origin(h, from)
		_ = c.eventID(h)
		_, _ = parseOffset(value)
	})
}

type noDesk struct{ chat.Desk }

type noFiles struct{ Files }
