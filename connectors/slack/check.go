package slack

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	slackgo "github.com/slack-go/slack"
)

// scopes of the bot token, as docs/connectors/slack-manifest.yaml lists them.
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
	// Untold tells that Slack listed no scopes at all.
	Untold bool
	// ReadsUsers tells whether the token may ask for a Member.
	ReadsUsers bool
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
		granted := granted(who.Header.Get("X-OAuth-Scopes"))
		account.Missing = missing(granted)
		account.Untold, account.ReadsUsers = granted == nil, slices.Contains(granted, "users:read")
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

// granted are the scopes that Slack lists; nil where it lists none.
func granted(header string) (scopes []string) {
	for scope := range strings.SplitSeq(header, ",") {
		if scope = strings.TrimSpace(scope); scope != "" {
			scopes = append(scopes, scope)
		}
	}
	return scopes
}

func missing(granted []string) (lacks []string) {
	if granted == nil {
		return nil
	}
	for _, scope := range scopes {
		if !slices.Contains(granted, scope) {
			lacks = append(lacks, scope)
		}
	}
	return lacks
}

// Member is what the workspace says about a user.
type Member struct {
	Name string
	// Bot tells that it is an app, which never counts as an approver.
	Bot bool
	// Gone tells that the account was deactivated.
	Gone bool
}

// Member looks a user up; the bot token needs users:read for that (Account.ReadsUsers).
// known is false where the workspace has no such user. Errors are *chat.Error.
func (c *Connector) Member(ctx context.Context, user string) (member Member, known bool, err error) {
	err = c.api.call(ctx, "users.info", func(ctx context.Context, client *slackgo.Client) error {
		found, err := client.GetUserInfoContext(ctx, user)
		if err == nil {
			member = Member{Name: found.Name, Bot: found.IsBot, Gone: found.Deleted}
		}
		return err
	})
	if f := asFailure(err); f != nil && (f.code == "user_not_found" || f.code == "user_not_visible") {
		return Member{}, false, nil
	}
	return member, err == nil, err
}

// Knock calls the events address below an address of the gateway as Slack does when it
// checks one (url_verification), signed or not, and returns the status: 200 and 403 are
// right (CONTRACT §8); echoed tells whether the challenge came back. Errors are
// *chat.Error: nobody answered.
func (c *Connector) Knock(ctx context.Context, base string, signed bool) (status int, echoed bool, err error) {
	const op, challenge = "events call", "countersign-doctor"
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	body := `{"type":"url_verification","token":"","challenge":"` + challenge + `"}`
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimRight(base, "/")+EventsPath, strings.NewReader(body))
	if err != nil {
		return 0, false, c.api.fail(op, &exchange{}, err)
	}
	request.Header.Set("Content-Type", "application/json")
	if signed {
		timestamp := strconv.FormatInt(time.Now().Unix(), 10)
		mac := hmac.New(sha256.New, []byte(c.secret))
		_, _ = mac.Write([]byte("v0:" + timestamp + ":" + body)) // a hash takes everything
		request.Header.Set("X-Slack-Request-Timestamp", timestamp)
		request.Header.Set("X-Slack-Signature", "v0="+hex.EncodeToString(mac.Sum(nil)))
	}
	response, err := c.api.http.Do(request)
	if err != nil {
		return 0, false, c.api.fail(op, &exchange{}, err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxBody))
	if err != nil {
		return response.StatusCode, false, c.api.fail(op, &exchange{}, err)
	}
	return response.StatusCode, strings.TrimSpace(string(answer)) == challenge, nil
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
