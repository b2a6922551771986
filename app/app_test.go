package app

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/fx"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/config"
	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/gateway"
	"github.com/countersignhq/countersign/tool"
)

// surroundings make an environment of variables and one configuration file.
func surroundings(vars map[string]string, file string) (env Environment, stdout, stderr *bytes.Buffer) {
	stdout, stderr = &bytes.Buffer{}, &bytes.Buffer{}
	environ := make([]string, 0, len(vars))
	for name, value := range vars {
		environ = append(environ, name+"="+value)
	}
	return Environment{
		LookupEnv: func(name string) (string, bool) { value, ok := vars[name]; return value, ok },
		Environ:   environ,
		ReadFile: func(name string) ([]byte, error) {
			if file == "" || name != config.DefaultFile {
				return nil, fs.ErrNotExist
			}
			return []byte(file), nil
		},
		Stdin: strings.NewReader(""), Stdout: stdout, Stderr: stderr,
	}, stdout, stderr
}

func load(t *testing.T, file string) *config.Config {
	t.Helper()
	env, _, _ := surroundings(nil, file)
	cfg, err := config.Load(env.LookupEnv, env.Environ, env.ReadFile)
	require.NoError(t, err)
	return cfg
}

func TestFlags(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		args            []string
		engine, gateway bool
		dev             bool
	}{
		{nil, true, true, false},
		{[]string{"--dev"}, true, true, true},
		{[]string{"--roles", "engine"}, true, false, false},
		{[]string{"-roles=gateway"}, false, true, false},
		{[]string{"--roles= gateway , engine", "--dev"}, true, true, true},
	} {
		env, _, _ := surroundings(nil, "")
		f, err := parseFlags(test.args, env)
		require.NoError(t, err)
		require.Equal(t, test.engine, f.has(roleEngine), test.args)
		require.Equal(t, test.gateway, f.has(roleGateway), test.args)
		require.Equal(t, test.dev, f.dev, test.args)
	}
	for want, args := range map[string][]string{
		`--roles knows engine and gateway, not "driver"`: {"--roles", "engine,driver"},
		`not ""`:             {"--roles", ""},
		`"serve" is none`:    {"serve"},
		"flag provided but":  {"--rolls", "engine"},
		"invalid boolean":    {"--dev=perhaps"},
		"flag needs an arg":  {"--roles"},
		`"engine" is none`:   {"--dev", "engine"},
		`"--roles" is none`:  {"x", "--roles"},
		`not "ENGINE"`:       {"--roles", "ENGINE"},
		`not "engine;other"`: {"--roles", "engine;other"},
	} {
		env, _, _ := surroundings(nil, "")
		_, err := parseFlags(args, env)
		require.ErrorIs(t, err, errUsage, args)
		if !strings.HasPrefix(want, `"--roles"`) {
			require.ErrorContains(t, err, want, args)
		}
	}
	env, _, stderr := surroundings(nil, "")
	_, err := parseFlags([]string{"--help"}, env)
	require.ErrorIs(t, err, flag.ErrHelp)
	require.Contains(t, stderr.String(), "-roles")
}

// Exit codes of CONTRACT §9; nothing is started, so nothing listens.
func TestRunSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	occupied := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(occupied, nil, 0o600))
	for name, test := range map[string]struct {
		args   []string
		vars   map[string]string
		file   string
		code   int
		stderr []string
	}{
		"help":      {args: []string{"--help"}, code: 0, stderr: []string{"-dev"}},
		"usage":     {args: []string{"--roles", "driver"}, code: 2, stderr: []string{`not "driver"`}},
		"arguments": {args: []string{"run"}, code: 2, stderr: []string{"takes no arguments"}},
		"every problem at once": {
			vars: map[string]string{"COUNTERSIGN_UNSUPPORTED": "perhaps", "COUNTERSIGN_CONFIRM_TIMEOUT": "soon"},
			file: "colour: red\n", code: 1,
			stderr: []string{"COUNTERSIGN_UNSUPPORTED", "COUNTERSIGN_CONFIRM_TIMEOUT", "colour"},
		},
		"a named file that is not there": {vars: map[string]string{"COUNTERSIGN_CONFIG": "/nowhere.yaml"}, code: 1, stderr: []string{"COUNTERSIGN_CONFIG", "/nowhere.yaml"}},
		"the data folder":                {vars: map[string]string{"COUNTERSIGN_DATA_DIR": filepath.Join(occupied, "x")}, code: 1, stderr: []string{"make the data folder (COUNTERSIGN_DATA_DIR)"}},
		"a policy of nothing": {
			vars: map[string]string{"COUNTERSIGN_DATA_DIR": t.TempDir(), "TEMPORAL_ADDRESS": "127.0.0.1:1"},
			file: "policy:\n  file_manager.shred: {timeout: 10s}\n", code: 1,
			stderr: []string{"policy.file_manager.shred: there is no such operation; see `starter tools list`"},
		},
		"a looser policy": {
			vars: map[string]string{"COUNTERSIGN_DATA_DIR": t.TempDir(), "TEMPORAL_ADDRESS": "127.0.0.1:1"},
			file: "policy:\n  file_manager.delete: {confirm: false}\n", code: 1,
			stderr: []string{"policy.file_manager.delete: confirm: false is looser than the declaration", "loosen: true"},
		},
		"a disk that cannot be opened": {
			vars: map[string]string{"COUNTERSIGN_DATA_DIR": t.TempDir(), "TEMPORAL_ADDRESS": "127.0.0.1:1"},
			file: "disks:\n  other: gopher://x\n", code: 1, stderr: []string{"gopher"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if test.file != "" && !strings.Contains(test.file, "disks:") {
				test.file += "disks:\n  local: file://" + t.TempDir() + "\n"
			}
			env, stdout, stderr := surroundings(test.vars, test.file)
			require.Equal(t, test.code, Run(t.Context(), test.args, env), stderr)
			for _, want := range test.stderr {
				require.Contains(t, stderr.String(), want)
			}
			require.NotContains(t, stderr.String(), "fx", "words of the person's, not of our wiring")
			require.Empty(t, stdout.String())
		})
	}
}

