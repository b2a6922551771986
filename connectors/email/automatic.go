package email

import (
	"strings"

	"github.com/countersignhq/countersign/connectors/email/letter"
)

// loopHeader marks our own mails. Whoever sends it is a program like this one.
const loopHeader = "X-Countersign-Loop"

// origin tells what no person wrote. No such mail counts, nor is it answered.
type origin struct {
	// automatic says why it is none of a person, empty if it may be.
	automatic string
	// bulk mail may be a person's (CONTRACT says no word, A19): it is heard only as
	// an answer and never starts anything.
	bulk bool
}

func (c *Connector) origin(h letter.Header, from address) origin {
	for _, value := range h.All("Auto-Submitted") {
		if !isNo(value) {
			return origin{automatic: "Auto-Submitted"} // RFC 3834 §5
		}
	}
	kind, _, _ := strings.Cut(strings.ToLower(h.First("Content-Type")), ";")
	switch kind = strings.TrimSpace(kind); {
	case kind == "multipart/report", kind == "message/delivery-status", kind == "message/disposition-notification":
		return origin{automatic: "a report"} // RFC 6522
	case nullReturnPath(h):
		return origin{automatic: "null return path"} // RFC 5321 §4.5.5
	case c.self.is(from):
		return origin{automatic: "our own address"}
	case h.Has(loopHeader):
		return origin{automatic: "our own loop header"}
	case h.Has("X-Failed-Recipients"), h.Has("X-Autoreply"), h.Has("X-Autorespond"):
		return origin{automatic: "an automatic reply"}
	case h.Has("List-Id"):
		return origin{automatic: "a mailing list"}
	}
	switch strings.ToLower(strings.TrimSpace(h.First("Precedence"))) {
	case "auto_reply":
		return origin{automatic: "an automatic reply"}
	case "bulk", "junk", "list":
		return origin{bulk: true}
	}
	return origin{}
}

func nullReturnPath(h letter.Header) bool {
	return h.Has("Return-Path") && strings.Trim(h.First("Return-Path"), "<> \t") == ""
}

// isNo reads the keyword of Auto-Submitted: case, comments and parameters aside.
func isNo(value string) bool {
	for {
		start := strings.IndexByte(value, '(')
		if start < 0 {
			break
		}
		end := strings.IndexByte(value[start:], ')')
		if end < 0 {
			value = value[:start]
			break
		}
		value = value[:start] + " " + value[start+end+1:]
	}
	keyword, _, _ := strings.Cut(value, ";")
	return strings.EqualFold(strings.TrimSpace(keyword), "no")
}
