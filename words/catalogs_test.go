package words_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/template/parse"

	"github.com/BurntSushi/toml"
	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/words"
)

// catalog reads one: the texts of each entry by plural form; "other" where there is one only.
func catalog(t *testing.T, language string) map[string]map[string]string {
	t.Helper()
	raw, err := os.ReadFile("catalogs/active." + language + ".toml")
	require.NoError(t, err)
	var read map[string]any
	require.NoError(t, toml.Unmarshal(raw, &read))
	entries := map[string]map[string]string{}
	for id, value := range read {
		forms := map[string]string{}
		switch value := value.(type) {
		case string:
			forms["other"] = value
		case map[string]any:
			for form, text := range value {
				forms[form] = text.(string)
			}
		}
		require.NotEmpty(t, forms["other"], "%s: %s", language, id)
		entries[id] = forms
	}
	return entries
}

var placeholder = regexp.MustCompile(`\{\{\.(\w+)\}\}`)

// arguments are the names in a text, each once, sorted.
func arguments(text string) []string {
	names := []string{}
	for _, match := range placeholder.FindAllStringSubmatch(text, -1) {
		names = append(names, match[1])
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func TestCatalogsAgree(t *testing.T) {
	t.Parallel()
	english := catalog(t, "en")
	for _, language := range words.Languages() {
		have := catalog(t, language)
		for id, forms := range english {
			require.Contains(t, have, id, "%s lacks an entry", language)
			for form, text := range have[id] {
				require.Equal(t, arguments(forms["other"]), arguments(text), "%s: %s (%s)", language, id, form)
				require.NotContains(t, placeholder.ReplaceAllString(text, ""), "{{", "%s: %s: only {{.name}}", language, id)
			}
		}
		for id := range have {
			require.Contains(t, english, id, "%s has an entry that English has not", language)
		}
	}
}

// alike are texts that a language has as English has them.
var alike = map[string][]string{
	"de":    {"page_comma", "page_in_lines", "page_status", "page_operation", "page_name"},
	"es":    {"page_comma", "page_said_no", "button_no", "agent_received_file"},
	"zh-CN": {"page_quoted"},
}

// What was copied and not translated looks as if it was.
func TestCatalogsAreTranslated(t *testing.T) {
	t.Parallel()
	english := catalog(t, "en")
	for _, language := range words.Languages()[1:] {
		var same []string
		for id, forms := range catalog(t, language) {
			if forms["other"] == english[id]["other"] && placeholder.ReplaceAllString(forms["other"], "") != "" {
				same = append(same, id)
			}
		}
		require.ElementsMatch(t, alike[language], same, language)
	}
}

// keptWords are those that answer and those that codes are made of: what a rule reads, in quotes or
// behind an exclamation mark, is the same in all catalogs.
var keptWords = regexp.MustCompile(`'[A-Za-z]+'|![a-z]+|/[a-z_]+|[A-Z]+_[A-Z_]+|[a-z]+=`)

func TestAnswersAreNotTranslated(t *testing.T) {
	t.Parallel()
	english := catalog(t, "en")
	require.Contains(t, english["question"]["other"], "'Yes'")
	for _, language := range words.Languages() {
		for id, forms := range catalog(t, language) {
			want := slices.Compact(slices.Sorted(slices.Values(keptWords.FindAllString(english[id]["other"], -1))))
			have := slices.Compact(slices.Sorted(slices.Values(keptWords.FindAllString(forms["other"], -1))))
			require.Equal(t, want, have, "%s: %s", language, id)
		}
	}
	for id, kept := range map[string][]string{
		"question": {"'Yes'"}, "step": {"'Cancel'", "'Done'"}, "step_page": {"'Cancel'", "'Done'"},
		"command_help": {"'yes'", "'always'", "'done'", "'cancel'", "!new", "!language", "!grants", "!revoke", "!help"},
	} {
		for _, language := range words.Languages() {
			for _, word := range kept {
				require.Contains(t, catalog(t, language)[id]["other"], word, "%s: %s", language, id)
			}
		}
	}
}

// use is one place where a line is made.
type use struct {
	where string
	id    string
	args  []string
}

// TestCodeAndCatalogsAgree finds every id that the code declares and every line that it makes.
func TestCodeAndCatalogsAgree(t *testing.T) {
	t.Parallel()
	english := catalog(t, "en")
	ids, uses := scan(t, "..")
	inTemplates := templateUses(t, "../connectors/web/templates/*.html")
	require.Greater(t, len(inTemplates), 80)
	require.Greater(t, len(ids), 50)
	require.Greater(t, len(uses), 30)
	declared := map[string]bool{}
	for name, id := range ids {
		require.Contains(t, english, id, "%s names no entry of the catalogs", name)
		declared[id] = true
	}
	for _, u := range inTemplates {
		require.Contains(t, english, u.id, "%s: names no entry of the catalogs", u.where)
		require.ElementsMatch(t, arguments(english[u.id]["other"]), u.args, "%s: %s has other arguments", u.where, u.id)
		declared[u.id] = true
	}
	for id := range english {
		require.True(t, declared[id], "nothing in the code says %s; remove it from the catalogs", id)
	}
	for _, u := range uses {
		id := ids[u.id]
		require.NotEmpty(t, id, "%s: %s is no constant of an entry", u.where, u.id)
		want := arguments(english[id]["other"])
		slices.Sort(u.args)
		require.Subset(t, want, u.args, "%s: %s has other arguments", u.where, id)
		for _, name := range want {
			// "by" may be put in afterwards, where it is not a person.
			require.True(t, name == "by" || slices.Contains(u.args, name), "%s: %s lacks {{.%s}}", u.where, id, name)
		}
	}
}

var lineName = regexp.MustCompile(`^[lL]ine[A-Z]`)

// scan reads the code below root: constants named Line… or line…, by their name, and calls of
// chat.Text whose entry is such a constant.
func scan(t *testing.T, root string) (ids map[string]string, uses []use) {
	t.Helper()
	ids = map[string]string{}
	set := token.NewFileSet()
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() == "bench" || strings.HasPrefix(d.Name(), ".") && path != root) {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec:
				for i, name := range n.Names {
					if lineName.MatchString(name.Name) && i < len(n.Values) {
						if literal, ok := n.Values[i].(*ast.BasicLit); ok && literal.Kind == token.STRING {
							id, _ := strconv.Unquote(literal.Value)
							require.Contains(t, []string{"", id}, ids[name.Name], "two constants are named %s", name.Name)
							ids[name.Name] = id
						}
					}
				}
			case *ast.CallExpr:
				if u, ok := made(n); ok {
					u.where = set.Position(n.Pos()).String()
					uses = append(uses, u)
				}
			}
			return true
		})
		return nil
	}))
	return ids, uses
}

