package activities

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/countersignhq/countersign/approval"
	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/words"
)

// shownName is how many characters of somebody's name a list shows.
const shownName = 60

// sinceForm shows a moment; all of them are UTC.
const sinceForm = "2006-01-02 15:04 UTC"

// command does what a command says, apart from `!new`, and returns the answer.
func (a *Activities) command(ctx context.Context, in contract.Turn, command chat.Command) (string, error) {
	language, m := a.spoken(in), in.Message
	say := func(line chat.Line) string { return words.Say(language, line) }
	switch command {
	case chat.CommandGrants:
		return a.listGrants(ctx, m.Thread, say)
	case chat.CommandRevoke:
		return a.revoke(ctx, in, say)
	case chat.CommandLanguage:
		if _, chosen := chat.ReadCommand(m.Text); chosen != "" {
			// In the language that was chosen, also where the person's own is another.
			return words.Say(chosen, chat.Text(chat.LineLanguageSet)), nil
		}
		return say(chat.Text(chat.LineLanguageChoices, "languages", choices())), nil
	default:
		return say(chat.Text(chat.LineHelp, "languages", choices())), nil
	}
}

// choices are the languages as they are written behind `!language`.
func choices() string { return strings.ToLower(strings.Join(words.Languages(), ", ")) }

// listGrants lists the standing answers of a conversation: who, what, since when.
func (a *Activities) listGrants(ctx context.Context, thread chat.Thread, say func(chat.Line) string) (string, error) {
	grants, err := a.Signals.Standing(ctx, thread)
	if err != nil {
		return "", fmt.Errorf("read the grants: %w", err)
	}
	if len(grants) == 0 {
		return say(chat.Text(chat.LineGrantsNone)), nil
	}
	lines := []string{say(chat.Text(chat.LineGrantsHead))}
	for _, g := range grants {
		id, args := chat.LineGrant, []string{
			"operation", approval.EscapeShort(g.Tool+" "+g.Operation, 2*shownName),
			"by", approval.EscapeShort(g.By, shownName), "since", g.Since.UTC().Format(sinceForm),
		}
		if g.For != "" {
			id, args = chat.LineGrantFor, append(args, "for", approval.EscapeShort(g.For, shownName))
		}
		lines = append(lines, say(chat.Text(id, args...)))
	}
	return strings.Join(append(lines, say(chat.Text(chat.LineGrantsEnd))), "\n"), nil
}

// revoke ends every standing answer of a conversation. The conversation has heard of it before the
// turn ends, so the next message finds them gone.
func (a *Activities) revoke(ctx context.Context, in contract.Turn, say func(chat.Line) string) (string, error) {
	m := in.Message
	grants, err := a.Signals.Standing(ctx, m.Thread)
	if err != nil {
		return "", fmt.Errorf("read the grants: %w", err)
	}
	if len(grants) == 0 {
		return say(chat.Text(chat.LineGrantsNone)), nil
	}
	for _, g := range grants {
		if err := a.recordRevoke(ctx, m, g); err != nil {
			return "", err
		}
		note := contract.Note{Revoke: &contract.Revoke{Grant: g.ID, By: m.From.Key()}}
		if err := a.Signals.Note(ctx, m.Thread, in.Attributes, note); err != nil {
			return "", fmt.Errorf("revoke a grant: %w", err)
		}
	}
	return say(chat.Text(chat.LineRevoked, "count", strconv.Itoa(len(grants)))), nil
}

// recordRevoke keeps who ended a grant, before it ends.
func (a *Activities) recordRevoke(ctx context.Context, m chat.Message, g contract.Grant) error {
	if a.Audit == nil {
		return nil
	}
	listed := contract.ListedGrant{Grant: g, Thread: m.Thread}
	entry := Revoked(a.Now(), listed, m.From.Key(), m.Thread.Connector, m.ReceivedAt)
	if err := a.Audit.Record(ctx, entry); err != nil {
		return fmt.Errorf("write the audit log: %w", err)
	}
	return nil
}
