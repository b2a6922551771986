package archtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const dependenciesFile = "docs/dependencies.md"

// tableModule finds the modules that the first table explains.
var tableModule = regexp.MustCompile("(?m)^\\| `([^` ]+)` \\|")

func TestEveryDependencyIsExplained(t *testing.T) {
	t.Parallel()
	document, err := os.ReadFile(filepath.Join("../..", dependenciesFile))
	require.NoError(t, err)
	direct, _, found := strings.Cut(string(document), "\nTools,")
	require.True(t, found)
	var explained []string
	for _, match := range tableModule.FindAllStringSubmatch(direct, -1) {
		explained = append(explained, match[1])
	}
	require.NotEmpty(t, explained)
	for imported, file := range externalImports(t) {
		if !slices.ContainsFunc(explained, func(module string) bool { return within(imported, module) }) {
			t.Errorf("%s imports %s: say in %s why this module, and what was passed over", file, imported, dependenciesFile)
		}
	}
}

// externalImports are those of other modules, tests included, each with a file that has it.
func externalImports(t *testing.T) map[string]string {
	t.Helper()
	imports := map[string]string{}
	err := filepath.WalkDir("../..", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if name != "../.." && skipped(name, entry.Name()) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		file, err := read("../..", name)
		for _, imported := range file.imports {
			host, _, _ := strings.Cut(imported, "/")
			if strings.Contains(host, ".") && !strings.HasPrefix(imported, module) {
				imports[imported] = file.pkg + "/" + file.name
			}
		}
		return err
	})
	require.NoError(t, err)
	return imports
}

func within(imported, module string) bool {
	return imported == module || strings.HasPrefix(imported, module+"/")
}
