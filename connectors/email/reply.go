package email

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/words"
)

// Reply sends text and files in one mail: all of it or nothing. The parts, "text"
// and "file:{name}", are marked when the server has taken the mail. A mail that
// the server will not take for its size goes without the files and names them.
func (c *Connector) Reply(ctx context.Context, reply chat.Reply, progress chat.Progress) error {
	if err := c.recipient(reply.Thread); err != nil {
		return err
	}
	left := outstanding(reply, progress)
	if len(left.parts) == 0 {
		return nil
	}
	err := c.sendReply(ctx, reply, left)
	if tooLarge(err) && len(left.files) > 0 {
		c.log.Warn("the mail server takes no mail of that size; the reply goes without its files", "error", err)
		err = c.sendReply(ctx, reply, left.withoutFiles(reply.Language))
	}
	if err != nil {
		return err
	}
	for _, part := range left.parts {
		progress.Mark(part)
	}
	return nil
}

// rest is what of a reply has not been sent yet.
type rest struct {
	text  string
	files []chat.File
	parts []string
}

func outstanding(reply chat.Reply, progress chat.Progress) rest {
	var r rest
	var lines []string
	if strings.TrimSpace(reply.Text) != "" && !progress.Done("text") {
		r.parts = append(r.parts, "text")
		lines = append(lines, reply.Text)
	}
	names := map[string]int{}
	for _, file := range reply.Files {
		part := "file:" + file.Name
		if names[file.Name]++; names[file.Name] > 1 {
			part += "#" + strconv.Itoa(names[file.Name])
		}
		if progress.Done(part) {
			continue
		}
		r.parts = append(r.parts, part)
		if file.Path == "" {
			lines = append(lines, words.Say(reply.Language, chat.Text(chat.LineFileProblem, "name", file.Name, "problem", file.Problem)))
			continue
		}
		r.files = append(r.files, file)
	}
	r.text = strings.Join(lines, "\n\n")
	return r
}

func (r rest) withoutFiles(language string) rest {
	lines := []string{}
	if r.text != "" {
		lines = append(lines, r.text)
	}
	for _, file := range r.files {
		lines = append(lines, words.Say(language, chat.Text(lineTooLarge, "name", file.Name)))
	}
	return rest{text: strings.Join(lines, "\n\n"), parts: r.parts}
}

func (c *Connector) sendReply(ctx context.Context, reply chat.Reply, r rest) error {
	id, subject := parseReference(reply.To)
	var thread []string
	if id != "" {
		thread = []string{id}
	}
	return c.deliverMail(ctx, outgoing{
		to: reply.Thread.Key, subject: replySubject(reply.Language, subject), text: r.text, files: r.files, thread: thread, automatic: replied,
		// The same parts of the same reply always have the same id.
		id: c.replyID(append([]string{reply.UUID, reply.Thread.Key, r.text}, r.parts...)...),
	})
}

// unreadable is a file that the attachments disk does not hand out.
func unreadable(file chat.File, err error) error {
	return &chat.Error{
		Op: "smtp send", Temporary: !errors.Is(err, fs.ErrNotExist), Err: fmt.Errorf("opening %s: %w", file.Path, err),
	}
}
