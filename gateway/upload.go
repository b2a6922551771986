package gateway

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"
	"time"

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
	var err error
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind == "multipart/form-data" {
		sent, err = g.readMultipart(w, r, uuid)
	} else {
		body := struct {
			Text        string `json:"text"`
			Key         string `json:"key"`
			Attachments []any  `json:"attachments"`
		}{}
		err = decode(w, r, &body)
		sent = sentMessage{Text: body.Text, Key: body.Key, Attachments: body.Attachments}
	}
	switch {
	case err != nil:
		return sent, err
	case len(sent.Attachments) > 0:
		return sent, problem(http.StatusUnprocessableEntity, "send files as multipart/form-data, in fields named `attachments`")
	case len(sent.Text) > maxText:
		return sent, tooLong()
	case strings.TrimSpace(sent.Text) == "" && len(sent.files) == 0:
		return sent, problem(http.StatusUnprocessableEntity, "the message has neither text nor files; send at least one")
	}
	return sent, checkName("key", sent.Key)
}

func tooLong() error {
	return problem(http.StatusRequestEntityTooLarge, fmt.Sprintf("the text is longer than %d bytes; send it as a file", maxText))
}

// readMultipart streams the files to the attachments disk as they come.
func (g *gateway) readMultipart(w http.ResponseWriter, r *http.Request, uuid string) (sentMessage, error) {
	connection := http.NewResponseController(w)
	_ = connection.SetReadDeadline(time.Now().Add(uploadTime)) // see readBody
	defer func() { _ = connection.SetReadDeadline(time.Time{}) }()
	r.Body = http.MaxBytesReader(w, r.Body, g.MaxUpload)
	var sent sentMessage
	parts, err := r.MultipartReader()
	if err != nil {
		return sent, problem(http.StatusBadRequest, "the multipart body has no boundary")
	}
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return sent, nil
		}
		if err != nil {
			return sent, bodyError(err)
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
		if content.err != nil { // the client's fault, not the disk's
			return bodyError(content.err)
		}
		if err != nil {
			return fmt.Errorf("save an attachment: %w", err)
		}
		sent.files = append(sent.files, file)
		return nil
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
