package email

import "sync"

// recent remembers which mails were taken of late, so that a copy, or a mailbox
// that is read once more, is not downloaded again. It may forget: the
// conversation drops what it has seen by the same id.
type recent struct {
	mu    sync.Mutex
	order []string
	known map[string]bool
}

func newRecent(size int) *recent {
	return &recent{order: make([]string, 0, size), known: make(map[string]bool, size)}
}

func (r *recent) has(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.known[id]
}

func (r *recent) add(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known[id] {
		return
	}
	if len(r.order) == cap(r.order) {
		delete(r.known, r.order[0])
		r.order = append(r.order[:0], r.order[1:]...)
	}
	r.order = append(r.order, id)
	r.known[id] = true
}
