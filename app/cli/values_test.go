package cli

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParameters(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		`a=b`:                 `"b"`,
		`a=`:                  `""`,
		`a=b=c`:               `"b=c"`,
		`a=3`:                 `"3"`,
		`a=true`:              `"true"`,
		`a:=3`:                `3`,
		`a:=true`:             `true`,
		`a:=null`:             `null`,
		`a:="x"`:              `"x"`,
		`a="b c"`:             `"b c"`,
		`a='b c'`:             `"b c"`,
		`a="open`:             `"\"open"`,
		`a="x" and "y"`:       `"\"x\" and \"y\""`,
		`a=[b,c d, e ]`:       `["b","c d","e"]`,
		`a=["b,1", 'c',d]`:    `["b,1","c","d"]`,
		`a=[]`:                `[]`,
		`a=[1,2]`:             `[1,2]`,
		`a={"b":[1]}`:         `{"b":[1]}`,
		`a={not json}`:        `"{not json}"`,
		`a=/path/with:=signs`: `"/path/with:=signs"`,
		"a=line\nbreak":       `"line\nbreak"`,
		`a=<b>&"`:             `"<b>&\""`,
	} {
		got, err := parameters([]string{word})
		require.NoError(t, err, word)
		require.JSONEq(t, `{"a":`+want+`}`, string(got), word)
	}
	for _, word := range []string{`a`, `=b`, `:=b`, `a:=x`, `a=["b]`, `a=["b"c]`, `a=[b,,c]`, `a=[,]`} {
		_, err := parameters([]string{word})
		require.Error(t, err, word)
	}
	_, err := parameters([]string{"a=1", "a:=2"})
	require.ErrorContains(t, err, "twice")
}

func FuzzParameters(f *testing.F) {
	for _, seed := range []string{`a=b`, `a=[b,"c"]`, `a:={"x":1}`, `a='`, `a="`, `a=[`, "=\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, word string) {
		got, err := parameters([]string{word})
		if err != nil {
			return
		}
		var object map[string]any
		require.NoError(t, json.Unmarshal(got, &object))
		require.Len(t, object, 1)
	})
}

func Example_parameters() {
	encoded, err := parameters([]string{"disk=local", "paths=[a.csv,b.csv]", "dry:=true"})
	fmt.Println(string(encoded), err)
	// Output: {"disk":"local","dry":true,"paths":["a.csv","b.csv"]} <nil>
}
