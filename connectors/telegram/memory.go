package telegram

import (
	"sync"
	"time"

	"github.com/countersignhq/countersign/chat"
)

// remembered is how many messages a connector remembers at least: far more than
// Telegram sends again at a time.
const remembered = 2000

// history is what is known of an update that may come again. It saves work and spares
// the disk second copies; it may be lost, for what must hold is held by the Desk.
type history struct {
	// taken: the Desk has it.
	taken bool
	// failing is since when its files cannot be had; zero if they can.
	failing time.Time
	// files that were stored for it, if fetched.
	files   []chat.File
	fetched bool
}

// recent is a map that forgets: it keeps the last limit entries that were set, and
// at most twice as many. Safe for concurrent use.
type recent[K comparable, V any] struct {
	limit int

	mu         sync.Mutex
	young, old map[K]V
}

func newRecent[K comparable, V any](limit int) *recent[K, V] {
	return &recent[K, V]{limit: limit, young: map[K]V{}}
}

// find returns the entry, the zero value if there is none.
func (r *recent[K, V]) find(key K) (V, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	value, known := r.young[key]
	if !known {
		value, known = r.old[key]
	}
	return value, known
}

func (r *recent[K, V]) set(key K, value V) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.young[key]; !known && len(r.young) >= r.limit {
		r.young, r.old = map[K]V{}, r.young
	}
	r.young[key] = value
}
