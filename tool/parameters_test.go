package tool_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/tool"
)

func parametersRegistry(t testing.TB, schema string) *tool.Registry {
	t.Helper()
	registry, _, err := tool.NewRegistry(tool.Tool{Name: "demo", Operations: []tool.Operation{
		{Name: "op", Kind: tool.Write, Schema: schema, Run: run},
		{Name: "none", Kind: tool.Write, Schema: `{"type":"object"}`, Run: run},
		{Name: "delete", Kind: tool.Write, Schema: deleteSchema, Run: run},
	}})
	require.NoError(t, err)
	return registry
}

const richSchema = `{"type":"object","properties":{
	"path":{"type":"string","minLength":2,"maxLength":10,"pattern":"^[a-z/.]+$"},
	"size":{"type":"integer","minimum":1,"maximum":9007199254740993},
	"ratio":{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":1.5,"multipleOf":0.25},
	"mode":{"enum":["fast","slow",null,3]},
	"one":{"const":"x"},
	"url":{"type":"string","format":"uri"},
	"flag":{"type":["boolean","null"]},
	"tags":{"type":"array","items":{"$ref":"#/$defs/tag"},"minItems":1,"maxItems":3,"uniqueItems":true},
	"options":{"type":"object","properties":{"deep":{"type":"boolean"}},"required":["deep"],"additionalProperties":false},
	"any":{"anyOf":[{"type":"string"},{"type":"integer"}]}
},"$defs":{"tag":{"type":"string"}}}`

