package letter

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maxDepth of elements in each other; no mail program writes that, and what is
// deeper is left out.
const maxDepth = 400

// page is a mail's HTML as text, twice.
type page struct {
	// seen leaves out what surely is not shown.
	seen string
	// plain also leaves out what perhaps is not shown. Where the two give
	// different answers, there is no answer.
	plain string
	// broken: it could not be read.
	broken bool
}

// readHTML turns HTML into text: block ends and <br> are line breaks, white space
// collapses, quotations get a ">".
func readHTML(source string) page {
	if swells(source) {
		return page{broken: true}
	}
	root, err := html.Parse(strings.NewReader(source))
	if err != nil {
		return page{broken: true}
	}
	suspects := suspectsOf(styles(root, 0))
	seen := writer{suspects: suspects}
	seen.node(root, 0, false)
	plain := writer{suspects: suspects, strict: true}
	plain.node(root, 0, false)
	return page{seen: seen.String(), plain: plain.String(), broken: seen.deep}
}

// maxNodes is what the parser may make of a page, about 100 bytes each.
const maxNodes = 1 << 20

// formatting elements that are left open are opened anew in each block that follows
// (HTML, "reconstruct the active formatting elements"): a small page can swell to
// gigabytes.
var formatting = map[atom.Atom]bool{
	atom.A: true, atom.B: true, atom.Big: true, atom.Code: true, atom.Em: true, atom.Font: true, atom.I: true, atom.Nobr: true,
	atom.S: true, atom.Small: true, atom.Strike: true, atom.Strong: true, atom.Tt: true, atom.U: true,
}

// swells counts what the parser would make of a page at most, before it does.
func swells(source string) bool {
	tokens := html.NewTokenizer(strings.NewReader(source))
	open := map[atom.Atom]int{}
	unclosed, nodes := 0, 0
	for {
		kind := tokens.Next()
		if kind == html.ErrorToken {
			return false
		}
		if nodes += 1 + unclosed; nodes > maxNodes {
			return true
		}
		if kind != html.StartTagToken && kind != html.EndTagToken {
			continue
		}
		name, _ := tokens.TagName()
		switch tag := atom.Lookup(name); {
		case !formatting[tag]:
		case kind == html.StartTagToken:
			open[tag]++
			unclosed++
		case open[tag] > 0:
			open[tag]--
			unclosed--
		}
	}
}

// writer collects the text of a tree.
type writer struct {
	suspects suspects
	strict   bool
	deep     bool

	out   strings.Builder
	quote int
	gap   bool // white space that shows if text follows in this line
	begun bool // this line has text
}

func (w *writer) String() string { return w.out.String() }

func (w *writer) node(n *html.Node, depth int, pre bool) {
	if depth > maxDepth {
		w.deep = true
		return
	}
	switch n.Type {
	case html.TextNode:
		w.text(n.Data, pre)
		return
	case html.CommentNode, html.DoctypeNode, html.ErrorNode, html.RawNode:
		return
	case html.DocumentNode:
	case html.ElementNode:
		if unshown[n.DataAtom] {
			return
		}
		switch how := w.suspects.visibility(n); {
		case how == hidden, how == doubtful && w.strict:
			return
		}
		if n.DataAtom == atom.Br {
			w.line()
			return
		}
	}
	block := n.Type == html.ElementNode && blocks[n.DataAtom]
	if block {
		w.end()
	}
	quote := n.DataAtom == atom.Blockquote
	if quote {
		w.quote++
	}
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		w.node(child, depth+1, pre || n.DataAtom == atom.Pre)
	}
	if block {
		w.end()
	}
	if quote {
		w.quote--
	}
	if n.DataAtom == atom.Td || n.DataAtom == atom.Th {
		w.gap = w.begun
	}
}

func (w *writer) text(s string, pre bool) {
	for _, r := range s {
		switch {
		case pre && r == '\n':
			w.line()
		case r == ' ' || r == '\t' || r == '\n' || r == '\r' || r == '\f':
			w.gap = w.begun
		default:
			w.start()
			w.out.WriteRune(r)
		}
	}
}

func (w *writer) start() {
	if !w.begun && w.quote > 0 {
		w.out.WriteString(strings.Repeat(">", w.quote) + " ")
	}
	if w.gap {
		w.out.WriteByte(' ')
	}
	w.begun, w.gap = true, false
}

// line breaks, also an empty one; end breaks only one that has text.
func (w *writer) line() {
	w.out.WriteByte('\n')
	w.begun, w.gap = false, false
}

func (w *writer) end() {
	if w.begun {
		w.line()
	}
}

// unshown elements hold no text of the page.
var unshown = map[atom.Atom]bool{
	atom.Head: true, atom.Style: true, atom.Script: true, atom.Template: true, atom.Title: true,
	atom.Object: true, atom.Iframe: true, atom.Audio: true, atom.Video: true, atom.Canvas: true, atom.Noframes: true,
	atom.Datalist: true, atom.Math: true, atom.Svg: true,
}

var blocks = map[atom.Atom]bool{
	atom.Address: true, atom.Article: true, atom.Aside: true, atom.Blockquote: true, atom.Body: true, atom.Center: true,
	atom.Dd: true, atom.Details: true, atom.Dialog: true, atom.Div: true, atom.Dl: true, atom.Dt: true, atom.Fieldset: true,
	atom.Figcaption: true, atom.Figure: true, atom.Footer: true, atom.Form: true, atom.H1: true, atom.H2: true,
	atom.H3: true, atom.H4: true, atom.H5: true, atom.H6: true, atom.Header: true, atom.Hr: true, atom.Html: true,
	atom.Legend: true, atom.Li: true, atom.Main: true, atom.Menu: true, atom.Nav: true, atom.Ol: true, atom.Option: true,
	atom.P: true, atom.Pre: true, atom.Section: true, atom.Summary: true, atom.Table: true, atom.Tbody: true,
	atom.Tfoot: true, atom.Thead: true, atom.Tr: true, atom.Ul: true, atom.Caption: true,
}

// styles collects the style sheets of a page.
func styles(n *html.Node, depth int) string {
	if depth > maxDepth {
		return ""
	}
	var out strings.Builder
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		if n.DataAtom == atom.Style && child.Type == html.TextNode {
			out.WriteString(child.Data)
		}
		out.WriteString(styles(child, depth+1))
	}
	return out.String()
}