// templateUses reads what templates say: say and rich, with the entry and its arguments' names in quotes.
func templateUses(t *testing.T, pattern string) (uses []use) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	require.NoError(t, err)
	trees := map[string]*parse.Tree{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		tree := parse.New(file)
		tree.Mode = parse.SkipFuncCheck
		_, err = tree.Parse(string(text), "", "", trees)
		require.NoError(t, err)
	}
	for name, tree := range trees {
		for _, command := range commands(reflect.ValueOf(tree.Root)) {
			called, ok := command.Args[0].(*parse.IdentifierNode)
			if !ok || called.Ident != "say" && called.Ident != "rich" {
				continue
			}
			u := use{where: name + ": " + command.String()}
			id, ok := command.Args[1].(*parse.StringNode)
			require.True(t, ok, "%s: the entry must be written out", u.where)
			u.id = id.Text
			for i := 2; i < len(command.Args); i += 2 {
				arg, ok := command.Args[i].(*parse.StringNode)
				require.True(t, ok, "%s: names of arguments must be written out", u.where)
				u.args = append(u.args, arg.Text)
			}
			uses = append(uses, u)
		}
	}
	return uses
}

// commands are all of a tree, those in parentheses too.
func commands(at reflect.Value) (found []*parse.CommandNode) {
	switch at.Kind() {
	case reflect.Interface, reflect.Pointer:
		if at.IsNil() || at.Type() == reflect.TypeFor[*parse.Tree]() {
			return nil
		}
		if command, ok := at.Interface().(*parse.CommandNode); ok {
			found = append(found, command)
		}
		return append(found, commands(at.Elem())...)
	case reflect.Struct:
		for n := range at.NumField() {
			if at.Type().Field(n).IsExported() {
				found = append(found, commands(at.Field(n))...)
			}
		}
	case reflect.Slice:
		for n := range at.Len() {
			found = append(found, commands(at.Index(n))...)
		}
	default: // texts and numbers
	}
	return found
}

// made reads chat.Text(chat.LineX, "name", value, …); other calls, and those whose arguments are
// not written out, are none.
func made(call *ast.CallExpr) (use, bool) {
	text, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || text.Sel.Name != "Text" || len(call.Args) == 0 || call.Ellipsis != token.NoPos {
		return use{}, false
	}
	if of, ok := text.X.(*ast.Ident); !ok || of.Name != "chat" {
		return use{}, false
	}
	u := use{}
	switch id := call.Args[0].(type) {
	case *ast.SelectorExpr:
		u.id = id.Sel.Name
	case *ast.Ident:
		u.id = id.Name
	}
	if !lineName.MatchString(u.id) {
		return use{}, false
	}
	for i := 1; i < len(call.Args); i += 2 {
		if literal, ok := call.Args[i].(*ast.BasicLit); ok {
			name, _ := strconv.Unquote(literal.Value)
			u.args = append(u.args, name)
		}
	}
	return u, true
}
