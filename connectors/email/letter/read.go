package letter

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/net/html/charset"

	"github.com/countersignhq/countersign/chat"
)

const (
	maxText   = 4 << 20 // of one text part, decoded, in bytes
	maxNested = 25      // multiparts in each other; what is deeper is one file
)

// ErrCut is returned by a source behind the last byte that it has of a mail that
// is longer. What comes before it is read all the same.
var ErrCut = errors.New("the mail is too large")

// Limits bound what is taken of one mail; files, decoded, in bytes.
type Limits struct {
	File  int64
	Files int64 // all together
	Count int   // parts
}

// Sink stores a file as it is read. An error of content is returned as it came.
type Sink func(name string, content io.Reader) (chat.File, error)

// Letter is a mail that was read.
type Letter struct {
	// Text is what the sender wrote. It reads as a yes only if all versions of
	// it do, and all of it could be decoded.
	Text  string
	Files []chat.File
}

// Read reads a mail behind its header. The error is one of the source or of the
// sink; what is wrong with the mail itself is in the Letter: in the text, or as
// the Problem of a file.
func Read(header Header, body io.Reader, limits Limits, sink Sink) (Letter, error) {
	r := reader{limits: limits, sink: sink, block: -1}
	err := r.entity(header, body, place{})
	if errors.Is(err, ErrCut) {
		err = nil
		r.files = append(r.files, chat.File{Name: "rest of the mail", Problem: "the mail is too large; what follows was left out"})
	}
	if r.over > 0 {
		r.files = append(r.files, chat.File{
			Name: "attachment", Problem: fmt.Sprintf("%d more parts were left out: a mail may have %d", r.over, limits.Count),
		})
	}
	return Letter{Text: text(r.blocks), Files: r.files}, err
}

type reader struct {
	limits Limits
	sink   Sink
	blocks []block
	block  int // the one that alternatives are collected in, or -1
	files  []chat.File
	bytes  int64
	count  int
	over   int
}

// place is where in the mail an entity stands.
type place struct {
	depth  int
	digest bool // parts are messages by default (RFC 2046 §5.1.5)
	file   bool // whatever it is, it is not what the sender wrote
}

func (r *reader) entity(h Header, body io.Reader, at place) error {
	contentType := parseParameters(h.First("Content-Type"))
	disposition := parseParameters(h.First("Content-Disposition"))
	kind := contentType.value
	switch {
	case kind == "" && at.digest:
		kind = "message/rfc822"
	case kind == "" || kind == "text":
		kind = "text/plain" // RFC 2045 §5.2
	case !strings.Contains(kind, "/"):
		kind = "application/octet-stream"
	}
	attached := at.file || disposition.value == "attachment"
	boundary := contentType.raw("boundary")
	if strings.HasPrefix(kind, "multipart/") && boundary != "" && at.depth < maxNested {
		at.file = attached
		return r.multipart(kind, boundary, body, at)
	}
	r.count++
	name := givenName(disposition, contentType)
	if (kind == "text/plain" || kind == "text/html") && !attached && name == "" {
		return r.text(kind, contentType, h, body)
	}
	if kind == "message/rfc822" || kind == "message/global" {
		if name != "" && !strings.HasSuffix(strings.ToLower(name), ".eml") {
			name += ".eml"
		}
	}
	return r.file(name, kind, h, body)
}

func (r *reader) multipart(kind, boundary string, body io.Reader, at place) error {
	if kind == "multipart/alternative" && r.block < 0 {
		r.blocks = append(r.blocks, block{})
		r.block = len(r.blocks) - 1
		defer func() { r.block = -1 }()
	}
	inner := newParts(body, boundary)
	for n := 0; ; n++ {
		part, err := inner.next()
		if errors.Is(err, io.EOF) {
			return inner.rest()
		}
		if err != nil {
			return err
		}
		if r.full() { // not even looked into
			r.over++
			continue
		}
		below := place{depth: at.depth + 1, digest: kind == "multipart/digest", file: at.file}
		switch kind {
		case "multipart/related", "multipart/signed":
			below.file = below.file || n > 0
		case "multipart/encrypted", "multipart/report":
			below.file = true
		}
		if err := r.part(part, below); err != nil {
			return err
		}
	}
}

// full tells that the mail has as many parts as it may.
func (r *reader) full() bool { return r.limits.Count > 0 && r.count >= r.limits.Count }

