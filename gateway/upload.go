package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/countersignhq/countersign/chat"
)

// maxFiles bounds the files of one message.
const maxFiles = 50

// sentMessage is the body of POST /api/message.
type sentMessage struct {
	Text        string `json:"text"`
	Key         string `json:"key"`
	Attachments []any  `json:"attachments"`

	files []chat.File
}

// readMessage reads a message as JSON or multipart, and checks it.
func (g *gateway) readMessage(w http.ResponseWriter, r *http.Request, uuid string) (sentMessage, error) {
	var sent sentMessage
	kind, err := messageKind(r)
	switch {
	case err != nil:
	case kind == multipartForm:
		sent, err = g.readMultipart(w, r, uuid)
	default:
		sent, err = readJSON(w, r)
	}
	if err == nil {
		err = sent.check()
	}
	if err != nil {
		g.takeBack(r.Context(), uuid, sent.files)
	}
	return sent, err
}

const multipartForm = "multipart/form-data"

// messageKind refuses what is said to be neither of the two forms. Form data, as curl -d says,
// and plain text are read as JSON (see decode).
func messageKind(r *http.Request) (string, error) {
	header := r.Header.Get("Content-Type")
	kind, _, err := mime.ParseMediaType(header)
	switch {
	case header == "":
		return "", nil
	case err == nil && (kind == multipartForm || strings.HasSuffix(kind, "/json") || strings.HasSuffix(kind, "+json") ||
		kind == "application/x-www-form-urlencoded" || kind == "text/plain"):
		return kind, nil
	default:
		return "", problem(http.StatusUnsupportedMediaType,
			fmt.Sprintf("a message cannot be read from %.100q; send application/json, or multipart/form-data with files", header))
	}
}

func readJSON(w http.ResponseWriter, r *http.Request) (sentMessage, error) {
	body := struct {
		Text        string `json:"text"`
		Key         string `json:"key"`
		Attachments []any  `json:"attachments"`
	}{}
	err := decode(w, r, &body)
	if invalid := new(Problem); errors.As(err, &invalid) && invalid.Status == http.StatusBadRequest {
		invalid.Detail += `; send an object such as {"text":"…"}, or multipart/form-data`
	}
	return sentMessage{Text: body.Text, Key: body.Key, Attachments: body.Attachments}, err
}

func (m sentMessage) check() error {
	switch {
	case len(m.Attachments) > 0:
		return problem(http.StatusUnprocessableEntity, "send files as multipart/form-data, in fields named `attachments`")
	case !utf8.ValidString(m.Text):
		return problem(http.StatusUnprocessableEntity, "the text is not UTF-8; convert it, or send it as a file")
	case len(m.Text) > maxText:
		return tooLong()
	case strings.TrimSpace(m.Text) == "" && len(m.files) == 0:
		return problem(http.StatusUnprocessableEntity, "the message has neither text nor files; send at least one")
	}
	return checkName("key", m.Key)
}

// takeBackTime bounds it; the client may be gone by then.
const takeBackTime = 30 * time.Second

// takeBack removes the files of a message that is not taken: nobody will ask for them.
func (g *gateway) takeBack(ctx context.Context, uuid string, files []chat.File) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), takeBackTime)
	defer cancel()
	for _, file := range files {
		if err := g.Attachments.Discard(ctx, uuid, file.Name); err != nil {
			g.Logger.WarnContext(ctx, "a file of a message that was not taken stays", "path", file.Path, "error", err)
		}
	}
}

func tooLong() error {
	return problem(http.StatusRequestEntityTooLarge, fmt.Sprintf("the text is longer than %d bytes; send it as a file", maxText))
}

// readMultipart streams the files to the attachments disk as they come.
func (g *gateway) readMultipart(w http.ResponseWriter, r *http.Request, uuid string) (sentMessage, error) {
	defer within(w, uploadTime)()
	r.Body = http.MaxBytesReader(w, r.Body, g.MaxUpload)
	var sent sentMessage
	fields := map[string]bool{}
	parts, err := r.MultipartReader()
	if err != nil {
		return sent, problem(http.StatusBadRequest, "the multipart body has no boundary; it belongs into the Content-Type header")
	}
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return sent, nil
		}
		if err != nil {
			return sent, bodyError(err)
		}
		if name := part.FormName(); name == "text" || name == "key" {
			if fields[name] {
				return sent, problem(http.StatusUnprocessableEntity, fmt.Sprintf("the field %q is there twice", name))
			}
			fields[name] = true
		}
		if err := g.readPart(r, part, uuid, &sent); err != nil {
			return sent, err
		}
	}
}

func (g *gateway) readPart(r *http.Request, part *multipart.Part, uuid string, sent *sentMessage) error {
	switch name := part.FormName(); {
	case name == "text":
		return readField(part, maxText, &sent.Text)
	case name == "key":
		return readField(part, maxID, &sent.Key)
	case name == "attachments" || strings.HasPrefix(name, "attachments["):
		if len(sent.files) == maxFiles {
			return problem(http.StatusUnprocessableEntity, fmt.Sprintf("more than %d files in one message; send several", maxFiles))
		}
		content := &source{Reader: part}
		file, err := g.Attachments.Save(r.Context(), uuid, part.FileName(), content)
		if err == nil {
			sent.files = append(sent.files, file)
		}
		switch {
		case content.err != nil: // the client's fault, not the disk's
			return bodyError(content.err)
		case err != nil:
			return fmt.Errorf("save an attachment: %w", err)
		default:
			return nil
		}
	default:
		return problem(http.StatusUnprocessableEntity, fmt.Sprintf("there is no field %q here; known are text, key, attachments", name))
	}
}

func readField(part io.Reader, limit int, into *string) error {
	content, err := io.ReadAll(io.LimitReader(part, int64(limit)+1))
	if err != nil {
		return bodyError(err)
	}
	if len(content) > limit {
		return tooLong()
	}
	*into = string(content)
	return nil
}

// source remembers that reading failed, so that a cut upload is not taken for a broken disk.
type source struct {
	io.Reader
	err error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}
