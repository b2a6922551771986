package letter

import (
	"strings"

	"github.com/countersignhq/countersign/approval"
)

// block is a piece of a mail's text: one part, or the alternatives of one.
type block struct {
	plain    []string
	html     []page
	problems []string
}

// disagreement is put before a text whose two versions give different answers.
const disagreement = "This mail's plain text and its HTML say different things."

// text joins the blocks to what the sender wrote. Each view of the mail is read
// by the rule of CONTRACT §3; unless all give the same answer, there is none: a
// version is returned that is not an answer, or the fact stands before it.
func text(blocks []block) string {
	plain := join(blocks, func(b block) string {
		if said := b.plainText(); said != "" {
			return said
		}
		return b.htmlText(func(p page) string { return p.seen })
	})
	seen := join(blocks, func(b block) string { return b.rich(func(p page) string { return p.seen }) })
	strict := join(blocks, func(b block) string { return b.rich(func(p page) string { return p.plain }) })

	var problems []string
	for _, b := range blocks {
		problems = append(problems, b.problems...)
	}
	views := []string{plain, seen, strict}
	if agree(views) {
		return remark(problems, plain)
	}
	for _, view := range views {
		if approval.Read(view).Kind == approval.Other {
			return remark(problems, view)
		}
	}
	return remark(append(problems, disagreement), plain)
}

func agree(views []string) bool {
	for _, view := range views[1:] {
		if approval.Read(view).Kind != approval.Read(views[0]).Kind {
			return false
		}
	}
	return true
}

// plainText is empty where there is no plain text worth the name: many programs
// send an empty one beside their HTML.
func (b block) plainText() string {
	said := strings.Join(b.plain, "\n")
	if approval.Read(said).Kind == approval.NoText {
		return ""
	}
	return said
}

// rich is the HTML, or the plain text where there is none.
func (b block) rich(view func(page) string) string {
	if len(b.html) > 0 {
		return b.htmlText(view)
	}
	return b.plainText()
}

func (b block) htmlText(view func(page) string) string {
	var said []string
	for _, p := range b.html {
		said = append(said, view(p))
	}
	return strings.Join(said, "\n")
}

func join(blocks []block, view func(block) string) string {
	var said []string
	for _, b := range blocks {
		if text := view(b); text != "" {
			said = append(said, strings.TrimRight(text, "\r\n"))
		}
	}
	return strings.Join(said, "\n")
}

// remark puts what is wrong with a text before it, so that it is no answer.
func remark(problems []string, said string) string {
	if len(problems) == 0 {
		return said
	}
	seen := map[string]bool{}
	var lines []string
	for _, p := range problems {
		if !seen[p] {
			seen[p] = true
			lines = append(lines, "["+p+"]")
		}
	}
	return strings.Join(lines, "\n") + "\n\n" + said
}
