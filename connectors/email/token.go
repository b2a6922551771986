package email

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"regexp"
	"slices"
	"strings"

	"github.com/countersignhq/countersign/connectors/email/letter"
)

// A token is 26 characters, 128 bits. It names one question to one person and is
// as good as random to whoever has not the secret. It stands in the question's
// Message-ID and Reply-To, so that either may be lost on the way, and is itself
// the Receipt.Ref of the question: to see what an answer belongs to needs no
// memory. It is used once because its question ends once.

const (
	// maxLocal is RFC 5321 §4.5.3.1.1, in octets.
	maxLocal = 64
	// conflicting is the ReplyTo of a mail that points at several questions: none of them.
	conflicting = "conflicting-tokens"
)

var (
	encoding  = base32.StdEncoding.WithPadding(base32.NoPadding)
	tokenForm = regexp.MustCompile(`^[a-z2-7]{26}$`)
	// ownID is what our Message-IDs begin with: a question, a notice about one, a reply.
	ownID = regexp.MustCompile(`(?i)<([qnr])\.([a-z2-7]{26})(?:\.[a-z2-7]+)?@`)
)

func short(sum []byte) string { return strings.ToLower(encoding.EncodeToString(sum[:16])) }

func digest(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	return short(h.Sum(nil))
}

// token of a question to a recipient.
func (c *Connector) token(invocation, recipient string) string {
	mac := hmac.New(sha256.New, c.secret)
	mac.Write([]byte("countersign question\x00" + invocation + "\x00" + strings.ToLower(recipient)))
	return short(mac.Sum(nil))
}

func (c *Connector) questionID(token string) string { return "<q." + token + "@" + c.self.domain + ">" }

func (c *Connector) noticeID(token, text string) string {
	return "<n." + token + "." + digest(text)[:10] + "@" + c.self.domain + ">"
}

func (c *Connector) replyID(parts ...string) string {
	return "<r." + digest(parts...) + "@" + c.self.domain + ">"
}

// replyAddress carries a token behind a plus; the plain address where it is not
// wanted or would be too long.
func (c *Connector) replyAddress(token string) string {
	local := c.self.local + "+" + token
	if !c.plus || len(local) > maxLocal {
		return c.self.String()
	}
	return local + "@" + c.self.domain
}

// replyTo is which of our mails another one answers, in the form of Receipt.Ref:
// a question's token, "r.…" for a mail that was none, or empty. Carriers are its
// recipients and the mail right before it; References only where these say nothing.
func (c *Connector) replyTo(h letter.Header) string {
	direct := c.tokensOfRecipients(h)
	parents := idsOf(h, "In-Reply-To")
	for _, id := range parents {
		if id.kind != "r" && !slices.Contains(direct, id.token) {
			direct = append(direct, id.token)
		}
	}
	switch {
	case len(direct) > 1:
		return conflicting
	case len(direct) == 1:
		return direct[0]
	}
	for _, id := range parents {
		return "r." + id.token
	}
	references := idsOf(h, "References")
	if len(references) == 0 {
		return ""
	}
	last := references[len(references)-1]
	if last.kind == "r" {
		return "r." + last.token
	}
	return last.token
}

func (c *Connector) tokensOfRecipients(h letter.Header) []string {
	var tokens []string
	for _, field := range []string{"To", "Cc", "Delivered-To", "X-Original-To", "Envelope-To"} {
		for _, value := range h.All(field) {
			// Read word by word: a list that cannot be parsed still holds its token.
			for word := range strings.FieldsFuncSeq(letter.DecodeWords(value), func(r rune) bool {
				return strings.ContainsRune("<>,;:\"() \t", r)
			}) {
				token := c.tokenOf(splitAddress(word))
				if token != "" && !slices.Contains(tokens, token) {
					tokens = append(tokens, token)
				}
			}
		}
	}
	return tokens
}

// tokenOf is the token in one of our addresses, wherever behind a plus it stands.
func (c *Connector) tokenOf(a address) string {
	rest, ours := strings.CutPrefix(a.local, c.self.local+"+")
	if !ours || a.domain != c.self.domain {
		return ""
	}
	for tag := range strings.SplitSeq(rest, "+") {
		if tokenForm.MatchString(tag) {
			return tag
		}
	}
	return ""
}

type ownMail struct{ kind, token string }

// idsOf finds our Message-IDs in a field, also where a program has encoded it.
func idsOf(h letter.Header, field string) []ownMail {
	var ids []ownMail
	for _, value := range h.All(field) {
		for _, m := range ownID.FindAllStringSubmatch(letter.DecodeWords(value), -1) {
			ids = append(ids, ownMail{strings.ToLower(m[1]), strings.ToLower(m[2])})
		}
	}
	return ids
}

// reference is Message.Ref and Reply.To: a Message-ID, and the subject behind it
// since mail programs join only what has both.
func reference(h letter.Header) string {
	subject := strings.Join(strings.Fields(h.Text("Subject")), " ")
	if runes := []rune(subject); len(runes) > 200 {
		subject = string(runes[:200])
	}
	return strings.TrimSpace(messageID(h) + " " + subject)
}

func parseReference(ref string) (id, subject string) {
	if id = idForm.FindString(ref); id == "" || !strings.HasPrefix(ref, id) {
		return "", ref
	}
	return id, strings.TrimSpace(ref[len(id):])
}

// idForm is ASCII without blanks and brackets.
var idForm = regexp.MustCompile(`<[\x21-\x3B\x3D\x3F-\x7E]{1,500}>`)

// messageID is "<id>", or "" where there is none that can be referred to.
func messageID(h letter.Header) string { return idForm.FindString(h.First("Message-ID")) }
