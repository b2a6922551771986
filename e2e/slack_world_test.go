package e2e_test

import (
	"maps"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/connectors/slack/slacktest"
	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/e2e/harness"
)

// slack is a Slack of our own and the installation that its app is part of.
type slack struct {
	*slacktest.Server
	*harness.World
}

func slackSettings(server *slacktest.Server, more map[string]string) map[string]string {
	settings := map[string]string{
		"LARACLAW_SLACK_BOT_TOKEN": server.BotToken, "LARACLAW_SLACK_SIGNING_SECRET": server.SigningSecret,
		"COUNTERSIGN_SLACK_API_URL": server.URL(), "COUNTERSIGN_PEOPLE": harness.SlackPeople(),
	}
	maps.Copy(settings, more)
	return settings
}

// newSlack starts an installation in events mode.
func newSlack(t *testing.T, setup harness.Setup) *slack {
	t.Helper()
	server := slacktest.New()
	t.Cleanup(server.Close)
	setup.Env = slackSettings(server, setup.Env)
	s := &slack{Server: server, World: harness.New(t, setup)}
	server.Gateway(s.World.URL())
	return s
}

// call is a command of the File Manager on the disk local.
func fileCommand(operation, path string, more ...string) string {
	return "/file_manager " + strings.Join(append([]string{operation, "disk=local", "path=" + path}, more...), " ")
}

// talk is a thread of a channel, or direct messages (then root is empty).
type talk struct {
	*slack
	channel, root, author string
}

// mention begins a thread: a person mentions the app in a channel and asks for something.
func (s *slack) mention(channel, user, text string) talk {
	return talk{slack: s, channel: channel, root: s.Say(channel, user, "<@"+harness.SlackApp+"> "+text), author: user}
}

// write is what the person says to the app in private.
func (s *slack) write(user, text string, options ...slacktest.Option) talk {
	at := talk{slack: s, channel: s.DM(user), author: user}
	s.Say(at.channel, user, text, options...)
	return at
}

// says lets a person write in the talk.
func (k talk) says(user, text string, options ...slacktest.Option) {
	if k.root != "" {
		options = append([]slacktest.Option{slacktest.In(k.root, k.author)}, options...)
	}
	k.Say(k.channel, user, text, options...)
}

// key is the talk's thread key.
func (k talk) key() string {
	if k.root == "" {
		return k.author
	}
	return k.channel + ":" + k.root
}

// await waits for a message of the app in the talk that begins so, new or edited.
func (k talk) await(t *testing.T, text string) slacktest.Message {
	t.Helper()
	m, err := k.Await(bounded(t), k.channel, func(m slacktest.Message) bool {
		return m.Thread == k.root && strings.HasPrefix(m.Shown(), text)
	})
	require.NoError(t, err, "%q in %s: %q", text, k.key(), k.shown())
	return m
}

// shown are the beginnings of what a person reads in the talk.
func (k talk) shown() (texts []string) {
	for _, m := range k.sent() {
		texts = append(texts, m.File+m.Shown()[:min(len(m.Shown()), 200)])
	}
	return texts
}

// sent is what the app has sent to the talk so far.
func (k talk) sent() (sent []slacktest.Message) {
	for _, m := range k.Sent(k.channel) {
		if m.Thread == k.root {
			sent = append(sent, m)
		}
	}
	return sent
}

// question waits for a question that is open, and the message that shows it. The clock runs: the
// platform's word that it has the message has reached the worker.
func (k talk) question(t *testing.T) (contract.Approval, slacktest.Message) {
	t.Helper()
	question := harness.Until(t, "a question in "+k.key(), func() (contract.Approval, bool) {
		for _, a := range k.API.Pending(t) {
			if a.Connector == "slack" && a.ThreadKey == k.key() && a.ExpiresAt != nil {
				return a, true
			}
		}
		return contract.Approval{}, false
	})
	m, err := k.Await(bounded(t), k.channel, func(m slacktest.Message) bool {
		return m.Thread == k.root && len(m.Buttons) > 0 && m.Buttons[0].Value == question.ID
	})
	require.NoError(t, err)
	return question, m
}

// closed waits until the message of a question says what happened, and has no buttons.
func (k talk) closed(t *testing.T, prompt slacktest.Message, outcome string) slacktest.Message {
	t.Helper()
	m := k.await(t, prompt.Shown()+"\n"+outcome)
	require.Equal(t, prompt.TS, m.TS)
	require.Empty(t, m.Buttons)
	require.Contains(t, m.Text, outcome, "where blocks are not shown it is said too")
	return m
}

// presses lets a person press a button.
func (s *slack) presses(t *testing.T, user string, m slacktest.Message, label string, options ...slacktest.Option) {
	t.Helper()
	require.NoError(t, s.Press(user, m, label, options...))
}

// whispered waits until somebody was told something that only they see.
func (s *slack) whispered(t *testing.T, m slacktest.Message, user, text string) {
	t.Helper()
	harness.Until(t, user+" is told: "+text, func() ([]slacktest.Whisper, bool) {
		for _, w := range s.Whispers() {
			if w.Channel == m.Channel && w.Thread == m.Thread && w.User == user && strings.HasPrefix(w.Text, text) {
				return nil, true
			}
		}
		return s.Whispers(), false
	})
}

// taken waits until everything that was sent is acknowledged.
func (s *slack) taken(t *testing.T) {
	t.Helper()
	require.NoError(t, s.AwaitTaken(bounded(t)))
}

// open tells that a question has no answer yet.
func (s *slack) open(t *testing.T, question contract.Approval) {
	t.Helper()
	require.Equal(t, "pending", s.API.Question(t, question.ID).Status)
}

// post sends a payload to the gateway, once, signed; retry is the number that Slack gives a
// repetition, 0 for none.
func (s *slack) post(t *testing.T, kind slacktest.Kind, payload map[string]any, retry int) int {
	t.Helper()
	status, err := s.try(t, kind, payload, retry)
	require.NoError(t, err)
	return status
}

func (s *slack) try(t *testing.T, kind slacktest.Kind, payload map[string]any, retry int) (status int, err error) {
	t.Helper()
	body, contentType := slacktest.Body(kind, payload)
	request, err := s.Request(t.Context(), s.World.URL()+string(kind), contentType, body)
	require.NoError(t, err)
	if retry > 0 {
		request.Header.Set("X-Slack-Retry-Num", strconv.Itoa(retry))
		request.Header.Set("X-Slack-Retry-Reason", "http_timeout")
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	return response.StatusCode, response.Body.Close()
}

// prompts counts the questions in a talk, edited or not.
func (k talk) prompts() (n int) {
	for _, m := range k.sent() {
		if strings.HasPrefix(m.Shown(), "⚠️") {
			n++
		}
	}
	return n
}

// noSecrets checks what the programs have logged.
func (s *slack) noSecrets(t *testing.T) {
	t.Helper()
	for _, secret := range []string{s.BotToken, s.AppToken, s.SigningSecret} {
		require.NotContains(t, s.Engine().Log(), secret)
	}
}
