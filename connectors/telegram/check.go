package telegram

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Account is who the token makes us, and how updates come to us.
type Account struct {
	ID       int64
	Username string
	// Privacy mode is on: in groups where it is no administrator, the bot sees commands,
	// mentions and replies to its own messages only (Bot API, getMe).
	Privacy bool
	Hook    Hook
}

// Hook is the webhook as Telegram has it (Bot API, WebhookInfo). What Telegram sends as
// its secret it does not tell; Knock finds out whether the gateway takes ours.
type Hook struct {
	// URL is empty where no webhook is set. It may be another program's, and hold its secret.
	URL string
	// Want is where it should go; empty in polling mode, and without a public URL.
	Want string
	// Pending updates wait to be delivered.
	Pending int
	// LastError of a delivery, and when that was; both zero where there was none.
	LastError string
	LastAt    time.Time
	// Unheard are the kinds of updates that we need and that are not sent.
	Unheard []string
}

// Check asks Telegram who we are and where updates go to. It does not fetch any: that
// would interrupt a worker that polls. Errors are *chat.Error; with one of
// getWebhookInfo the account is known, with one of getMe it is zero.
func (c *Connector) Check(ctx context.Context) (Account, error) {
	var me struct {
		user
		ReadsAll bool `json:"can_read_all_group_messages"`
	}
	if err := c.api.call(ctx, "getMe", nil, &me); err != nil {
		return Account{}, err
	}
	account := Account{ID: me.ID, Username: me.Username, Privacy: !me.ReadsAll}
	if c.mode == Webhook && c.publicURL != "" {
		account.Hook.Want = c.publicURL + WebhookPath
	}
	var info struct {
		URL     string   `json:"url"`
		Pending int      `json:"pending_update_count"`
		Error   string   `json:"last_error_message"`
		ErrorAt int64    `json:"last_error_date"`
		Allowed []string `json:"allowed_updates"`
	}
	if err := c.api.call(ctx, "getWebhookInfo", nil, &info); err != nil {
		return account, err
	}
	account.Hook.URL, account.Hook.Pending = info.URL, info.Pending
	account.Hook.LastError = c.api.scrub.Replace(info.Error)
	if info.ErrorAt > 0 {
		account.Hook.LastAt = time.Unix(info.ErrorAt, 0)
	}
	account.Hook.Unheard = unheard(info.Allowed)
	return account, nil
}

// unheard compares with what we need; where nothing is listed Telegram sends those anyway.
func unheard(allowed []string) (missing []string) {
	var needed []string
	if json.Unmarshal([]byte(allowedUpdates), &needed) != nil || len(allowed) == 0 {
		return nil
	}
	for _, kind := range needed {
		if !slices.Contains(allowed, kind) {
			missing = append(missing, kind)
		}
	}
	return missing
}

// nothing is an update of no kind: whoever has the secret is answered 200, and nothing happens.
const nothing = `{"update_id":0}`

// Knock calls the webhook below an address of the gateway as Telegram would, without
// content, with our secret or without one, and returns the status: 200 and 401 are right
// (CONTRACT §8). Errors are *chat.Error: nobody answered.
func (c *Connector) Knock(ctx context.Context, base string, withSecret bool) (status int, err error) {
	const op = "webhook call"
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimRight(base, "/")+WebhookPath, strings.NewReader(nothing))
	if err != nil {
		return 0, c.api.fail(op, &exchange{}, nil, err)
	}
	request.Header.Set("Content-Type", "application/json")
	if withSecret {
		request.Header.Set(secretHeader, c.secret)
	}
	response, err := c.api.http.Do(request)
	if err != nil {
		return 0, c.api.fail(op, &exchange{}, nil, err)
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, maxUpdate)) // so that the connection can be used again
	return response.StatusCode, nil
}
