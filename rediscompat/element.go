package rediscompat

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// longest is the most text that is handed on: a signal's limit.
const longest = 64 << 10

// A list element that was read is stamped in the list, in front of its text:
//
//	countersign-read:{invocation's digest}:{id}:{microseconds}:{text}
//
// Nothing that could be derived from the text would do as its id: two pushes of
// the same text are two answers, and a process that starts anew cannot know how
// many it has removed. The id is in the list, so it is the same after any crash,
// and for a second engine that waits on the same list. The time is the time of
// reading, which a crash must not make later. A stamped element that is left over
// is recognised as another question's, and no program takes it for a yes.
var stamped = regexp.MustCompile(`^countersign-read:([0-9a-f]{16}):([0-9a-f]{32}):([0-9]{1,17}):`)

// stamp makes a fresh one.
func stamp(invocation string, readAt time.Time) string {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails, see its documentation
	return "countersign-read:" + digest(invocation) + ":" + hex.EncodeToString(id[:]) + ":" +
		strconv.FormatInt(max(readAt.UnixMicro(), 0), 10) + ":"
}

// element is a list element, taken apart.
type element struct {
	id     string
	text   string
	readAt time.Time
	// stale elements were read for another question.
	stale bool
}

// parse takes an element apart. One that only resembles a stamped one is text,
// under an id that is derived from it. A stamp from the future counts as now.
func parse(raw, invocation string, now time.Time) element {
	match := stamped.FindStringSubmatch(raw)
	if match == nil {
		return element{id: "redis:" + digest(invocation) + digest(raw), text: clip(raw), readAt: now}
	}
	micros, _ := strconv.ParseInt(match[3], 10, 64) // 17 digits always fit
	readAt := time.UnixMicro(micros)
	if readAt.After(now) {
		readAt = now
	}
	return element{
		id: "redis:" + match[2], text: clip(raw[len(match[0]):]), readAt: readAt,
		stale: match[1] != digest(invocation),
	}
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// clip makes text fit for a signal: valid UTF-8 and not too long.
func clip(text string) string {
	// Cut first, so that a huge element is not copied; repairing can make it longer again.
	return cut(strings.ToValidUTF8(cut(text), "\uFFFD"))
}

func cut(text string) string {
	if len(text) <= longest {
		return text
	}
	end := longest
	for end > longest-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}
