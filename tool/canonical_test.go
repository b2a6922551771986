package tool_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/gowebpki/jcs"
	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/tool"
)

func TestCanonical(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ in, want string }{
		"key order (G14)":        {`{"b":2, "a":1}`, `{"a":1,"b":2}`},
		"nested":                 {`[{"b":[ ],"a":{ }}, null, true,false]`, `[{"a":{},"b":[]},null,true,false]`},
		"RFC 8785 3.2.2 numbers": {`[333333333.3333333, 1E30, 4.50, 2e-3, 0.000000000000000000000000001]`, `[333333333.3333333,1e+30,4.5,0.002,1e-27]`},
		"RFC 8785 3.2.2 strings": {`"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/"`, "\"€$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\""},
		"RFC 8785 3.2.3 sorting": {
			`{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One","\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}`,
			"{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\u0080\":\"Control\",\"ö\":\"Latin Small Letter O With Diaeresis\",\"€\":\"Euro Sign\",\"😀\":\"Emoji: Grinning Face\",\"\ufb33\":\"Hebrew Letter Dalet With Dagesh\"}",
		},
		"minus zero":                {`[-0, -0.0, 0e999999999]`, `[0,0,0]`},
		"one number, four ways":     {`[100, 1e2, 100.0, 1000e-1]`, `[100,100,100,100]`},
		"beyond 2^53 stays exact":   {`[9007199254740993, 9007199254740992, 9007199254740993.0]`, `[9007199254740993,9007199254740992,9007199254740993]`},
		"beyond 64 bits":            {`-123456789012345678901234567890`, `-123456789012345678901234567890`},
		"more digits than a float":  {`0.10000000000000000000001`, `0.10000000000000000000001`},
		"RFC 8785 would round":      {`[333333333.33333329, -1234567.00000000000000001]`, `[333333333.33333329,-1234567.00000000000000001]`},
		"below the smallest float":  {`1e-390`, `1e-390`},
		"surrogate pair, backslash": {`"\ud83d\ude00 \\ud83d"`, `"😀 \\ud83d"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := tool.Canonical(json.RawMessage(tc.in))
			require.NoError(t, err)
			require.Equal(t, tc.want, string(got))
			again, err := tool.Canonical(got)
			require.NoError(t, err)
			require.Equal(t, string(got), string(again), "the canonical form is its own canonical form")
		})
	}
}

func TestCanonicalRefuses(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ in, want string }{
		"G14 duplicate names":            {`{"a":1,"a":2}`, `"a" is there twice`},
		"duplicate names, escaped":       {`{"a":1,"\u0061":2}`, `"a" is there twice`},
		"duplicate names, deep":          {`{"x":[{"a":{"b":1,"b":1}}]}`, `"b" is there twice`},
		"trailing data":                  {`{} {}`, "not one JSON value"},
		"nothing":                        {``, "not one JSON value"},
		"cut":                            {`{"a":`, "not one JSON value"},
		"not JSON that jcs would take":   {`Infinity`, "not one JSON value"},
		"invalid UTF-8":                  {"\"\xff\"", "UTF-8"},
		"lone surrogate":                 {`"\ud800"`, "surrogate"},
		"lone surrogate after backslash": {`"\\\ud800x"`, "surrogate"},
		"two high surrogates":            {`"\ud800\ud800"`, "surrogate"},
		"low surrogate first":            {`"\udc00\ud800"`, "surrogate"},
		"too large":                      {`1e400`, "too large"},
		"exponent that eats memory":      {`1e999999999`, "too large"},
		"too small":                      {`1e-999999999`, "too small"},
		"too long":                       {"0." + strings.Repeat("1", 500), "too long"},
		"too deep":                       {strings.Repeat("[", 101) + strings.Repeat("]", 101), "deeper than 100"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := tool.Canonical(json.RawMessage(tc.in))
			require.ErrorContains(t, err, tc.want)
		})
	}
}

// FuzzCanonical: a value and its canonical form mean the same, the form is
// stable, and it is what an independent implementation of RFC 8785 makes where
// that one loses nothing.
func FuzzCanonical(f *testing.F) {
	for _, seed := range []string{
		`{"b":1,"a":[true,null,"x\u2028\ud83d\ude00"]}`, `-0`, `1e2`, `9007199254740993`, `"\u0000\\\""`, `{"a":1,"a":1}`, `[1.5e-7]`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		got, err := tool.Canonical(json.RawMessage(in))
		if err != nil {
			return
		}
		var a, b any
		require.NoError(t, json.Unmarshal([]byte(in), &a))
		require.NoError(t, json.Unmarshal(got, &b))
		require.Equal(t, a, b)
		again, err := tool.Canonical(got)
		require.NoError(t, err)
		require.Equal(t, string(got), string(again))
		// Rounded to what jcs can hold, both agree.
		fromRaw, err := jcs.Transform(got)
		require.NoError(t, err)
		rounded, err := json.Marshal(a)
		require.NoError(t, err)
		fromRounded, err := tool.Canonical(rounded)
		require.NoError(t, err)
		require.Equal(t, string(fromRaw), string(fromRounded))
	})
}

func ExampleCanonical() {
	a, _ := tool.Canonical(json.RawMessage(`{"path": "reports/old.csv", "disk": "local"}`))
	fmt.Println(string(a))
	// Output: {"disk":"local","path":"reports/old.csv"}
}
