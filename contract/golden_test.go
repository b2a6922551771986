package contract_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
)

// A history outlives the program that wrote it. What this test finds changed is a migration:
// rewrite the file with -update only where no recorded history can hold the old form.
var update = flag.Bool("update", false, "rewrite testdata/contract.golden.json")

const golden = "testdata/contract.golden.json"

// payloads are all types that a history records. TestEveryPayloadIsPinned finds those left out.
var payloads = []any{
	contract.Answer{}, contract.Approval{}, contract.AskInput{}, contract.Asked{}, contract.Box{},
	contract.Bounced{}, contract.CheckInput{}, contract.Close{}, contract.CloseInput{}, contract.Closed{}, contract.Closing{},
	contract.Copied{}, contract.Copy{}, contract.CopyInput{},
	contract.Forwarded{}, contract.Grant{}, contract.Handoff{}, contract.HandoffState{}, contract.Invocation{},
	contract.ListedGrant{}, contract.Listen{}, contract.Note{}, contract.Open{}, contract.Pending{},
	contract.Phase{}, contract.Plan{}, contract.Reply{}, contract.ReplyInput{}, contract.Result{},
	contract.Returned{}, contract.Revoke{}, contract.RouteInput{}, contract.Routed{}, contract.RunInput{},
	contract.RunOutput{}, contract.Settled{}, contract.SignalInput{}, contract.State{}, contract.Step{},
	contract.StepInput{}, contract.Talk{}, contract.TellInput{}, contract.ToolCall{}, contract.ToolResult{},
	contract.Turn{}, contract.TurnDone{}, contract.TurnResult{}, contract.Word{}, chat.Verdict{},
}

// pinned is the golden file.
type pinned struct {
	IDs       map[string]string            `json:"ids"`
	Constants map[string]map[string]string `json:"constants"`
	Filled    map[string]json.RawMessage   `json:"filled"`
	Zero      map[string]json.RawMessage   `json:"zero"`
}

