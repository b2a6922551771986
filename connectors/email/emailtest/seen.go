package emailtest

import (
	"encoding/base64"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Seen is a mail as a recipient's program reads it, by the standard library alone.
type Seen struct {
	mail.Header
	To    []string // of the envelope
	Title string   // the subject, decoded
	Text  string
	Files []Attached
}

// Attached is a file in a mail.
type Attached struct {
	Name    string
	Content []byte
}

// Read reads a mail of the bot: plain text, or mixed with the text first.
func (m Mail) Read(t testing.TB) Seen {
	t.Helper()
	parsed, err := mail.ReadMessage(strings.NewReader(m.Raw))
	require.NoError(t, err)
	s := Seen{Header: parsed.Header, To: m.To}
	s.Title, err = new(mime.WordDecoder).DecodeHeader(parsed.Header.Get("Subject"))
	require.NoError(t, err)
	kind, params, err := mime.ParseMediaType(parsed.Header.Get("Content-Type"))
	require.NoError(t, err)
	if kind == "text/plain" {
		s.Text = decoded(t, parsed.Header.Get("Content-Transfer-Encoding"), parsed.Body)
		return s
	}
	require.Equal(t, "multipart/mixed", kind)
	parts := multipart.NewReader(parsed.Body, params["boundary"])
	for n := 0; ; n++ {
		part, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) {
			return s
		}
		require.NoError(t, err)
		content := decoded(t, part.Header.Get("Content-Transfer-Encoding"), part)
		if n == 0 {
			s.Text = content
			continue
		}
		s.Files = append(s.Files, Attached{Name: part.FileName(), Content: []byte(content)})
	}
}

func decoded(t testing.TB, encoding string, r io.Reader) string {
	t.Helper()
	switch encoding {
	case "quoted-printable":
		r = quotedprintable.NewReader(r)
	case "base64":
		r = base64.NewDecoder(base64.StdEncoding, r)
	}
	content, err := io.ReadAll(r)
	require.NoError(t, err)
	return strings.ReplaceAll(string(content), "\r\n", "\n")
}
