package letter

import (
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// visibility of an element. A mail program is not imitated here: there are sure
// signs, and many that make it doubtful.
type visibility int

const (
	visible visibility = iota
	doubtful
	hidden
)

// suspects are what style sheets hide by some rule. Selectors are not evaluated:
// whatever a hiding rule names is doubtful.
type suspects struct {
	names map[string]bool // ".class", "#id", "tag"
	all   bool
}

var (
	cssComment = regexp.MustCompile(`(?s)/\*.*?\*/`)
	cssString  = regexp.MustCompile(`"[^"]*"|'[^']*'`)
	cssRule    = regexp.MustCompile(`([^{}]*)\{([^{}]*)\}`)
	cssName    = regexp.MustCompile(`[.#]?[A-Za-z_][A-Za-z0-9_-]*`)
	zero       = regexp.MustCompile(`^[+-]?(0+(\.0*)?|\.0+)(px|pt|em|rem|ex|%|vh|vw|cm|mm|in|pc)?$`)
	farAway    = regexp.MustCompile(`-\d{3,}`)
	unseenInk  = regexp.MustCompile(`^(transparent|white|#f{3,4}|#f{6}(f{2})?|rgb\(255,255,255\)|rgba\(.*,0?(\.0+)?\)|hsla\(.*,0?(\.0+)?\))$`)
)

func suspectsOf(css string) suspects {
	s := suspects{names: map[string]bool{}}
	css = cssString.ReplaceAllString(cssComment.ReplaceAllString(css, ""), "''")
	if strings.Contains(strings.ToLower(css), "@import") {
		s.all = true // rules that are not here
	}
	for _, rule := range cssRule.FindAllStringSubmatch(css, -1) {
		if declared(rule[2]) == visible {
			continue
		}
		names := cssName.FindAllString(rule[1], -1)
		if len(names) == 0 || strings.ContainsAny(rule[1], `\*[`) {
			s.all = true // anything, by attribute, or an escaped name
		}
		for _, name := range names {
			s.names[strings.ToLower(name)] = true
		}
	}
	return s
}

// foldable elements may show, or may not.
var foldable = map[atom.Atom]bool{
	atom.Select: true, atom.Textarea: true, atom.Button: true, atom.Details: true, atom.Noscript: true, atom.Dialog: true,
}

func (s suspects) visibility(n *html.Node) visibility {
	how := visible
	if s.names[n.Data] || s.all && n.DataAtom != atom.Html && n.DataAtom != atom.Body {
		how = doubtful
	}
	if foldable[n.DataAtom] {
		how = doubtful
	}
	for _, a := range n.Attr {
		value := strings.ToLower(a.Val)
		switch strings.ToLower(a.Key) {
		case "hidden":
			return hidden
		case "style":
			how = max(how, declared(a.Val))
		case "class":
			for class := range strings.FieldsSeq(value) {
				if s.names["."+class] {
					how = max(how, doubtful)
				}
			}
		case "id":
			if s.names["#"+value] {
				how = max(how, doubtful)
			}
		case "color":
			if unseenInk.MatchString(strings.ReplaceAll(value, " ", "")) {
				how = max(how, doubtful)
			}
		case "width", "height":
			if zero.MatchString(value) {
				how = max(how, doubtful)
			}
		}
		if how == hidden {
			return hidden
		}
	}
	return how
}

// declared reads a list of CSS declarations.
func declared(css string) visibility {
	how := visible
	css = cssString.ReplaceAllString(cssComment.ReplaceAllString(css, ""), "''")
	if strings.Contains(css, `\`) {
		how = doubtful // an escape may spell anything
	}
	clipped := strings.Contains(strings.ReplaceAll(strings.ToLower(css), " ", ""), "overflow:hidden")
	for d := range strings.SplitSeq(css, ";") {
		property, value, _ := strings.Cut(strings.ToLower(d), ":")
		value = strings.Join(strings.Fields(strings.ReplaceAll(value, "!important", "")), " ")
		how = max(how, declaration(strings.TrimSpace(property), value, clipped))
	}
	return how
}

func declaration(property, value string, clipped bool) visibility {
	switch property {
	case "display":
		if value == "none" {
			return hidden
		}
	case "visibility":
		if value == "hidden" || value == "collapse" {
			return hidden
		}
	case "font-size", "opacity", "zoom":
		if zero.MatchString(value) {
			return hidden
		}
		if small(value) {
			return doubtful
		}
	case "mso-hide":
		if value == "all" {
			return hidden
		}
	case "height", "width", "max-height", "max-width", "line-height":
		switch {
		case !zero.MatchString(value):
		case clipped && property != "line-height":
			return hidden
		default:
			return doubtful
		}
	case "font":
		if strings.HasPrefix(value, "0") || strings.Contains(value, " 0") {
			return doubtful
		}
	case "color", "-webkit-text-fill-color":
		if unseenInk.MatchString(strings.ReplaceAll(value, " ", "")) {
			return doubtful
		}
	case "left", "right", "top", "bottom", "text-indent", "margin", "margin-left", "margin-top", "transform", "translate":
		if farAway.MatchString(value) || strings.Contains(value, "scale(0") {
			return doubtful
		}
	case "clip", "clip-path", "filter", "mask", "content-visibility", "all", "content":
		return doubtful
	}
	return visible
}

// small is a size that nobody can read: below 4 pixels, or nearly transparent.
func small(value string) bool {
	number := strings.TrimRight(value, "abcdefghijklmnopqrstuvwxyz% ")
	n, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return false
	}
	switch unit := value[len(number):]; unit {
	case "px", "pt":
		return n < 4
	case "":
		return n < 0.2
	case "em", "rem":
		return n < 0.3
	case "%":
		return n < 30
	default:
		return false
	}
}
