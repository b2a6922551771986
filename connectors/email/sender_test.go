package email_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/approval"
	"github.com/countersignhq/countersign/connectors/email"
	"github.com/countersignhq/countersign/connectors/email/emailtest"
)

func TestA23Spoofed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	attacker := emailtest.NewDomain(t, b.zone, "attacker.test")
	ours := func(raw string) string { return b.dkim.Sign(t, raw) }
	theirs := func(raw string) string { return attacker.Sign(t, raw) }
	bare := emailtest.CRLF
	forged := func(raw string) string { return b.dkim.Forger(t).Sign(t, raw) }
	genuine := ours(from("", "no"))
	for name, raw := range map[string]string{
		"display name is an address": theirs(from(`From: "`+ada+`" <x@attacker.test>`, "yes")),
		"display name is encoded":    theirs(from(`From: =?UTF-8?Q?ada=40example.test?= <x@attacker.test>`, "yes")),
		"two mailboxes":              ours(from(`From: `+ada+`, x@attacker.test`, "yes")),
		"two fields":                 ours(from("From: "+ada+"\nFrom: x@attacker.test", "yes")),
		"a second field on top":      "From: bob@example.test\r\n" + ours(from("", "yes")),
		"odd second field":           "From : bob@example.test\r\n" + ours(from("", "yes")),
		"no signature":               bare(from("", "yes")),
		"somebody else's signature":  theirs(from("", "yes")),
		"forged signature":           forged(from("", "yes")),
		"body replaced":              strings.Replace(genuine, "\r\n\r\nno", "\r\n\r\nyes", 1),
		"results by the sender":      bare(from("Authentication-Results: mx.example.test; dmarc=pass header.from=example.test", "yes")),
		"empty From":                 ours(from("From: <>", "yes")),
		"a letter like another":      ours(from("From: \u212Aim@example.test", "yes")),
		"no From":                    ours("To: " + botAddress + "\n\nyes"),
		"group":                      ours(from("From: ada:;", "yes")),
	} {
		_, reason := b.receiveRaw(t, raw)
		require.NotEmpty(t, reason, name)
	}
	require.Empty(t, b.desk.Messages())
	// A line between the fields is no body, though no signature covers it.
	m, reason := b.receiveRaw(t, strings.Replace(genuine, "\r\nTo: ", "\r\nyes\r\nTo: ", 1))
	if reason == "" {
		require.NotEqual(t, approval.Yes, said(m))
	}
	// The border's word is enough where the operator names it.
	b = newBench(t, func(p *email.Params) { p.Border = "mx.example.test" })
	m, reason = b.receiveRaw(t, from("Authentication-Results: mx.example.test; dmarc=pass header.from=example.test", "yes"))
	require.Empty(t, reason)
	require.Equal(t, ada, m.Thread.Key)
	// Where senders are not verified, From is taken at its word; strangers stay strangers.
	b = newBench(t, func(p *email.Params) { p.TrustFrom = true })
	_, reason = b.receiveRaw(t, from("", "yes"))
	require.Empty(t, reason)
	_, reason = b.receiveRaw(t, from("From: eve@example.test", "yes"))
	require.Equal(t, "an unknown sender", reason)
}

// A mail that a person once wrote to somebody else is sent on as it is: the
// signature is good, and yet it is no answer.
func TestA23Replayed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	token := b.Token("i-1", ada)
	signed := func(raw string, fields ...string) string {
		return b.dkim.Sign(t, raw, append(fields, "From", "Subject")...)
	}
	unsigned := func(raw string) string { return signed(raw) }
	written := func(ago time.Duration) string { return "Date: " + time.Now().Add(-ago).Format(time.RFC1123Z) + "\n" }
	for name, tt := range map[string]struct {
		raw       string
		forwarded bool
	}{
		"to us":                      {b.dkim.Sign(t, from(id(1), "yes")), false},
		"in copy":                    {b.dkim.Sign(t, from(id(2)+"To: x@example.test\nCc: Bot <bot+x@bot.test>", "yes")), false},
		"to somebody else":           {b.dkim.Sign(t, from(id(3)+"To: mallory@attacker.test", "yes")), true},
		"resent":                     {"Resent-From: mallory@attacker.test\r\n" + b.dkim.Sign(t, from(id(4), "yes")), true},
		"recipient is not signed":    {unsigned(from(id(5), "yes")), true},
		"hidden copy":                {b.dkim.Sign(t, from(id(6)+"To: undisclosed-recipients:;", "yes")), true},
		"date is not signed":         {signed(from(id(10), "yes"), "To", "Message-ID"), true},
		"id is not signed":           {signed(from(id(11), "yes"), "To", "Date"), true},
		"id and date are":            {signed(from(id(12), "yes"), "To", "Date", "Message-ID"), false},
		"of last month":              {b.dkim.Sign(t, from(id(13)+written(30*24*time.Hour), "yes")), true},
		"long on its way":            {b.dkim.Sign(t, from(id(14)+written(5*24*time.Hour), "yes")), false},
		"no date":                    {b.dkim.Sign(t, from(id(15)+"Date: \n", "yes")), true},
		"of last month, with token":  {b.dkim.Sign(t, from(id(16)+written(30*24*time.Hour)+"To: bot+"+token+"@bot.test", "yes")), false},
		"unsigned, but has a token":  {unsigned(from(id(7)+"To: bot+"+token+"@bot.test", "yes")), false},
		"to somebody else, answered": {b.dkim.Sign(t, from(id(8)+"To: x@example.test\nIn-Reply-To: <q."+token+"@bot.test>", "yes")), false},
	} {
		m, reason := b.receiveRaw(t, tt.raw)
		require.Empty(t, reason, name)
		require.Equal(t, tt.forwarded, m.Forwarded, name)
	}
}

func TestA24PlusAddress(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	token := b.Token("i-1", ada)
	for to, want := range map[string]string{
		"bot@bot.test":                    "",
		"bot+a+b@bot.test":                "",
		"bot+" + token + "@bot.test":      token,
		"bot+a+" + token + "@bot.test":    token,
		"bot+" + token[:25] + "@bot.test": "",
		"bott+" + token + "@bot.test":     "",
	} {
		m, reason := b.receive(t, from("To: "+to, "yes"))
		require.Empty(t, reason)
		require.Equal(t, want, m.ReplyTo, to)
	}
	for name, tt := range map[string]struct {
		change func(*email.Params)
		want   string
	}{
		"with a plus":    {func(*email.Params) {}, `<bot\+[a-z2-7]{26}@bot\.test>`},
		"without":        {func(p *email.Params) { p.NoPlusAddress = true }, `<bot@bot\.test>`},
		"would be long":  {func(p *email.Params) { p.Address = strings.Repeat("b", 40) + "@bot.test" }, `<b{40}@bot\.test>`},
		"just fits (64)": {func(p *email.Params) { p.Address = strings.Repeat("b", 37) + "@bot.test" }, `<b{37}\+[a-z2-7]{26}@bot\.test>`},
	} {
		b := newBench(t, tt.change)
		_, err := b.Post(t.Context(), card("i-1"))
		require.NoError(t, err)
		q := b.sent(t)[0]
		require.Regexp(t, "^"+tt.want+"$", q.Get("Reply-To"), name)
		require.Contains(t, q.Get("Message-ID"), "<q."+token+"@", "the second carrier: "+name)
	}
}
