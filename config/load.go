package config

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"

	"github.com/knadh/koanf/parsers/yaml"
	"github.com/knadh/koanf/providers/rawbytes"
	"github.com/knadh/koanf/v2"
)

// Load makes the configuration from defaults, the file and the environment,
// the later over the earlier, and validates it. The error joins a [KeyError]
// for each thing that is wrong.
//
// getenv is os.LookupEnv, readFile is os.ReadFile in a program. environ
// (os.Environ) is only looked through for names that cannot be known before:
// COUNTERSIGN_DISKS_NAME, and misspelt ones.
func Load(
	getenv func(string) (string, bool), environ []string, readFile func(string) ([]byte, error),
) (*Config, error) {
	loader := loader{config: &Config{sources: map[string]string{}}, getenv: getenv}
	file := loader.loadFile(readFile)
	variables := loader.loadEnvironment(environ)
	merged := koanf.New(delimiter)
	for _, layer := range []*koanf.Koanf{file, variables} {
		if err := merged.Merge(layer); err != nil {
			return nil, fmt.Errorf("merging the configuration: %w", err)
		}
	}
	loader.decode(merged)
	loader.config.derive()
	loader.problems.join(loader.config.Validate())
	if err := loader.problems.err(); err != nil {
		return nil, fmt.Errorf("the configuration cannot be used:\n%w", err)
	}
	return loader.config, nil
}

// Default returns the configuration where nothing is set.
func Default() *Config {
	none := func(string) (string, bool) { return "", false }
	noFile := func(string) ([]byte, error) { return nil, fs.ErrNotExist }
	config, err := Load(none, nil, noFile)
	if err != nil {
		panic("config: the defaults are not valid: " + err.Error())
	}
	return config
}

type loader struct {
	config   *Config
	problems problems
	getenv   func(string) (string, bool)
}

// variable returns a variable's value; an empty one counts as not set.
func (l *loader) variable(name string) (string, bool) {
	value, ok := l.getenv(name)
	return value, ok && strings.TrimSpace(value) != ""
}

func (l *loader) loadFile(readFile func(string) ([]byte, error)) *koanf.Koanf {
	layer := koanf.New(delimiter)
	name, named := l.variable(fileEnv)
	if !named {
		name = DefaultFile
	}
	content, err := readFile(name)
	if errors.Is(err, fs.ErrNotExist) && !named {
		return layer
	}
	if err != nil {
		l.problems.add(fileEnv, "reading %s: %v; name a file that can be read", name, err)
		return layer
	}
	if err := layer.Load(rawbytes.Provider(content), yaml.Parser()); err != nil {
		l.problems.add(name, "%s; mend the YAML there", withoutValues(err))
		return layer
	}
	raw := withoutNulls(layer.Raw())
	l.unknown(raw, reflect.TypeFor[Config](), "")
	l.attribute(raw, reflect.TypeFor[Config](), "", name)
	clean := koanf.New(delimiter)
	if err := clean.Load(rawMap(raw), nil); err != nil {
		l.problems.add(name, "%v", err)
	}
	return clean
}

// attribute remembers which keys the file set.
func (l *loader) attribute(values map[string]any, section reflect.Type, prefix, source string) {
	for _, key := range keysOf(section, prefix, nil) {
		if _, ok := lookup(values, key.Path); ok {
			l.config.sources[key.Path] = source
		}
	}
}

func lookup(values map[string]any, dotted string) (any, bool) {
	var at any = values
	for name := range strings.SplitSeq(dotted, ".") {
		section, ok := at.(map[string]any)
		if !ok {
			return nil, false
		}
		if at, ok = section[name]; !ok {
			return nil, false
		}
	}
	return at, true
}

// withoutNulls drops keys that are written without a value: they are not set.
func withoutNulls(values map[string]any) map[string]any {
	clean := make(map[string]any, len(values))
	for name, value := range values {
		switch value := value.(type) {
		case nil:
		case map[string]any:
			clean[name] = withoutNulls(value)
		default:
			clean[name] = value
		}
	}
	return clean
}

// quoted finds the pieces of the file that the YAML parser puts into its errors.
var quoted = regexp.MustCompile("`[^`]*`|'[^']*'")

// withoutValues keeps a parser's line number and cause, but none of the file's
// text: a secret may stand there.
func withoutValues(err error) string {
	return strings.ReplaceAll(quoted.ReplaceAllString(err.Error(), "a value"), "\n", " ")
}

// rawMap is a koanf provider of a map that is nested already.
type rawMap map[string]any

func (m rawMap) Read() (map[string]any, error) { return m, nil }

func (m rawMap) ReadBytes() ([]byte, error) { return nil, errors.ErrUnsupported }

// derive fills in what follows from other keys.
func (c *Config) derive() {
	c.PublicURL = strings.TrimRight(c.PublicURL, "/")
	if c.Disks == nil {
		c.Disks = map[string]string{}
	}
	if c.Disks["local"] == "" {
		c.Disks["local"] = fileURL(path.Join(filepath.ToSlash(c.DataDir), "files"))
	}
	if !c.IsSet("telegram.enabled") {
		c.Telegram.Enabled = c.Telegram.Token != ""
	}
	if !c.IsSet("slack.enabled") {
		c.Slack.Enabled = c.Slack.BotToken != ""
	}
	if !c.IsSet("email.enabled") {
		c.Email.Enabled = c.Email.IMAP.Host != ""
	}
	if !c.IsSet("telegram.mode") {
		c.Telegram.Mode = ModePolling
		if c.PublicURL != "" || c.Telegram.WebhookSecret != "" {
			c.Telegram.Mode = ModeWebhook
		}
	}
	for i := range c.People {
		c.People[i] = normalized(c.People[i])
	}
}

func normalized(p Person) Person {
	p.Name = strings.TrimSpace(p.Name)
	for i, address := range p.Email {
		p.Email[i] = strings.ToLower(strings.TrimSpace(address))
	}
	for i, token := range p.Tokens {
		p.Tokens[i] = strings.ToLower(strings.TrimSpace(token))
	}
	return p
}
