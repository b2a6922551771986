package command_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/agent/command"
)

func raw(name, value string) command.Value {
	return command.Value{Name: name, JSON: json.RawMessage(value)}
}

func bare(name, value string) command.Value { return command.Value{Name: name, Bare: value} }

func TestParse(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text      string
		tool      string
		operation string
		values    []command.Value
	}{
		"bare words": {
			"/file_manager delete disk=local path=reports/old.csv", "file_manager", "delete",
			[]command.Value{bare("disk", "local"), bare("path", "reports/old.csv")},
		},
		"the bot's name":        {"/file_manager@my_bot delete path=a", "file_manager", "delete", []command.Value{bare("path", "a")}},
		"a tool alone":          {"/help", "help", "", nil},
		"help for one":          {" /help  file_manager ", "help", "file_manager", nil},
		"a slash alone":         {"/", "", "", nil},
		"double quotes":         {`/t o a="two words" b=1`, "t", "o", []command.Value{raw("a", `"two words"`), bare("b", "1")}},
		"an escape":             {`/t o a="a\"b\nc"`, "t", "o", []command.Value{raw("a", `"a\"b\nc"`)}},
		"single quotes":         {`/t o a='say "yes" \n'`, "t", "o", []command.Value{raw("a", `"say \"yes\" \\n"`)}},
		"empty values":          {`/t o a= b='' c=""`, "t", "o", []command.Value{bare("a", ""), raw("b", `""`), raw("c", `""`)}},
		"a list":                {`/t o a=["a.csv", "b c.csv"] b=1`, "t", "o", []command.Value{raw("a", `["a.csv", "b c.csv"]`), bare("b", "1")}},
		"an object":             {`/t o a={"x": [1, {"y": null}]}`, "t", "o", []command.Value{raw("a", `{"x": [1, {"y": null}]}`)}},
		"a list of bare words":  {`/t o a=[a, b c,d] b=1`, "t", "o", []command.Value{raw("a", `["a","b c","d"]`), bare("b", "1")}},
		"mixed quotes in it":    {`/t o a=['x', "y", z]`, "t", "o", []command.Value{raw("a", `["x","y","z"]`)}},
		"a comma in quotes":     {`/t o a=["a, b", 'c]', d] b=1`, "t", "o", []command.Value{raw("a", `["a, b","c]","d"]`), bare("b", "1")}},
		"an empty list":         {`/t o a=[] b=[ , ]`, "t", "o", []command.Value{raw("a", `[]`), raw("b", `[]`)}},
		"over several lines":    {"/t o\na=1\n\tb='one\ntwo'\r\nc=3", "t", "o", []command.Value{bare("a", "1"), raw("b", `"one\ntwo"`), bare("c", "3")}},
		"an equals sign in it":  {"/t o url=http://x/?a=b", "t", "o", []command.Value{bare("url", "http://x/?a=b")}},
		"a quote in the middle": {`/t o a=it's b=5"`, "t", "o", []command.Value{bare("a", "it's"), bare("b", `5"`)}},
		"a name twice":          {"/t o a=1 a=2", "t", "o", []command.Value{bare("a", "1"), bare("a", "2")}},
		"white space of others": {"/t\u00a0o\u3000a=1", "t", "o", []command.Value{bare("a", "1")}},
		"text of others":        {"/t o a=\u202egpj.exe", "t", "o", []command.Value{bare("a", "\u202egpj.exe")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			call, err := command.Parse(test.text)
			require.NoError(t, err)
			require.Equal(t, command.Call{Tool: test.tool, Operation: test.operation, Values: test.values}, call)
		})
	}
}

func TestParseSaysWhatToDo(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                  "starts with a slash",
		"file_manager list": "starts with a slash",
		"/t o loose":        `"loose" is not name=value`,
		"/t o a=two words":  `"words" is not name=value; put values with spaces into quotes`,
		"/t o =x":           "is not name=value",
		"/t o a b=1":        `"a" is not name=value`,
		`/t o a="open`:      "a is not complete JSON; close its quotes and brackets",
		`/t o a={"x":1`:     "a is not complete JSON",
		"/t o a='open":      "the quote after a= is not closed",
		"/t o a=[x, y":      "the list after a= is not closed; close its quotes and add a ]",
		`/t o a="x"y`:       "put a space after the value of a",
		"/t o a='x'y":       "put a space after the value of a",
		"/t o a=['x', y":    "the list after a= is not closed",
		"/t o a=['x' y]":    "the list after a= is not closed",
		"/t o a=[x]y":       "put a space after the value of a",
		"/t o a=\u202e'x b": `"b" is not name=value`,
		"/t o x\x1b[2K":     `"x\u{001B}[2K" is not name=value`, // G15: shown escaped
	} {
		_, err := command.Parse(text)
		require.ErrorContains(t, err, want, "%q", text)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"/file_manager delete disk=local path=reports/old.csv", `/t@b o a="x" b='y' c=[1, z] d={"e":1}`, "/", "/t o a=[", "/t o a=\xff", "/t\u3000o\na=\r\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		call, err := command.Parse(text)
		if err != nil {
			if call.Tool != "" || call.Values != nil {
				t.Fatalf("half a call with an error: %+v", call)
			}
			return
		}
		if !strings.HasPrefix(strings.TrimSpace(text), "/") {
			t.Fatal("no slash, and a command")
		}
		for _, v := range call.Values {
			if v.Name == "" || strings.ContainsAny(v.Name, "= \n") {
				t.Fatalf("the name %q", v.Name)
			}
			if v.JSON != nil && (!json.Valid(v.JSON) || v.Bare != "") {
				t.Fatalf("the value of %s: %q and %q", v.Name, v.JSON, v.Bare)
			}
		}
	})
}

func ExampleParse() {
	call, err := command.Parse(`/file_manager@my_bot write disk=local path="a b.txt" content='two words'`)
	if err != nil {
		panic(err)
	}
	fmt.Println(call.Tool, call.Operation)
	for _, v := range call.Values {
		fmt.Printf("%s: %s%s\n", v.Name, v.Bare, v.JSON)
	}
	// Output:
	// file_manager write
	// disk: local
	// path: "a b.txt"
	// content: "two words"
}
