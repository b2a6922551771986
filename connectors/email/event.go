package email

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/connectors/email/letter"
)

// eventID is the same for every copy of a mail: its Message-ID and our mailbox.
// Empty where there is none.
func (c *Connector) eventID(h letter.Header) string {
	id := strings.Trim(messageID(h), "<>")
	if id == "" {
		return ""
	}
	return chat.Email + ":" + c.self.String() + ":" + id
}

// contentID stands in for a Message-ID: what the mail says, without the traces of its way.
func (c *Connector) contentID(mail *spool, m chat.Message) (string, error) {
	whole, err := mail.open()
	if err != nil {
		return "", &laterError{err}
	}
	header, _, err := letter.Open(whole)
	if err != nil && !errors.Is(err, letter.ErrCut) {
		return "", &laterError{err}
	}
	sum := sha256.New()
	write := func(s string) { fmt.Fprintf(sum, "%d:%s", len(s), s) }
	write(m.Thread.Key)
	for _, field := range []string{"Date", "Subject", "To", "In-Reply-To"} {
		write(header.First(field))
	}
	read, err := c.read(mail, func(name string, content io.Reader) (chat.File, error) {
		file := sha256.New()
		size, err := io.Copy(file, content)
		return chat.File{Name: name, Size: size, SHA256: hex.EncodeToString(file.Sum(nil))}, err
	})
	if err != nil {
		return "", err
	}
	write(read.Text)
	for _, f := range read.Files {
		write(f.SHA256)
		write(f.Problem)
	}
	return chat.Email + ":" + c.self.String() + ":sha256:" + hex.EncodeToString(sum.Sum(nil)), nil
}

func takenKey(m chat.Message) string { return m.Thread.Key + " " + m.EventID }
