package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.temporal.io/sdk/contrib/envconfig"

	"github.com/countersignhq/countersign/app/cli"
	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/config"
	"github.com/countersignhq/countersign/connectors/email"
	"github.com/countersignhq/countersign/connectors/slack"
	"github.com/countersignhq/countersign/connectors/telegram"
	"github.com/countersignhq/countersign/doctor"
	"github.com/countersignhq/countersign/gateway"
	"github.com/countersignhq/countersign/rediscompat"
	"github.com/countersignhq/countersign/tool"
	"github.com/countersignhq/countersign/toolbox/filemanager"
	"github.com/countersignhq/countersign/toolbox/workspace"
)

// examination is `starter doctor`: the configuration as it was loaded, or why it was not.
type examination struct {
	env   Environment
	cfg   *config.Config // nil where it cannot be used
	wrong error
}

// run examines some areas, or all. It needs no running worker and starts none.
func (e examination) run(ctx context.Context, names []string, gatewayURL string) doctor.Report {
	if len(names) == 0 {
		names = doctor.Names()
	}
	if e.cfg == nil && !slices.Contains(names, doctor.AreaConfiguration) {
		names = append([]string{doctor.AreaConfiguration}, names...) // what is wrong is there
	}
	at := gatewayURL
	if at == "" && e.cfg != nil {
		at, _ = cli.GatewayAt(e.cfg.HTTP.Addr)
	}
	var areas []doctor.Area
	for _, name := range doctor.Names() {
		if slices.Contains(names, name) {
			areas = append(areas, e.area(name, at))
		}
	}
	return doctor.Run(ctx, doctor.Params{Areas: areas, Secrets: e.secrets()})
}

func (e examination) area(name, gatewayURL string) doctor.Area {
	if name == doctor.AreaConfiguration {
		return doctor.Area{Name: name, Check: doctor.Configuration{
			Config: e.cfg, Err: e.wrong, File: e.file(), Environ: e.env.Environ, Tools: e.tools,
		}.Check}
	}
	if e.cfg == nil {
		return doctor.Unusable(name)
	}
	checks := map[string]func(context.Context, *doctor.Notes){
		doctor.AreaPeople:   doctor.People{Config: e.cfg}.Check,
		doctor.AreaTemporal: e.temporal,
		doctor.AreaRedis:    e.redis,
		doctor.AreaDisks:    doctor.Disks{Config: e.cfg}.Check,
		doctor.AreaGateway:  func(ctx context.Context, n *doctor.Notes) { e.gateway(gatewayURL).Check(ctx, n) },
		doctor.AreaTelegram: func(ctx context.Context, n *doctor.Notes) { e.telegram(gatewayURL).Check(ctx, n) },
		doctor.AreaSlack:    func(ctx context.Context, n *doctor.Notes) { e.slack(gatewayURL).Check(ctx, n) },
		doctor.AreaEmail:    func(ctx context.Context, n *doctor.Notes) { e.email().Check(ctx, n) },
	}
	return doctor.Area{Name: name, Check: checks[name]}
}

// file is the configuration file's name, where there is one.
func (e examination) file() string {
	name := e.env.getenv("COUNTERSIGN_CONFIG")
	if strings.TrimSpace(name) == "" {
		name = config.DefaultFile
	}
	if _, err := e.env.ReadFile(name); err != nil {
		return ""
	}
	return name
}

// tools tells what the declarations have against the policy. Those of the examples
// count, for --dev has them.
func (e examination) tools() error {
	tools := []tool.Tool{filemanager.New(filemanager.Params{}), workspace.New(nil)}
	if err := override(tools, e.cfg.Policy); err != nil {
		return err
	}
	_, _, err := tool.NewRegistry(tools...)
	return err
}

func (e examination) temporal(ctx context.Context, n *doctor.Notes) {
	embedded := ""
	chosen, err := envconfig.LoadClientOptions(envconfig.LoadClientOptionsRequest{EnvLookup: lookup{e.env}})
	if err == nil && chosen.HostPort == "" && e.cfg.Temporal.Port != 0 {
		embedded = net.JoinHostPort("127.0.0.1", strconv.Itoa(e.cfg.Temporal.Port)) // where `make run` has its own
	}
	c, options, err := newClient(e.env, embedded, quiet())
	if err != nil {
		doctor.Temporal{Err: err}.Check(ctx, n)
		return
	}
	defer c.Close()
	doctor.Temporal{Client: c, Address: options.HostPort, Chosen: chosen.HostPort != "", Namespace: options.Namespace}.Check(ctx, n)
}

