package disks

import "strings"

// guard knows the protected first names of a disk, folded. The zero value protects nothing.
type guard []string

func newGuard(names []string) guard {
	g := make(guard, 0, len(names))
	for _, name := range names {
		g = append(g, foldName(name))
	}
	return g
}

// covers tells whether a clean path is one of the protected folders or in one.
func (g guard) covers(clean string) bool {
	first, _, _ := strings.Cut(clean, "/")
	folded := foldName(first)
	for _, name := range g {
		if folded == name || isShortName(folded, name) {
			return true
		}
	}
	return false
}

// isShortName tells whether short may be the name that Windows gives to long
// for old programs: its first letters, a tilde, and a number ("INBOUN~1").
func isShortName(short, long string) bool {
	stem, number, found := strings.Cut(short, "~")
	return found && len(stem) >= 4 && strings.HasPrefix(long, stem) &&
		number != "" && strings.Trim(number, "0123456789") == ""
}
