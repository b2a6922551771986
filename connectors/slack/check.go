package slack

import (
	"context"
	"slices"
	"strings"

	slackgo "github.com/slack-go/slack"
)

// scopes of the bot token, as docs/connectors/slack.md and its manifest list them.
var scopes = []string{
	"app_mentions:read", "channels:history", "chat:write", "files:read", "files:write",
	"groups:history", "im:history", "im:write", "mpim:history", "reactions:write",
}

// Account is who the bot token makes us.
type Account struct {
	Team, TeamID string
	User, UserID string
	// Missing scopes of the bot token; nil where Slack did not list them.
	Missing []string
}

// Check asks Slack who we are, which scopes are missing and, in Socket mode, whether
// the app token opens a socket. Errors are *chat.Error.
func (c *Connector) Check(ctx context.Context) (Account, error) {
	var account Account
	err := c.api.call(ctx, "auth.test", func(ctx context.Context, client *slackgo.Client) error {
		who, err := client.AuthTestContext(ctx)
		if err != nil {
			return err
		}
		account = Account{Team: who.Team, TeamID: who.TeamID, User: who.User, UserID: who.UserID}
		account.Missing = missing(who.Header.Get("X-OAuth-Scopes"))
		return nil
	})
	if err != nil || c.mode != Socket {
		return account, err
	}
	return account, c.api.call(ctx, "apps.connections.open", func(ctx context.Context, client *slackgo.Client) error {
		_, _, err := client.StartSocketModeContext(ctx)
		return err
	})
}

// Start is Check with a line in the log. Nothing has to be registered with Slack: the
// addresses stand in the app's manifest. A temporary *chat.Error means that Slack was
// not reached; everything else of the connector works without Start.
func (c *Connector) Start(ctx context.Context) error {
	account, err := c.Check(ctx)
	if err != nil {
		return err
	}
	c.log.Info("slack app is ready", "workspace", account.Team, "bot", account.User, "mode", c.mode)
	if len(account.Missing) > 0 {
		c.log.Warn("slack scopes are missing; add them on the app's page, then reinstall it", "scopes", account.Missing)
	}
	return nil
}

func missing(header string) []string {
	if header == "" {
		return nil
	}
	var has, lacks []string
	for scope := range strings.SplitSeq(header, ",") {
		has = append(has, strings.TrimSpace(scope))
	}
	for _, scope := range scopes {
		if !slices.Contains(has, scope) {
			lacks = append(lacks, scope)
		}
	}
	return lacks
}

// ownUser asks Slack once who the app's user is.
func (c *Connector) ownUser(ctx context.Context) (string, error) {
	c.mu.Lock()
	self := c.self
	c.mu.Unlock()
	if self != "" {
		return self, nil
	}
	err := c.api.call(ctx, "auth.test", func(ctx context.Context, client *slackgo.Client) error {
		who, err := client.AuthTestContext(ctx)
		if err == nil {
			self = who.UserID
		}
		return err
	})
	if err != nil {
		return "", err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.self = self
	return self, nil
}