func (e examination) redis(ctx context.Context, n *doctor.Notes) {
	check := doctor.Redis{Configured: e.cfg.Redis.URL != "", Prefix: e.cfg.Redis.Prefix}
	address := e.cfg.Redis.URL.Reveal()
	if !check.Configured {
		address = (&url.URL{Scheme: "redis", Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(e.cfg.Redis.Port)), Path: "/0"}).String()
	}
	mirror, err := rediscompat.New(rediscompat.Params{
		URL: address, Prefix: e.cfg.Redis.Prefix, Logger: quiet(),
		Ours: func(context.Context, string) (bool, error) { return false, errNobody },
	})
	if err != nil {
		check.Err = err
	} else {
		check.Server = mirror
		defer mirror.Shutdown() //nolint:errcheck // nothing is written
	}
	check.Check(ctx, n)
}

func (e examination) gateway(at string) doctor.Gateway {
	g := doctor.Gateway{URL: at, PublicURL: e.cfg.PublicURL, HTTP: http.DefaultClient}
	g.Token, g.TokenFrom = e.token()
	return g
}

// token is the owner's, and where it is from, or looked for.
func (e examination) token() (token, from string) {
	if token = strings.TrimSpace(e.env.getenv("COUNTERSIGN_TOKEN")); token != "" {
		return token, "COUNTERSIGN_TOKEN"
	}
	if e.cfg == nil {
		return "", ""
	}
	from = filepath.Join(e.cfg.DataDir, gateway.TokenFile)
	content, err := os.ReadFile(from)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", from + " is not there"
	case err != nil:
		return "", fmt.Sprintf("%s cannot be read", from)
	}
	return strings.TrimSpace(string(content)), from
}

func (e examination) telegram(at string) doctor.Telegram {
	check := doctor.Telegram{Config: e.cfg, Gateway: at}
	if !e.cfg.Telegram.Enabled {
		return check
	}
	p := telegramParams(e.cfg)
	p.Desk, p.Files = nobody{}, nobody{}
	c, err := telegram.New(p)
	check.Bot, check.Err = c, err
	return check
}

func (e examination) slack(at string) doctor.Slack {
	check := doctor.Slack{Config: e.cfg, Gateway: at}
	if !e.cfg.Slack.Enabled {
		return check
	}
	p := slackParams(e.cfg)
	p.Desk, p.Files = nobody{}, nobody{}
	p.KnownThread = func(context.Context, chat.Thread) (bool, error) { return false, errNobody }
	c, err := slack.New(p)
	check.App, check.Err = c, err
	return check
}

func (e examination) email() doctor.Email {
	check := doctor.Email{Config: e.cfg}
	if !e.cfg.Email.Enabled {
		return check
	}
	secret := e.cfg.Email.TokenSecret.Reveal()
	if secret == "" {
		secret = gateway.NewToken() // the real one is made by the worker; nothing is sent here
	}
	p := emailParams(e.cfg, secret)
	p.Desk, p.Files = nobody{}, nobody{}
	c, err := email.New(p)
	check.Box, check.Err = c, err
	return check
}

// secrets are all that no finding may show.
func (e examination) secrets() (secrets []string) {
	token, _ := e.token()
	secrets = append(secrets, token, e.env.getenv("TEMPORAL_API_KEY"), e.env.getenv("AWS_SECRET_ACCESS_KEY"), e.env.getenv("AWS_SESSION_TOKEN"))
	if e.cfg == nil {
		return secrets
	}
	secrets = append(secrets, secretsIn(reflect.ValueOf(*e.cfg))...)
	addresses := []string{e.cfg.Redis.URL.Reveal()}
	for _, disk := range e.cfg.Disks {
		addresses = append(addresses, disk)
	}
	for _, address := range addresses {
		parsed, err := url.Parse(address)
		if err != nil {
			continue
		}
		if password, set := parsed.User.Password(); set {
			secrets = append(secrets, password, url.QueryEscape(password))
		}
	}
	return secrets
}

// secretsIn finds every config.Secret of a configuration, also those that come later.
func secretsIn(value reflect.Value) (found []string) {
	if secret, ok := reflect.TypeAssert[config.Secret](value); ok {
		return []string{secret.Reveal()}
	}
	if value.Kind() != reflect.Struct {
		return nil
	}
	for i := range value.NumField() {
		if value.Type().Field(i).IsExported() {
			found = append(found, secretsIn(value.Field(i))...)
		}
	}
	return found
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

var errNobody = errors.New("only the platform is looked at here; nobody takes messages")

// nobody stands where a connector hands over messages and keeps files.
type nobody struct{}

func (nobody) Deliver(context.Context, chat.Message) error { return errNobody }

func (nobody) Click(context.Context, chat.Click) (chat.Verdict, error) {
	return chat.Verdict{}, errNobody
}

func (nobody) Save(context.Context, string, string, io.Reader) (chat.File, error) {
	return chat.File{}, errNobody
}

func (nobody) Saved(context.Context, string, string) (chat.File, error) {
	return chat.File{}, errNobody
}

func (nobody) Open(context.Context, string) (io.ReadCloser, error) { return nil, errNobody }
