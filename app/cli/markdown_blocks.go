package cli

import (
	"strconv"
	"strings"

	"github.com/rivo/uniseg"
	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
)

func (p *page) list(list *ast.List, depth int) {
	number := list.Start
	for item := list.FirstChild(); item != nil; item = item.NextSibling() {
		mark := "• "
		if list.IsOrdered() {
			mark = strconv.Itoa(number) + ". "
			number++
		}
		p.out.WriteString(p.indented(item, depth, mark, strings.Repeat(" ", len([]rune(mark)))))
		if item.NextSibling() != nil {
			p.out.WriteByte('\n')
			if !list.IsTight {
				p.out.WriteByte('\n')
			}
		}
	}
}

// columnGap stands between two columns.
const columnGap = "  "

// table draws rows with columns as wide as their widest cell, the head in bold.
func (p *page) table(table *extast.Table) {
	var rows [][]string
	var widths []int
	for row := table.FirstChild(); row != nil; row = row.NextSibling() {
		var cells []string
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			drawn := p.part(func(inner *page) {
				if _, head := row.(*extast.TableHeader); head {
					inner.styled(bold, func() { inner.inlines(cell) })
					return
				}
				inner.inlines(cell)
			})
			cells = append(cells, drawn)
			if len(cells) > len(widths) {
				widths = append(widths, 0)
			}
			widths[len(cells)-1] = max(widths[len(cells)-1], width(drawn))
		}
		rows = append(rows, cells)
	}
	for n, cells := range rows {
		line := ""
		for column, cell := range cells {
			free := widths[column] - width(cell)
			if column < len(table.Alignments) && table.Alignments[column] == extast.AlignRight {
				line += strings.Repeat(" ", free) + cell + columnGap
			} else {
				line += cell + strings.Repeat(" ", free) + columnGap
			}
		}
		p.out.WriteString(strings.TrimRight(line, " "))
		if n < len(rows)-1 {
			p.out.WriteByte('\n')
		}
	}
}

// width is how many columns a drawn text takes: its styles take none.
func width(drawn string) int {
	columns := 0
	for drawn != "" {
		words, style, found := strings.Cut(drawn, "\x1b[")
		columns += uniseg.StringWidth(words)
		if !found {
			break
		}
		_, drawn, _ = strings.Cut(style, "m")
	}
	return columns
}
