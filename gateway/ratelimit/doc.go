// Package ratelimit counts messages per sender in bounded memory
// (LARACLAW_WEBHOOK_RATE_LIMIT, CONTRACT §8): per Telegram chat, per Slack
// channel and user, per API token.
package ratelimit
