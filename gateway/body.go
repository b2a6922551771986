package gateway

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/go-chi/chi/v5"
)

// Limits of what is sent, in bytes.
const (
	maxJSON    = 1 << 20  // one invocation's parameters go through a workflow's history
	maxText    = 64 << 10 // a message's text is a signal; more goes into a file (DESIGN, mechanism 9)
	maxID      = 200
	maxWebhook = 4 << 20
)

// How long a client may take to send a body.
const (
	jsonTime   = 30 * time.Second
	uploadTime = 15 * time.Minute
	// drainTime is for the rest of a body that was refused, which the server reads before it answers.
	drainTime = 3 * time.Second
)

// within gives a client a time for its body, until lifted is called: left in place, the deadline
// would cancel a request that waits longer for an answer.
func within(w http.ResponseWriter, limit time.Duration) (lifted func()) {
	connection := http.NewResponseController(w)
	// A recorder in a test has no connection and no deadlines; that is no error.
	_ = connection.SetReadDeadline(time.Now().Add(limit))
	return func() { _ = connection.SetReadDeadline(time.Time{}) }
}

// readBody reads a whole small body within its time.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	defer within(w, jsonTime)()
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxJSON))
	return body, bodyError(err)
}

func bodyError(err error) error {
	var large *http.MaxBytesError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &large):
		return problem(http.StatusRequestEntityTooLarge, fmt.Sprintf("the body is larger than %d bytes; send less, or a file", large.Limit))
	default:
		return problem(http.StatusBadRequest, "the body ended before its end; send it again")
	}
}

// decode reads a JSON object into the struct that into points to. It is stricter than
// encoding/json, because two readers of one body must not see two decisions: each name
// must be spelled exactly as declared, and only once. An empty body is an empty object.
// The content type is not asked for: curl -d says form data, and a token in a header, unlike
// a cookie, is not sent by a foreign page's form.
func decode(w http.ResponseWriter, r *http.Request, into any) error {
	body, err := readBody(w, r)
	if err != nil {
		return err
	}
	return parse(body, into)
}

func parse(body []byte, into any) error {
	if len(bytes.TrimSpace(body)) == 0 {
		return nil
	}
	if !json.Valid(body) || !utf8.Valid(body) {
		return problem(http.StatusBadRequest, "the body is not valid JSON")
	}
	tokens := json.NewDecoder(bytes.NewReader(body))
	if first, _ := tokens.Token(); first != json.Delim('{') {
		return problem(http.StatusUnprocessableEntity, "the body must be a JSON object")
	}
	known, seen := names(into), []string{}
	for tokens.More() {
		token, err := tokens.Token()
		if err != nil {
			return problem(http.StatusBadRequest, "the body is not valid JSON")
		}
		name, _ := token.(string)
		if !slices.Contains(known, name) {
			return problem(http.StatusUnprocessableEntity, fmt.Sprintf("there is no field %q here; known are %s", name, strings.Join(known, ", ")))
		}
		if slices.Contains(seen, name) {
			return problem(http.StatusUnprocessableEntity, fmt.Sprintf("the field %q is there twice", name))
		}
		seen = append(seen, name)
		var skipped json.RawMessage
		if err := tokens.Decode(&skipped); err != nil {
			return problem(http.StatusBadRequest, "the body is not valid JSON")
		}
	}
	var mismatch *json.UnmarshalTypeError
	err := json.Unmarshal(body, into)
	if errors.As(err, &mismatch) {
		return problem(http.StatusUnprocessableEntity, fmt.Sprintf("the field %q must be a %s", mismatch.Field, mismatch.Type))
	}
	if err != nil {
		return problem(http.StatusBadRequest, "the body is not valid JSON")
	}
	return nil
}

// names lists the JSON names of the struct that v points to.
func names(v any) []string {
	kind := reflect.TypeOf(v).Elem()
	list := make([]string, 0, kind.NumField())
	for i := range kind.NumField() {
		name, _, _ := strings.Cut(kind.Field(i).Tag.Get("json"), ",")
		list = append(list, name)
	}
	return list
}

// pathValue returns a part of the path as the client meant it. chi matches the escaped
// path where it differs from the plain one, so that an id may hold a slash.
func pathValue(r *http.Request, name string) string {
	value := chi.URLParam(r, name)
	if r.URL.RawPath == "" {
		return value
	}
	plain, err := url.PathUnescape(value)
	if err != nil {
		return value
	}
	return plain
}

// checkName refuses what cannot be part of an id, a thread key or a person's name.
func checkName(field, value string) error {
	switch {
	case len(value) > maxID:
		return problem(http.StatusUnprocessableEntity, fmt.Sprintf("%s is longer than %d bytes", field, maxID))
	case !utf8.ValidString(value), strings.ContainsFunc(value, func(c rune) bool { return !unicode.IsPrint(c) }):
		return problem(http.StatusUnprocessableEntity, field+" holds characters that cannot be seen; leave them out")
	case strings.TrimSpace(value) != value:
		return problem(http.StatusUnprocessableEntity, field+" begins or ends with a blank; leave it out")
	}
	return nil
}