func TestContractIsPinned(t *testing.T) {
	t.Parallel()
	now := pinned{
		IDs: map[string]string{
			"ConversationID": contract.ConversationID(chat.Thread{Connector: "telegram", Key: "-100:7"}),
			"InvocationID":   contract.InvocationID("01J"),
			"ListenerID":     contract.ListenerID("telegram"),
			"TurnID":         contract.TurnID("0198"),
		},
		Constants: map[string]map[string]string{
			"contract": constants(t, "."), "chat": constants(t, "../chat"),
			"tool": constants(t, "../tool"), "approval": constants(t, "../approval"),
		},
		Filled: map[string]json.RawMessage{}, Zero: map[string]json.RawMessage{},
	}
	for _, p := range payloads {
		kind := reflect.TypeOf(p)
		filled := reflect.New(kind)
		fill(t, filled.Elem(), kind.Name())
		now.Filled[kind.Name()] = marshal(t, filled.Elem().Interface())
		now.Zero[kind.Name()] = marshal(t, p)
	}
	raw, err := json.MarshalIndent(now, "", "  ")
	require.NoError(t, err)
	raw = append(raw, '\n')
	if *update {
		require.NoError(t, os.WriteFile(golden, raw, 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	if !bytes.Equal(want, raw) {
		old, fresh := strings.Split(string(want), "\n"), strings.Split(string(raw), "\n")
		n := 0
		for n < min(len(old), len(fresh)) && old[n] == fresh[n] {
			n++
		}
		t.Fatalf("line %d of %s differs; histories hold the old form, see the comment at -update", n+1, golden)
	}
}

// What is written can be read again, with nothing lost: an engine of the next release does.
func TestPayloadsSurviveTheirJSON(t *testing.T) {
	t.Parallel()
	for _, p := range payloads {
		kind := reflect.TypeOf(p)
		t.Run(kind.Name(), func(t *testing.T) {
			t.Parallel()
			for _, full := range []bool{false, true} {
				in := reflect.New(kind)
				if full {
					fill(t, in.Elem(), kind.Name())
				}
				out := reflect.New(kind)
				require.NoError(t, json.Unmarshal(marshal(t, in.Interface()), out.Interface()))
				require.JSONEq(t, string(marshal(t, in.Interface())), string(marshal(t, out.Interface())))
				if full {
					require.Equal(t, in.Interface(), out.Interface())
				}
			}
		})
	}
}

// A new type has to be pinned too.
func TestEveryPayloadIsPinned(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, p := range payloads {
		names[reflect.TypeOf(p).Name()] = true
	}
	for _, file := range sources(t, ".") {
		for name, object := range file.Scope.Objects {
			spec, ok := object.Decl.(*ast.TypeSpec)
			if !ok || !ast.IsExported(name) {
				continue
			}
			if _, isStruct := spec.Type.(*ast.StructType); isStruct {
				require.True(t, names[name], "contract.%s is recorded and not pinned: add it to payloads", name)
			}
		}
	}
}

// Two names of one kind that are equal would be told apart by nobody.
func TestNamesDiffer(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"Workflow", "Activity", "Attribute", "Error", "Word"} {
		seen := map[string]string{}
		for name, value := range constants(t, ".") {
			if strings.HasPrefix(name, kind) {
				require.Empty(t, seen[value], "%s and %s are both %q", name, seen[value], value)
				seen[value] = name
			}
		}
		require.NotEmpty(t, seen, kind)
	}
}

func marshal(t *testing.T, v any) json.RawMessage {
	t.Helper()
	raw, err := json.Marshal(v)
	require.NoError(t, err)
	return raw
}

// fill sets every field to something that is not zero and says where it is.
func fill(t *testing.T, v reflect.Value, where string) {
	t.Helper()
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(time.Date(2029, 1, 2, 3, 4, 5, 6_000_000, time.UTC)))
		return
	case time.Duration:
		v.SetInt(int64(90 * time.Second))
		return
	case json.RawMessage:
		v.SetBytes([]byte(`{"at":"` + where + `"}`))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(where)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(7)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem(), where)
	case reflect.Map:
		key := reflect.New(v.Type().Key()).Elem()
		fill(t, key, "name")
		value := reflect.New(v.Type().Elem()).Elem()
		fill(t, value, where+"[name]")
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(t, v.Index(0), where+"[0]")
	case reflect.Struct:
		for n := range v.NumField() {
			fill(t, v.Field(n), where+"."+v.Type().Field(n).Name)
		}
	default:
		require.Fail(t, "teach fill this kind", "%s is a %s", where, v.Kind())
	}
}

// recorded are the types whose constants a history holds; untyped ones always do.
var recorded = []string{"", "Action", "Standing", "Who", "Kind", "Confirm", "Code", "Reason", "Status", "Mode"}

// constants are the exported text constants of a package, by name.
func constants(t *testing.T, folder string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, file := range sources(t, folder) {
		for _, object := range file.Scope.Objects {
			spec, ok := object.Decl.(*ast.ValueSpec)
			if !ok || object.Kind != ast.Con {
				continue
			}
			kind := ""
			if spec.Type != nil {
				kind = spec.Type.(*ast.Ident).Name
			}
			for n, name := range spec.Names {
				literal, ok := valueOf(spec, n)
				if ok && name.IsExported() && slices.Contains(recorded, kind) {
					found[name.Name] = literal
				}
			}
		}
	}
	require.NotEmpty(t, found, folder)
	return found
}

func valueOf(spec *ast.ValueSpec, n int) (string, bool) {
	if n >= len(spec.Values) {
		return "", false
	}
	literal, ok := spec.Values[n].(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return "", false
	}
	value, err := strconv.Unquote(literal.Value)
	return value, err == nil
}

func sources(t *testing.T, folder string) []*ast.File {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	require.NoError(t, err)
	files := map[string]*ast.File{}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		require.NoError(t, err)
		files[name] = file
	}
	require.NotEmpty(t, files)
	return slices.Collect(maps.Values(files))
}