func (r *reader) part(part io.Reader, at place) error {
	h, body, err := openPart(part)
	if err != nil {
		return err
	}
	return r.entity(h, body, at)
}

// openPart reads a part's header. A line that is no field begins the body.
func openPart(part io.Reader) (Header, io.Reader, error) {
	br := newPartReader(part)
	h, first, err := readHeader(br, false)
	if first == "" {
		return h, br, err
	}
	return h, io.MultiReader(strings.NewReader(first), br), err
}

// text takes a part that the sender wrote to be read.
func (r *reader) text(kind string, contentType *parameters, h Header, body io.Reader) error {
	decoded := decodeTransfer(h.First("Content-Transfer-Encoding"), body)
	content, err := io.ReadAll(io.LimitReader(decoded, maxText+1))
	cut := len(content) > maxText
	if err == nil && cut {
		content = content[:maxText]
		_, err = io.Copy(io.Discard, decoded)
	}
	var b block
	label := contentType.raw("charset")
	if label == "" && kind == "text/html" {
		// A byte order mark or <meta charset>; windows-1252 is only its last resort.
		if _, name, _ := charset.DetermineEncoding(content, kind); name != "windows-1252" {
			label = name
		}
	}
	said, known := decodeCharset(label, content)
	said = strings.ReplaceAll(strings.TrimPrefix(said, "\uFEFF"), "\r\n", "\n") // CRLF is how mail travels
	if !known {
		b.problems = append(b.problems, fmt.Sprintf("This mail's character set %.40q is not known here.", label))
	}
	if decoded.damaged() {
		b.problems = append(b.problems, "This mail's text is damaged: its encoding is not what it says.")
	}
	if cut || errors.Is(err, ErrCut) {
		said += "\n[The text is longer; the rest was left out.]"
	}
	if kind == "text/html" {
		p := readHTML(said)
		if p.broken {
			b.problems = append(b.problems, "This mail's HTML could not be read.")
		}
		b.html = []page{p}
	} else {
		if strings.EqualFold(contentType.raw("format"), "flowed") {
			said = unflow(said, strings.EqualFold(contentType.raw("delsp"), "yes"))
		}
		b.plain = []string{said}
	}
	r.add(b)
	return err
}

// add appends to the alternatives that are being read, or as a block of its own.
func (r *reader) add(b block) {
	if r.block < 0 {
		r.blocks = append(r.blocks, b)
		return
	}
	into := &r.blocks[r.block]
	into.plain = append(into.plain, b.plain...)
	into.html = append(into.html, b.html...)
	into.problems = append(into.problems, b.problems...)
}

// file stores a part, or says why it could not be.
func (r *reader) file(name, kind string, h Header, body io.Reader) error {
	decoded := decodeTransfer(h.First("Content-Transfer-Encoding"), body)
	content := &bounded{r: decoded, limit: r.limits.File, all: r.limits.Files - r.bytes, unlimited: r.limits.Files <= 0}
	var source io.Reader = content
	if name == "" {
		head := make([]byte, 512)
		n, err := io.ReadFull(content, head)
		name = nameFor(kind, head[:n])
		source = bytes.NewReader(head[:n])
		if err == nil {
			source = io.MultiReader(source, content)
		}
	}
	stored, err := r.sink(name, &checked{r: source, content: content, decoded: decoded})
	switch {
	case content.err != nil && !errors.Is(content.err, errTooLarge) && !errors.Is(content.err, ErrCut):
		return content.err
	case errors.Is(content.err, errTooLarge):
		size := content.n + drain(decoded)
		r.files = append(r.files, chat.File{Name: name, Size: size, Problem: content.problem})
	case errors.Is(content.err, ErrCut):
		r.files = append(r.files, chat.File{Name: name, Size: content.n, Problem: "the mail is too large; this file was cut off"})
		return ErrCut
	case decoded.damaged():
		r.files = append(r.files, chat.File{Name: name, Size: content.n, Problem: "it arrived damaged: its encoding is not what it says"})
	case err != nil:
		return &StoreError{Name: name, Err: err}
	default:
		r.bytes += content.n
		r.files = append(r.files, stored)
	}
	return nil
}

// StoreError is a file that the sink did not take.
type StoreError struct {
	Name string
	Err  error
}

func (e *StoreError) Error() string { return fmt.Sprintf("storing %.100q: %v", e.Name, e.Err) }
func (e *StoreError) Unwrap() error { return e.Err }
