package config

import (
	"net"
	"net/netip"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Validate reports everything that is wrong, as joined [KeyError] errors.
func (c *Config) Validate() error {
	var found problems
	c.validateAddresses(&found)
	c.validateQuestions(&found)
	c.validateDisks(&found)
	c.validateTelegram(&found)
	c.validateSlack(&found)
	c.validateEmail(&found)
	c.validateOIDC(&found)
	c.validateLanguages(&found)
	c.validatePeople(&found)
	c.validateScope(&found)
	c.validatePolicy(&found)
	return found.err()
}

func (c *Config) validateAddresses(found *problems) {
	if _, port, err := net.SplitHostPort(c.HTTP.Addr); err != nil || !isPort(port) {
		found.add("http.addr", "%q is not host:port; write one such as 127.0.0.1:8080", c.HTTP.Addr)
	}
	if c.HTTP.MaxUpload < 1 {
		found.add("http.max_upload", "%d is not above zero; write bytes, e.g. 268435456 for 256 MiB", c.HTTP.MaxUpload)
	}
	if strings.TrimSpace(c.DataDir) == "" {
		found.add("data_dir", "is empty; name a folder such as .countersign")
	}
	found.oneURL("public_url", c.PublicURL, true)
	found.port("redis.port", c.Redis.Port)
	found.port("temporal.port", c.Temporal.Port)
	found.port("temporal.ui_port", c.Temporal.UIPort)
	if c.Temporal.Port != 0 && c.Temporal.Port == c.Temporal.UIPort {
		found.add("temporal.ui_port", "is the same as temporal.port; choose another")
	}
	if c.Redis.URL != "" {
		parsed, err := url.Parse(c.Redis.URL.Reveal())
		if err != nil || !slices.Contains([]string{"redis", "rediss", "unix"}, parsed.Scheme) {
			found.add("redis.url", "is not a Redis address; write redis://host:6379 or rediss://…")
		}
	}
}

func (c *Config) validateQuestions(found *problems) {
	found.positive("confirm_timeout", c.ConfirmTimeout)
	found.positive("handoff_timeout", c.HandoffTimeout)
	found.oneOf("unsupported", c.Unsupported, UnsupportedRun, UnsupportedDeny, UnsupportedRoute)
	found.oneOf("stacking", c.Stacking, StackingSupersede, StackingQueue)
	if c.WebhookRateLimit < 0 {
		found.add("webhook_rate_limit", "%d is below zero; write messages a minute, or 0 for no limit", c.WebhookRateLimit)
	}
	route, routed := c.Route()
	switch {
	case c.ApprovalRoute == "" && c.Unsupported == UnsupportedRoute:
		found.add("approval_route", "is needed by unsupported: route; write connector:thread_key, e.g. telegram:1001")
	case c.ApprovalRoute != "" && !routed:
		found.add("approval_route", "%q is not connector:thread_key; write e.g. telegram:1001 (connectors: %s)",
			c.ApprovalRoute, strings.Join(asking(), ", "))
	case routed && !slices.Contains(asking(), route.Connector):
		found.add("approval_route", "nobody can be asked on %s; choose one of %s",
			route.Connector, strings.Join(asking(), ", "))
	}
}

func (c *Config) validateDisks(found *problems) {
	for name, diskURL := range c.Disks {
		key := "disks[" + name + "]"
		if !diskName.MatchString(name) {
			found.add(key, "is no name for a disk; use letters, digits, dash and underscore")
		}
		// An URL may hold credentials, so it is never shown.
		parsed, err := url.Parse(diskURL)
		if err != nil || parsed.Scheme == "" {
			found.add(key, "is not an URL; write e.g. file:///srv/files or s3://bucket")
			continue
		}
		if _, ok := Folder(diskURL); parsed.Scheme == "file" && !ok {
			found.add(key, "names no folder; write file:///absolute/path, or file://./relative/path")
		}
	}
	if _, ok := c.Disks[c.Attachments.Disk]; !ok {
		found.add("attachments.disk", "there is no disk %q; add it to disks or choose one that is there", c.Attachments.Disk)
	}
	for _, name := range c.AllowedDisks {
		if _, ok := c.Disks[name]; !ok {
			found.add("allowed_disks", "there is no disk %q; add it to disks or take it out", name)
		}
	}
	in, out := c.Attachments.IncomingPath, c.Attachments.OutgoingPath
	found.folder("attachments.incoming_path", in)
	found.folder("attachments.outgoing_path", out)
	if strings.HasPrefix(in+"/", out+"/") || strings.HasPrefix(out+"/", in+"/") {
		found.add("attachments.outgoing_path", "lies in the same folder as attachments.incoming_path; choose two separate ones")
	}
}

// webhookSecret is what https://core.telegram.org/bots/api#setwebhook allows.
var (
	webhookSecret = regexp.MustCompile(`^[A-Za-z0-9_-]{1,256}$`)
	diskName      = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]*$`)
)

func (c *Config) validateTelegram(found *problems) {
	found.oneOf("telegram.mode", c.Telegram.Mode, ModeWebhook, ModePolling)
	found.oneURL("telegram.api_url", c.Telegram.APIURL, false)
	if strings.ContainsAny(c.Telegram.Token.Reveal(), "/ \t\r\n?#%") {
		found.add("telegram.token", "is not a bot token; copy it from @BotFather, without blanks")
	}
	if c.Telegram.WebhookSecret != "" && !webhookSecret.MatchString(c.Telegram.WebhookSecret.Reveal()) {
		found.add("telegram.webhook_secret", "may hold 1 to 256 of A-Z a-z 0-9 _ and -; choose another")
	}
	if !c.Telegram.Enabled {
		return
	}
	found.needed("telegram.token", c.Telegram.Token.Reveal(), "telegram.enabled: true")
	if c.Telegram.Mode == ModeWebhook {
		found.needed("telegram.webhook_secret", c.Telegram.WebhookSecret.Reveal(), "telegram.mode: webhook")
	}
}

func (c *Config) validateSlack(found *problems) {
	found.oneOf("slack.mode", c.Slack.Mode, ModeEvents, ModeSocket)
	found.oneURL("slack.api_url", c.Slack.APIURL, false)
	if !c.Slack.Enabled {
		return
	}
	found.needed("slack.bot_token", c.Slack.BotToken.Reveal(), "slack.enabled: true")
	switch c.Slack.Mode {
	case ModeEvents:
		found.needed("slack.signing_secret", c.Slack.SigningSecret.Reveal(), "slack.mode: events")
	case ModeSocket:
		found.needed("slack.app_token", c.Slack.AppToken.Reveal(), "slack.mode: socket")
	}
}

func (c *Config) validateEmail(found *problems) {
	found.oneOf("email.imap.encryption", c.Email.IMAP.Encryption, "ssl", "tls", "none")
	found.oneOf("email.smtp.encryption", c.Email.SMTP.Encryption, "ssl", "tls", "none")
	found.port("email.imap.port", c.Email.IMAP.Port)
	found.port("email.smtp.port", c.Email.SMTP.Port)
	if c.Email.SMTP.FromAddress != "" && !isAddress(c.Email.SMTP.FromAddress) {
		found.add("email.smtp.from_address", "%q is not an address; write e.g. bot@example.test", c.Email.SMTP.FromAddress)
	}
	found.oneURL("email.oauth.token_url", c.Email.OAuth.TokenURL, true)
	found.server("email.dns", c.Email.DNS)
	if !c.Email.Enabled {
		return
	}
	if c.Email.OAuth.TokenURL != "" {
		found.needed("email.oauth.client_id", c.Email.OAuth.ClientID, "email.oauth.token_url")
	}
	found.needed("email.imap.host", c.Email.IMAP.Host, "email.enabled: true")
	found.needed("email.imap.username", c.Email.IMAP.Username, "email.enabled: true")
	found.needed("email.smtp.host", c.Email.SMTP.Host, "email.enabled: true")
	found.needed("email.smtp.from_address", c.Email.SMTP.FromAddress, "email.enabled: true")
	if secret := c.Email.TokenSecret.Reveal(); secret != "" && len(secret) < 16 {
		found.add("email.token_secret", "is too short; openssl rand -hex 32 makes one")
	}
}

func (c *Config) validateOIDC(found *problems) {
	found.oneURL("oidc.issuer", c.OIDC.Issuer, true)
	if c.OIDC.Issuer == "" {
		return
	}
	if issuer, err := url.Parse(c.OIDC.Issuer); err == nil && issuer.Scheme == "http" && !isLoopback(issuer.Hostname()) {
		found.add("oidc.issuer", "is not https; anybody on the way could sign in as anybody")
	}
	found.needed("oidc.client_id", c.OIDC.ClientID, "oidc.issuer")
	found.needed("oidc.client_secret", c.OIDC.ClientSecret.Reveal(), "oidc.issuer")
	found.needed("oidc.claim", c.OIDC.Claim, "oidc.issuer")
	found.needed("public_url", c.PublicURL, "oidc.issuer, whose provider sends browsers back there")
}

func isLoopback(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}

func (p *problems) needed(key, value, by string) {
	if value == "" {
		p.add(key, "is needed by %s; set it", by)
	}
}

func (p *problems) oneOf(key, value string, allowed ...string) {
	if !slices.Contains(allowed, value) {
		p.add(key, "%q is not known; write one of %s", value, strings.Join(allowed, ", "))
	}
}

func (p *problems) positive(key string, value time.Duration) {
	if value <= 0 {
		p.add(key, "%s is no time to wait; write e.g. 120s", value)
	}
}

func (p *problems) port(key string, value int) {
	if value < 0 || value > 65535 {
		p.add(key, "%d is not a port; write 1 to 65535, or 0 for a free one", value)
	}
}

// server is an IP address, with or without a port; empty is fine.
func (p *problems) server(key, value string) {
	host, _, err := net.SplitHostPort(value)
	if err != nil {
		host = strings.Trim(value, "[]")
	}
	if _, err := netip.ParseAddr(host); err != nil && value != "" {
		p.add(key, "%q is no address; write e.g. 192.0.2.53 or 192.0.2.53:5353", value)
	}
}

// oneURL shows no value: an URL may hold a password.
func (p *problems) oneURL(key, value string, optional bool) {
	if value == "" && optional {
		return
	}
	parsed, err := url.Parse(value)
	if err != nil || parsed.Host == "" || parsed.Scheme != "http" && parsed.Scheme != "https" ||
		parsed.RawQuery != "" || parsed.Fragment != "" {
		p.add(key, "is not a web address; write e.g. https://countersign.example.test")
	}
}

// folder wants a plain relative path, since these name what File Manager protects.
func (p *problems) folder(key, value string) {
	if value == "" || value == "." || path.Clean(value) != value || path.IsAbs(value) ||
		value == ".." || strings.HasPrefix(value, "../") || !plainPath.MatchString(value) {
		p.add(key, "%q is not a folder on the disk; write a relative path such as inbound", value)
	}
}

var plainPath = regexp.MustCompile(`^[A-Za-z0-9._/-]+$`)

func isPort(port string) bool {
	number, err := strconv.ParseUint(port, 10, 16)
	return err == nil && number <= 65535
}