func TestCheckAccepts(t *testing.T) {
	t.Parallel()
	registry := parametersRegistry(t, richSchema)
	for name, tc := range map[string]struct{ in, want string }{
		"nil":            {"", `{}`},
		"white space":    {" \n", `{}`},
		"canonical form": {`{ "size": 1e1, "path":"a/b" }`, `{"path":"a/b","size":10}`},
		"exact integer":  {`{"size":9007199254740993}`, `{"size":9007199254740993}`},
		"all":            {`{"ratio":0.5,"mode":3,"one":"x","url":"https://example.test/","flag":null,"tags":["a","b"],"options":{"deep":true},"any":7}`, `{"any":7,"flag":null,"mode":3,"one":"x","options":{"deep":true},"ratio":0.5,"tags":["a","b"],"url":"https://example.test/"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := registry.Check("demo", "op", json.RawMessage(tc.in))
			require.NoError(t, err)
			require.Equal(t, tc.want, string(got))
		})
	}
	got, err := registry.Check("demo", "op", nil)
	require.NoError(t, err)
	require.Equal(t, "{}", string(got))
}

func TestCheckRefuses(t *testing.T) {
	t.Parallel()
	registry := parametersRegistry(t, richSchema)
	for name, tc := range map[string]struct{ op, in, want string }{
		"list":             {"op", `[]`, `must be an object, such as {"any": …}`},
		"null":             {"op", `null`, "must be an object"},
		"trailing data":    {"op", `{}{}`, "not one JSON value"},
		"invalid UTF-8":    {"op", "{\"path\":\"\xff\"}", "UTF-8"},
		"G14 duplicates":   {"op", `{"path":"a","path":"b"}`, `the name "path" is there twice`},
		"deep duplicates":  {"op", `{"options":{"deep":true,"deep":false}}`, `the name "deep" is there twice`},
		"unknown":          {"op", `{"pth":"x"}`, "pth is not a parameter; known are any, flag, mode"},
		"other case":       {"op", `{"PATH":"x"}`, `"PATH" is not a parameter`},
		"unknown, none":    {"none", `{"x":1}`, "x is not a parameter; this operation takes none"},
		"unknown, hostile": {"none", `{"a\n\u202eb` + strings.Repeat("c", 100) + `":1}`, `"a\n\u202eb` + strings.Repeat("c", 56) + `"…(+44 characters) is not a parameter`},
		"missing":          {"delete", `{"path":"x"}`, "disk is missing; expected a text"},
		"neither":          {"delete", `{"disk":"x"}`, "fits none of the forms"},
		"both":             {"delete", `{"disk":"x","path":"x","paths":["y"]}`, "more than one of the forms"},
		"missing, deep":    {"op", `{"options":{}}`, "options.deep is missing"},
		"unknown, deep":    {"op", `{"options":{"deep":true,"z":1,"y":1}}`, `options has names that are not declared: "y", "z"`},
		"type":             {"op", `{"path":5}`, "path must be a text, not a number, got 5"},
		"two types":        {"op", `{"flag":"no"}`, `flag must be null or a boolean (true or false), not a text, got "no"`},
		"not whole":        {"op", `{"size":1.5}`, "size must be a whole number, not a number, got 1.5"},
		"short":            {"op", `{"path":"a"}`, `path must have at least 2 characters, got "a"`},
		"long":             {"op", `{"path":"aaaaaaaaaaa"}`, `path must have at most 10 characters and has 11`},
		"pattern":          {"op", `{"path":"A B"}`, `path must match the pattern "^[a-z/.]+$", got "A B"`},
		"hidden in value":  {"op", `{"path":"a\u034f\ufe0f"}`, `got "a\u034f\ufe0f"`},
		"minimum":          {"op", `{"size":0}`, "size must be at least 1, got 0"},
		"exact maximum":    {"op", `{"size":9007199254740994}`, "size must be at most 9007199254740993, got 9007199254740994"},
		"exclusive":        {"op", `{"ratio":1.5}`, "ratio must be less than 1.5"},
		"exclusive 0":      {"op", `{"ratio":0}`, "ratio must be more than 0"},
		"multiple":         {"op", `{"ratio":0.3}`, "ratio must be a multiple of 0.25"},
		"enum":             {"op", `{"mode":"x"}`, `mode must be one of "fast", "slow", null, 3, got "x"`},
		"const":            {"op", `{"one":true}`, `one must be "x", got true`},
		"format":           {"op", `{"url":"not a url"}`, `url must have the format "uri"`},
		"no items":         {"op", `{"tags":[]}`, "tags must have at least 1 item and has 0"},
		"many items":       {"op", `{"tags":["a","b","c","d"]}`, "tags must have at most 3 items and has 4"},
		"same items":       {"op", `{"tags":["a","a"]}`, "tags must not have the same item twice (items 1 and 2)"},
		"item":             {"op", `{"tags":["a",null]}`, "tags[1] must be a text, not null, got null"},
		"any":              {"op", `{"any":[]}`, "any fits none of the forms that its schema allows"},
		"number bomb":      {"op", `{"size":1e999999999}`, "too large"},
		"several": {"op", `{"path":1,"flag":1,"size":"x"}`,
			"flag must be null or a boolean (true or false), not a number, got 1; path must be a text, not a number, got 1; size must be a whole number"},
		"too many to tell": {"none", `{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1}`, "; and 2 more"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := registry.Check("demo", tc.op, json.RawMessage(tc.in))
			require.Nil(t, got)
			require.ErrorContains(t, err, tc.want)
			require.ErrorContains(t, err, "the parameters of demo."+tc.op+" are not accepted: ")
			var parameters *tool.ParametersError
			require.ErrorAs(t, err, &parameters)
			require.NotEmpty(t, parameters.Problems)
			for range 20 { // no order of a map shows
				_, again := registry.Check("demo", tc.op, json.RawMessage(tc.in))
				require.Equal(t, err.Error(), again.Error())
			}
		})
	}
}

func TestCheckUnknownOperation(t *testing.T) {
	t.Parallel()
	_, err := parametersRegistry(t, richSchema).Check("demo", "x\u202e", nil)
	var unknown *tool.UnknownError
	require.ErrorAs(t, err, &unknown)
	require.EqualError(t, err, `there is no operation demo."x\u202e"`)
}

// FuzzCheck: what is accepted is canonical and is accepted again as the same;
// what is refused is said without characters that nobody sees.
func FuzzCheck(f *testing.F) {
	registry := parametersRegistry(f, richSchema)
	for _, seed := range []string{`{"path":"a/b","size":3}`, `{"tags":["a\u200b"]}`, `{"options":{"deep":1}}`, "{\"\u202e\":1}", `[`, ``} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		got, err := registry.Check("demo", "op", json.RawMessage(in))
		if err != nil {
			for _, r := range err.Error() {
				require.False(t, unicode.In(r, unicode.C, unicode.Zl, unicode.Zp), "%q", err.Error())
			}
			return
		}
		again, err := registry.Check("demo", "op", got)
		require.NoError(t, err)
		require.Equal(t, string(got), string(again))
	})
}

func ExampleRegistry_Check() {
	registry, _, err := tool.NewRegistry(tool.Tool{Name: "files", Operations: []tool.Operation{{
		Name: "read", Kind: tool.Read, Run: run,
		Schema: `{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`,
	}}})
	if err != nil {
		panic(err)
	}
	_, err = registry.Check("files", "read", json.RawMessage(`{"file":"old.csv"}`))
	fmt.Println(err)
	parameters, _ := registry.Check("files", "read", json.RawMessage(`{ "path" : "old.csv" }`))
	fmt.Println(string(parameters))
	// Output:
	// the parameters of files.read are not accepted: file is not a parameter; known are path
	// {"path":"old.csv"}
}
