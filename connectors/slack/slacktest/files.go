package slacktest

import (
	"encoding/json"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// file lies on the server: one that a person put there, or an upload of the app.
type file struct {
	id, name, kind string
	size           int64
	content        []byte
	uploaded       bool   // the bytes of an upload are there
	moved          string // where its address leads instead
}

func (f *file) info(base string) object {
	address := base + "/files/" + f.id + "/" + url.PathEscape(f.name)
	return object{
		"id": f.id, "name": f.name, "title": f.name, "mimetype": f.kind, "mode": "hosted", "size": f.size,
		"url_private": address, "url_private_download": address + "?download=1",
	}
}

// Upload puts a person's file on the server; what it returns stands in an event's "files".
func (s *Server) Upload(name, mimetype string, content []byte) map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := &file{id: s.id("F"), name: name, kind: mimetype, size: int64(len(content)), content: content, uploaded: true}
	s.files[f.id] = f
	return f.info(s.http.URL)
}

// Move makes the address of a person's file, as Upload returned it, lead to another one.
func (s *Server) Move(file map[string]any, to string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id, ok := file["id"].(string); ok && s.files[id] != nil {
		s.files[id].moved = to
	}
}

// handOut serves /files/{id}/{name}; without the token it leads to a page, as Slack does.
func (s *Server) handOut(w http.ResponseWriter, r *http.Request) {
	id, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/files/"), "/")
	s.mu.Lock()
	f := s.files[id]
	moved := ""
	if f != nil {
		moved = f.moved
	}
	s.mu.Unlock()
	switch {
	case moved != "":
		http.Redirect(w, r, moved, http.StatusFound)
	case r.Header.Get("Authorization") != "Bearer "+s.BotToken:
		http.Redirect(w, r, "/signin?redir="+url.QueryEscape(r.URL.Path), http.StatusFound)
	case f == nil || !f.uploaded:
		w.WriteHeader(http.StatusNotFound)
	default:
		w.Header().Set("Content-Type", f.kind)
		w.Header().Set("Content-Length", strconv.Itoa(len(f.content)))
		_, _ = w.Write(f.content)
	}
}

func (s *Server) uploadURL(p map[string]string) (object, string) {
	size, err := strconv.ParseInt(p["length"], 10, 64)
	if err != nil || size <= 0 || p["filename"] == "" {
		return nil, "invalid_arguments"
	}
	f := &file{id: s.id("F"), name: p["filename"], size: size}
	s.files[f.id] = f
	return object{"upload_url": s.http.URL + "/upload/" + f.id, "file_id": f.id}, ""
}

// takeUpload takes the bytes, raw or as a form, and checks that they are as many as announced.
func (s *Server) takeUpload(w http.ResponseWriter, r *http.Request) {
	content, err := io.ReadAll(r.Body)
	if form, multi := strings.CutPrefix(r.Header.Get("Content-Type"), "multipart/form-data; boundary="); multi && err == nil {
		var part *multipart.Part
		if part, err = multipart.NewReader(strings.NewReader(string(content)), form).NextPart(); err == nil {
			content, err = io.ReadAll(part)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.files[strings.TrimPrefix(r.URL.Path, "/upload/")]
	call := Call{Method: "upload", Params: map[string]string{
		"authorization": r.Header.Get("Authorization"), "length": strconv.FormatInt(r.ContentLength, 10),
	}}
	if err != nil || f == nil || int64(len(content)) != f.size {
		call.Error = "no such upload, or not its length"
		w.WriteHeader(http.StatusBadRequest)
	} else {
		f.content, f.uploaded = content, true
		_, _ = io.WriteString(w, "OK - "+strconv.Itoa(len(content)))
	}
	s.calls = append(s.calls, call)
	s.wake()
}

func (s *Server) completeUpload(p map[string]string) (object, string) {
	var named []struct{ ID, Title string }
	if json.Unmarshal([]byte(p["files"]), &named) != nil || len(named) == 0 {
		return nil, "invalid_arguments"
	}
	channel, code := s.reachable(p["channel_id"])
	if code != "" {
		return nil, code
	}
	if channel != p["channel_id"] {
		return nil, "channel_not_found" // a user's id is no channel here
	}
	var done []object
	for _, n := range named {
		f := s.files[n.ID]
		if f == nil || !f.uploaded {
			return nil, "file_not_found"
		}
		s.messages = append(s.messages, &Message{
			Channel: channel, TS: s.nextTS(), Thread: p["thread_ts"], File: f.name, Content: f.content,
		})
		done = append(done, object{"id": f.id, "title": n.Title})
	}
	s.wake()
	return object{"files": done}, ""
}
