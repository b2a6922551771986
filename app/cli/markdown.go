package cli

import (
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// The styles of a terminal (ECMA-48 §8.3.117), the only sequences that are ever written.
const (
	plainStyle  = "\x1b[0m"
	bold        = "\x1b[1m"
	faint       = "\x1b[2m"
	italic      = "\x1b[3m"
	underlined  = "\x1b[4m"
	struck      = "\x1b[9m"
	codeStyle   = "\x1b[36m"
	maxNested   = 20       // quotes and lists inside each other that are still drawn
	maxMarkdown = 64 << 10 // bytes; more is a file that somebody printed
)

var markdown = goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser()

// pretty shows Markdown (CommonMark and GitHub's tables) on a terminal that has styles. Line
// breaks stay where they are, and every word goes through harmless once it is decoded: an
// entity such as &#27; becomes no control character either.
func pretty(source string) string {
	if len(source) > maxMarkdown {
		return harmless(source)
	}
	p := &page{source: []byte(strings.ReplaceAll(source, "\r\n", "\n"))}
	p.blocks(markdown.Parse(text.NewReader(p.source)), 0)
	return strings.TrimRight(p.out.String(), "\n")
}

// page is a text that is being drawn.
type page struct {
	source []byte
	out    strings.Builder
	styles []string // that are on, the outermost first
}

// part draws into a page of its own.
func (p *page) part(draw func(*page)) string {
	inner := &page{source: p.source}
	draw(inner)
	return strings.TrimRight(inner.out.String(), "\n")
}

// write takes somebody else's words. A style ends before each line break and begins again
// after it, since what is drawn before a line must not get it.
func (p *page) write(words string) {
	for n, line := range strings.Split(words, "\n") {
		if n > 0 {
			p.newline()
		}
		p.out.WriteString(harmless(line))
	}
}

func (p *page) newline() {
	if len(p.styles) > 0 {
		p.out.WriteString(plainStyle)
	}
	p.out.WriteByte('\n')
	p.out.WriteString(strings.Join(p.styles, ""))
}

func (p *page) styled(style string, draw func()) {
	p.out.WriteString(style)
	p.styles = append(p.styles, style)
	draw()
	p.styles = p.styles[:len(p.styles)-1]
	p.out.WriteString(plainStyle + strings.Join(p.styles, ""))
}

// blocks draws the children of a container, with an empty line between them unless it is tight.
func (p *page) blocks(parent ast.Node, depth int) {
	for node := parent.FirstChild(); node != nil; node = node.NextSibling() {
		p.block(node, depth)
		p.out.WriteByte('\n')
		if _, tight := node.(*ast.TextBlock); !tight && node.NextSibling() != nil {
			p.out.WriteByte('\n')
		}
	}
}

func (p *page) block(node ast.Node, depth int) {
	switch node := node.(type) {
	case *ast.Heading:
		p.styled(bold, func() { p.inlines(node) })
	case *ast.Blockquote:
		p.out.WriteString(p.indented(node, depth, faint+"│ "+plainStyle, faint+"│ "+plainStyle))
	case *ast.List:
		p.list(node, depth)
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		p.code(node.Lines())
	case *ast.HTMLBlock:
		p.lines(node.Lines())
		if node.HasClosure() {
			p.write(strings.TrimRight(string(node.ClosureLine.Value(p.source)), "\n"))
		}
	case *ast.ThematicBreak:
		p.styled(faint, func() { p.out.WriteString(strings.Repeat("─", 20)) })
	case *extast.Table:
		p.table(node)
	default: // a paragraph, and what a later version of the parser knows
		p.inlines(node)
	}
}

// indented draws a container's content after a mark.
func (p *page) indented(node ast.Node, depth int, first, rest string) string {
	inside := p.part(func(inner *page) { inner.blocks(node, depth+1) })
	if depth >= maxNested {
		return inside
	}
	return first + strings.ReplaceAll(inside, "\n", "\n"+rest)
}

func (p *page) lines(lines *text.Segments) {
	for n := range lines.Len() {
		segment := lines.At(n)
		if n > 0 {
			p.newline()
		}
		p.write(strings.TrimRight(string(segment.Value(p.source)), "\r\n"))
	}
}

func (p *page) code(lines *text.Segments) {
	inside := p.part(func(inner *page) {
		inner.styled(codeStyle, func() { inner.lines(lines) })
	})
	p.out.WriteString("  " + strings.ReplaceAll(inside, "\n", "\n  "))
}

// inlines draws words and what is in them.
func (p *page) inlines(parent ast.Node) {
	for node := parent.FirstChild(); node != nil; node = node.NextSibling() {
		p.inline(node)
	}
}

func (p *page) inline(node ast.Node) {
	switch node := node.(type) {
	case *ast.Text:
		p.write(p.indent(node) + decoded(node.Segment.Value(p.source)))
		if node.SoftLineBreak() || node.HardLineBreak() {
			p.newline()
		}
	case *ast.String:
		p.write(decoded(node.Value))
	case *ast.CodeSpan:
		p.styled(codeStyle, func() { p.literal(node) })
	case *ast.Emphasis:
		style := italic
		if node.Level > 1 {
			style = bold
		}
		p.styled(style, func() { p.inlines(node) })
	case *extast.Strikethrough:
		p.styled(struck, func() { p.inlines(node) })
	case *ast.Link:
		p.link(node, string(node.Destination))
	case *ast.Image:
		p.link(node, string(node.Destination))
	case *ast.AutoLink:
		p.styled(underlined, func() { p.write(string(node.Label(p.source))) })
	case *ast.RawHTML:
		for n := range node.Segments.Len() {
			segment := node.Segments.At(n)
			p.write(string(segment.Value(p.source)))
		}
	case *extast.TaskCheckBox:
		p.write(map[bool]string{true: "[x] ", false: "[ ] "}[node.IsChecked])
	default:
		p.inlines(node)
	}
}

// indent is what the parser has taken from the front of a paragraph's line: a reply that is no
// Markdown (JSON, a list of commands) keeps its form.
func (p *page) indent(node *ast.Text) string {
	if node.Parent().Kind() != ast.KindParagraph || node.Parent().Parent().Kind() != ast.KindDocument || node.PreviousSibling() == nil {
		return ""
	}
	at := node.Segment.Start
	begin := at
	for begin > 0 && (p.source[begin-1] == ' ' || p.source[begin-1] == '\t') {
		begin--
	}
	if begin > 0 && p.source[begin-1] != '\n' {
		return ""
	}
	return string(p.source[begin:at])
}

// literal draws what nothing in is decoded.
func (p *page) literal(parent ast.Node) {
	for node := parent.FirstChild(); node != nil; node = node.NextSibling() {
		if words, ok := node.(*ast.Text); ok {
			p.write(strings.ReplaceAll(string(words.Segment.Value(p.source)), "\n", " "))
		}
	}
}

// link shows where a link leads, whatever its words say.
func (p *page) link(node ast.Node, target string) {
	words := p.part(func(inner *page) { inner.inlines(node) })
	p.styled(underlined, func() { p.inlines(node) })
	if shown := harmless(decoded([]byte(target))); shown != "" && shown != words {
		p.out.WriteString(" (" + strings.ReplaceAll(shown, "\n", " ") + ")")
	}
}

// decoded is a text without the backslashes and entities of Markdown.
func decoded(raw []byte) string {
	return string(util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(raw))))
}
