package slack

import (
	"context"
	"fmt"
	"time"

	slackgo "github.com/slack-go/slack"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/words"
)

// takePress hands over a button press. What became of it is shown in the question, which
// is written from the recorded state; a press that changed nothing is answered in a
// message that only its person sees. Slack's response_url is never used: it works five
// times, for half an hour.
func (c *Connector) takePress(ctx context.Context, p *press, at time.Time) error {
	by, welcome := c.person(p.home, p.team, p.user, isDM(p.channel))
	by.Display = p.display
	switch {
	case !welcome:
		c.log.Info("slack press refused", "person", by.ID, "reason", "of another workspace, or not configured")
		c.whisper(p, by, chat.Text(chat.LinePressRefused))
		return nil
	case p.refused != "":
		c.log.Info("slack press refused", "person", by.ID, "reason", p.refused)
		c.whisper(p, by, chat.Text(chat.LinePressOld))
		return nil
	}
	within, cancel := context.WithTimeout(ctx, c.timing.click)
	defer cancel()
	verdict, err := c.desk.Click(within, chat.Click{
		EventID: p.id, Invocation: p.invocation, Action: p.action, Thread: p.thread, By: by, ReceivedAt: at,
	})
	if err != nil {
		c.whisper(p, by, chat.Text(chat.LinePressAgain))
		return fmt.Errorf("handing over a slack press: %w", err)
	}
	c.whisper(p, by, whisper(verdict))
	return nil
}

// whisper tells the presser something, after the press is acknowledged. Best effort:
// what counts is recorded.
func (c *Connector) whisper(p *press, to chat.Person, line chat.Line) {
	if line.Empty() || !isID(p.channel) {
		return
	}
	text := words.Say(c.languages.Of(to, p.thread, ""), line)
	c.later(func(ctx context.Context) {
		options := []slackgo.MsgOption{slackgo.MsgOptionText(text, true), slackgo.MsgOptionParse(false)}
		if p.root != "" {
			options = append(options, slackgo.MsgOptionTS(p.root))
		}
		err := c.api.call(ctx, "chat.postEphemeral", func(ctx context.Context, client *slackgo.Client) error {
			_, err := client.PostEphemeralContext(ctx, p.channel, p.user, options...)
			return err
		})
		if err != nil {
			c.log.Info("slack press not answered", "error", err)
		}
	})
}