const people = `
people:
  - {name: eve, telegram: [2], tokens: ["sha256:` + eveHash + `"]}
  - {name: ada, owner: true, telegram: [1001]}
  - {name: robot, role: agent, tokens: ["sha256:` + robotHash + `"]}
`

const (
	eveHash   = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	robotHash = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
	ownHash   = "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
)

func TestTokens(t *testing.T) {
	t.Parallel()
	named := identity{cfg: load(t, people), ownerHash: ownHash}
	for hash, want := range map[string]struct{ name, role string }{
		eveHash: {"eve", gateway.RoleApprover}, robotHash: {"robot", gateway.RoleAgent},
		ownHash: {"ada", gateway.RoleOwner}, strings.ToUpper(ownHash): {"ada", gateway.RoleOwner},
	} {
		person, role, ok := named.Token(hash)
		require.True(t, ok)
		require.Equal(t, want.name, person.Name)
		require.Equal(t, want.role, role)
		require.Equal(t, want.role == gateway.RoleOwner, person.Owner)
	}
	for _, hash := range []string{"", strings.Repeat("d", 64), ownHash[:63]} {
		_, role, ok := named.Token(hash)
		require.False(t, ok)
		require.Empty(t, role)
	}
	_, _, ok := identity{cfg: load(t, "")}.Token("")
	require.False(t, ok, "no token file is no token, not the empty one")

	nobody := identity{cfg: load(t, ""), ownerHash: ownHash}
	person, role, ok := nobody.Token(ownHash)
	require.True(t, ok)
	require.Equal(t, gateway.RoleOwner, role)
	require.Equal(t, chat.Person{ID: "api:owner", Name: "owner", Owner: true}, person, "the first owner where nobody is named")
}

func TestPersons(t *testing.T) {
	t.Parallel()
	who := identity{cfg: load(t, people)}
	for ref, want := range map[string]chat.Person{
		"ada":           {Name: "ada", Owner: true},
		"eve":           {Name: "eve"},
		"robot":         {Name: "robot", Bot: true},
		"telegram:1001": {ID: "telegram:1001", Name: "ada", Owner: true},
		"telegram:9":    {ID: "telegram:9"},
	} {
		person, ok := who.Person(ref)
		require.True(t, ok, ref)
		require.Equal(t, want, person, ref)
	}
	_, ok := who.Person("owner")
	require.False(t, ok, "the name that stands for nobody is nobody's here")
	person, ok := identity{cfg: load(t, "")}.Person("owner")
	require.True(t, ok)
	require.True(t, person.Owner)
}

func TestTheOwnersTokenIsMadeOnce(t *testing.T) {
	t.Parallel()
	cfg := load(t, people)
	cfg.DataDir = t.TempDir()
	env, stdout, _ := surroundings(nil, "")
	first, err := provideIdentity(cfg, env)
	require.NoError(t, err)
	raw, err := os.ReadFile(filepath.Join(cfg.DataDir, gateway.TokenFile))
	require.NoError(t, err)
	token := strings.TrimSpace(string(raw))
	require.Contains(t, stdout.String(), token, "printed once")
	person, role, ok := first.Token(gateway.TokenHash(token))
	require.True(t, ok)
	require.Equal(t, "ada", person.Name)
	require.Equal(t, gateway.RoleOwner, role)
	stdout.Reset()
	second, err := provideIdentity(cfg, env)
	require.NoError(t, err)
	require.Equal(t, first.ownerHash, second.ownerHash)
	require.Empty(t, stdout.String())
}

func declared() []tool.Tool {
	return []tool.Tool{{Name: "t", Operations: []tool.Operation{
		{Name: "read", Kind: tool.Read}, {Name: "delete", Kind: tool.Danger, Prompt: "Delete?"},
	}}}
}

