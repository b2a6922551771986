package archtest

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// source is a file and what it imports.
type source struct {
	// pkg is the package's path below the module.
	pkg string
	// name of the file, without its folder.
	name    string
	imports []string
}

// sources reads every Go file of the module below root that is no test. Folders
// with a go.mod of their own, testdata and hidden ones are not ours.
func sources(root string) ([]source, error) {
	var found []source
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if name != root && skipped(name, entry.Name()) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		file, err := read(root, name)
		found = append(found, file)
		return err
	})
	return found, err
}

func skipped(folder, base string) bool {
	if base == "testdata" || base == "node_modules" || base == "bin" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
		return true
	}
	_, err := os.Stat(filepath.Join(folder, "go.mod"))
	return err == nil
}

func read(root, name string) (source, error) {
	relative, err := filepath.Rel(root, name)
	if err != nil {
		return source{}, err
	}
	parsed, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
	if err != nil {
		return source{}, fmt.Errorf("reading the imports of %s: %w", relative, err)
	}
	file := source{pkg: path.Dir(filepath.ToSlash(relative)), name: filepath.Base(name)}
	for _, spec := range parsed.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return source{}, fmt.Errorf("reading the imports of %s: %w", relative, err)
		}
		file.imports = append(file.imports, imported)
	}
	return file, nil
}

// violations says, a line each, which imports the table does not allow.
func violations(table []row, files []source) []string {
	var lines []string
	uncovered := map[string]bool{}
	for _, file := range files {
		rule, ok := rowOf(table, file.pkg)
		if !ok {
			uncovered[file.pkg] = true
			continue
		}
		for _, imported := range file.imports {
			if why := refuse(rule, file, imported); why != "" {
				lines = append(lines, fmt.Sprintf("%s/%s imports %s: %s", file.pkg, file.name, imported, why))
			}
		}
	}
	for pkg := range uncovered {
		lines = append(lines, pkg+" is not in the import table of internal/archtest; add a row that says what it may import")
	}
	slices.Sort(lines)
	return lines
}

func rowOf(table []row, pkg string) (row, bool) {
	for _, rule := range table {
		for _, pattern := range rule.packages {
			if matched, err := path.Match(pattern, pkg); err == nil && matched {
				return rule, true
			}
		}
	}
	// What lies below a package of the table, and has no row, goes by its rules.
	if parent := path.Dir(pkg); parent != "." && parent != "connectors" && parent != "internal" {
		return rowOf(table, parent)
	}
	return row{}, false
}

// refuse returns why an import is not allowed, or nothing.
func refuse(rule row, file source, imported string) string {
	inFx := file.name == "fx.go"
	if ours, ok := strings.CutPrefix(imported, module); ok {
		switch {
		case ours == file.pkg || strings.HasPrefix(ours, file.pkg+"/"):
		case inFx && ours == "config":
		case !slices.ContainsFunc(rule.ours, func(allowed string) bool { return covers(allowed, ours) }):
			return fmt.Sprintf("of ours it may import %v", rule.ours)
		}
		return ""
	}
	vendor := vendorOf(imported)
	switch {
	case vendor == "" || slices.Contains(rule.vendors, vendor):
		return ""
	case vendor == fx && inFx:
		return ""
	case vendor == fx:
		return "fx belongs into app and files named fx.go"
	default:
		return vendor + " does not belong into this package"
	}
}

func covers(allowed, pkg string) bool {
	below, deep := strings.CutSuffix(allowed, "...")
	if !deep {
		return allowed == pkg
	}
	return strings.HasPrefix(pkg+"/", below)
}

func vendorOf(imported string) string {
	for _, known := range vendorPaths {
		if prefix := strings.TrimSuffix(known.prefix, "/"); imported == prefix || strings.HasPrefix(imported, prefix+"/") {
			return known.vendor
		}
	}
	return ""
}
