package email

import (
	"context"
	"io"
	"mime"
	"path"
	"strings"

	"github.com/emersion/go-message/mail"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/words"
)

// maxSubject is in characters; the whole question is in the mail.
const maxSubject = 120

// outgoing is a mail before it is written down.
type outgoing struct {
	to, subject, text string
	id                string   // "<…>"
	thread            []string // the mails before it, "<…>", oldest first; the last one is answered
	replyTo           string
	automatic         string // Auto-Submitted (RFC 3834 §5)
	files             []chat.File
}

// The values of Auto-Submitted that we use.
const (
	generated = "auto-generated" // questions and what became of them
	replied   = "auto-replied"
)

// header of the mail. It says of itself that no person wrote it.
func (c *Connector) header(o outgoing) mail.Header {
	var h mail.Header
	h.SetDate(c.now())
	h.SetAddressList("From", []*mail.Address{{Name: c.name, Address: c.self.String()}})
	h.SetAddressList("To", []*mail.Address{{Address: o.to}})
	if o.replyTo != "" {
		h.SetAddressList("Reply-To", []*mail.Address{{Address: o.replyTo}})
	}
	h.SetSubject(o.subject)
	h.Set("Message-ID", o.id)
	if n := len(o.thread); n > 0 {
		h.Set("In-Reply-To", o.thread[n-1])
		h.Set("References", strings.Join(o.thread, " "))
	}
	h.Set("Auto-Submitted", o.automatic)
	h.Set("X-Auto-Response-Suppress", "All")
	h.Set(loopHeader, c.self.String())
	h.Set("MIME-Version", "1.0")
	return h
}

// write writes the mail down: plain text only, so that nothing in it can become
// markup, a link or a button; files as they come from the disk.
func (c *Connector) write(ctx context.Context, o outgoing, w io.Writer) error {
	text := strings.ToValidUTF8(o.text, "\uFFFD")
	h := c.header(o)
	if len(o.files) == 0 {
		h.SetContentType("text/plain", map[string]string{"charset": "utf-8"})
		part, err := mail.CreateSingleInlineWriter(w, h)
		return written(part, err, strings.NewReader(text))
	}
	all, err := mail.CreateWriter(w, h)
	if err != nil {
		return err
	}
	var inline mail.InlineHeader
	inline.SetContentType("text/plain", map[string]string{"charset": "utf-8"})
	part, err := all.CreateSingleInline(inline)
	if err := written(part, err, strings.NewReader(text)); err != nil {
		return err
	}
	for _, file := range o.files {
		if err := c.attach(ctx, all, file); err != nil {
			return err
		}
	}
	return all.Close()
}

// attach streams a file from the attachments disk into the mail.
func (c *Connector) attach(ctx context.Context, all *mail.Writer, file chat.File) error {
	content, err := c.files.Open(ctx, file.Path)
	if err != nil {
		return unreadable(file, err)
	}
	defer content.Close()
	kind := mime.TypeByExtension(strings.ToLower(path.Ext(file.Name)))
	if kind == "" {
		kind = "application/octet-stream"
	}
	var h mail.AttachmentHeader
	h.Set("Content-Type", kind)
	// RFC 2231, where the library writes encoded words.
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": file.Name}))
	part, err := all.CreateAttachment(h)
	source := &remembering{r: content}
	if err := written(part, err, source); err != nil {
		if source.err != nil {
			return unreadable(file, source.err)
		}
		return err
	}
	return nil
}

// written fills a part that was begun, and ends it.
func written(part io.WriteCloser, err error, content io.Reader) error {
	if err != nil {
		return err
	}
	if _, err := io.Copy(part, content); err != nil {
		return err
	}
	return part.Close()
}

// question is the mail that asks. It goes into the thread of the mail that led to it.
func (c *Connector) question(card chat.Card) outgoing {
	token := c.token(card.Invocation, card.Thread.Key)
	text := card.Text
	if hint := howToAnswer(card.Language, card.Buttons); hint != "" {
		text += "\n\n" + hint
	}
	if !card.Expires.IsZero() {
		text += "\n" + words.Say(card.Language, chat.Text(lineUntil, "at", card.Expires.UTC().Format("15:04:05 UTC")))
	}
	subject, thread := about(card)
	return outgoing{
		to: card.Thread.Key, subject: subject, text: text, thread: thread,
		id: c.questionID(token), replyTo: c.replyAddress(token), automatic: generated,
	}
}

// notice says what became of a question: a mail that was sent cannot be changed.
func (c *Connector) notice(token string, card chat.Card) outgoing {
	subject, thread := about(card)
	text := card.Closed + "\n\n"
	if c.buried.has(token) {
		text += words.Say(card.Language, chat.Text(lineBuried)) + "\n\n"
	}
	return outgoing{
		to: card.Thread.Key, subject: replySubject(card.Language, subject), text: text + quote(card.Text),
		id: c.noticeID(token, card.Closed), thread: append(thread, c.questionID(token)),
		replyTo: c.replyAddress(token), automatic: generated,
	}
}

// about is a question's subject and the mails before it: those of the mail that led to it,
// or what it asks where there is none. Mail programs join only what agrees in both.
func about(card chat.Card) (title string, thread []string) {
	id, title := parseReference(card.ReplyTo)
	if id == "" {
		return subject(card), nil
	}
	if title == "" {
		title = subject(card)
	}
	return replySubject(card.Language, title), []string{id}
}

// howToAnswer names the words that stand for the buttons of other channels.
func howToAnswer(language string, buttons []chat.Button) string {
	answers := map[chat.Action]string{chat.ActionYes: "yes", chat.ActionNo: "no", chat.ActionAlways: "always"}
	var offered []string
	for _, b := range buttons {
		if word := answers[b.Action]; word != "" {
			offered = append(offered, word)
		}
	}
	if len(offered) == 0 {
		return ""
	}
	hint := words.Say(language, chat.Text(lineHow, "answers", strings.Join(offered, ", ")))
	if len(offered) == 3 {
		hint += "\n" + words.Say(language, chat.Text(lineAlways))
	}
	return hint
}

// subject names the question: its first line, without what all of them begin and end with.
func subject(card chat.Card) string {
	line, _, _ := strings.Cut(strings.TrimSpace(card.Text), "\n")
	begin, end, _ := strings.Cut(words.Say(card.Language, chat.Text(chat.LineQuestion, "prompt", "\n")), "\n")
	line = strings.TrimSpace(strings.TrimPrefix(line, strings.TrimSpace(begin)))
	line = strings.TrimSpace(strings.TrimSuffix(line, strings.TrimSpace(end)))
	line = strings.Join(strings.Fields(strings.ToValidUTF8(line, "\uFFFD")), " ")
	if runes := []rune(line); len(runes) > maxSubject {
		line = string(runes[:maxSubject-1]) + "…"
	}
	if line == "" {
		line = words.Say(card.Language, chat.Text(lineSubject))
	}
	return line
}

func quote(text string) string {
	return "> " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n> ")
}

// replySubject is "Re: " and the subject that is answered.
func replySubject(language, subject string) string {
	subject = strings.TrimSpace(subject)
	if len(subject) >= 3 && strings.EqualFold(subject[:3], "re:") {
		return subject
	}
	if subject == "" {
		subject = words.Say(language, chat.Text(lineMessage))
	}
	return "Re: " + subject
}