func TestPolicyOverrides(t *testing.T) {
	t.Parallel()
	tools := declared()
	require.NoError(t, override(tools, map[string]config.Policy{
		"t.delete": {Timeout: time.Minute, Approvers: &config.Approvers{Who: "other", Quorum: 2}},
		"t.read":   {Confirm: "always"},
	}))
	require.Equal(t, tool.ConfirmAlways, tools[0].Operations[0].Confirm)
	require.NotEmpty(t, tools[0].Operations[0].Prompt)
	require.Equal(t, time.Minute, tools[0].Operations[1].Timeout)
	require.Equal(t, tool.Approvers{Who: tool.WhoOther, Quorum: 2}, tools[0].Operations[1].Approvers)

	require.NoError(t, override(declared(), map[string]config.Policy{"t.delete": {Confirm: "false", Loosen: true}}))
	require.NoError(t, override(declared(), nil))
	for want, policies := range map[string]map[string]config.Policy{
		"policy.a.b: there is no such operation":       {"t.read": {Confirm: "true"}, "z.z": {}, "a.b": {}},
		"policy.t.delete: confirm: false is looser":    {"t.delete": {Confirm: "false"}},
		`policy.t.read: confirm is "maybe"`:            {"t.read": {Confirm: "maybe"}},
		"policy.t.delete: approvers.who is \"anyone\"": {"t.delete": {Approvers: &config.Approvers{Who: "anyone"}}},
	} {
		require.ErrorContains(t, override(declared(), policies), want)
	}
}

func TestScope(t *testing.T) {
	t.Parallel()
	cfg := load(t, people)
	cfg.Scope = map[string]config.Scope{"t": {People: []string{"ada"}}, "t.delete": {Connectors: []string{chat.Web}}}
	allowed := scope(cfg)
	in := contract.Invocation{
		Tool: "t", Operation: "read", Thread: chat.Thread{Connector: chat.Telegram, Key: "1"}, Requester: chat.Person{Name: "ada"},
	}
	require.NoError(t, allowed(in))
	in.Operation = "delete"
	require.ErrorContains(t, allowed(in), "t.delete may not be used")
	in.Thread.Connector = chat.Web
	require.NoError(t, allowed(in))
	in.Requester = chat.Person{ID: "web:1"}
	require.ErrorContains(t, allowed(in), "t may not be used")
	in.Requester = chat.Person{}
	require.Error(t, allowed(in), "nobody is not ada")
	in.Tool = "other"
	require.NoError(t, allowed(in), "not limited")
}

func TestRootLeavesOutTheGraphsWordsAndNoneOfOurs(t *testing.T) {
	t.Parallel()
	ours := fmt.Errorf("listen on 127.0.0.1:8080 (set COUNTERSIGN_HTTP_ADDR): %w", errors.New("the port is taken"))
	both := errors.Join(ours, errors.New("and another"))
	for _, want := range []error{ours, both} {
		for _, options := range []fx.Option{
			fx.Options(fx.Provide(func() (int, error) { return 0, want }), fx.Provide(func(int) string { return "" }), fx.Invoke(func(string) {})),
			fx.Invoke(func() error { return want }),
			fx.Invoke(func(lc fx.Lifecycle) { lc.Append(fx.StartHook(func() error { return want })) }),
		} {
			app := fx.New(fx.NopLogger, options)
			err := app.Err()
			if err == nil {
				err = app.Start(t.Context())
			}
			require.EqualError(t, root(err), want.Error())
		}
	}
}

func TestAnnounce(t *testing.T) {
	t.Parallel()
	cfg := load(t, "")
	env, stdout, _ := surroundings(nil, "")
	both := flags{roles: []string{roleEngine, roleGateway}}
	announce(both, cfg, env, &embedded{})
	require.Empty(t, stdout.String())
	both.dev = true
	announce(both, cfg, env, &embedded{temporal: "127.0.0.1:7233", ui: "http://127.0.0.1:8233", redis: "redis://127.0.0.1:6380/0"})
	for _, want := range []string{"http://127.0.0.1:8080/", "http://127.0.0.1:8233/", "127.0.0.1:7233", "redis://127.0.0.1:6380/0", "bin/starter demo"} {
		require.Contains(t, stdout.String(), want)
	}
}

func TestTheDevLogIsAFile(t *testing.T) {
	t.Parallel()
	cfg := load(t, "")
	cfg.DataDir = t.TempDir()
	env, _, stderr := surroundings(nil, "")
	logger, end, err := newLogger(flags{dev: true}, cfg, env)
	require.NoError(t, err)
	logger.Info("quiet")
	logger.Warn("loud")
	end()
	require.NotContains(t, stderr.String(), "quiet")
	require.Contains(t, stderr.String(), "loud")
	content, err := os.ReadFile(filepath.Join(cfg.DataDir, "worker.log"))
	require.NoError(t, err)
	require.Contains(t, string(content), "quiet")

	logger, _, err = newLogger(flags{}, cfg, env)
	require.NoError(t, err)
	logger.Log(t.Context(), slog.LevelInfo, "service")
	require.Contains(t, stderr.String(), "service")
}
