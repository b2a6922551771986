package e2e_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/e2e/harness"
)

// Who may answer, by operation. What they do is the same: a question in a thread of a channel.
const slackApprovers = `{
	file_manager.copy: {confirm: true, approvers: {who: requester}},
	file_manager.move: {confirm: true, approvers: {who: other}},
	file_manager.write: {confirm: true, approvers: {who: list, people: [bob]}},
	file_manager.append: {confirm: true, approvers: {who: list, people: [ada, bob, carol], quorum: 2}},
	file_manager.mkdir: {confirm: true, approvers: {who: other, quorum: 2}},
}`

// Who may answer: in the thread, by a button, and over HTTP, where a person is the same one.
func TestSlackApprovers(t *testing.T) {
	t.Parallel()
	s := newSlack(t, harness.Setup{Env: map[string]string{"COUNTERSIGN_POLICY": slackApprovers}})
	for name, run := range map[string]func(*testing.T, *slack){
		"H01 the requester only":                     slackRequester,
		"H01 people on a list only":                  slackList,
		"H02 anyone but the requester":               slackOther,
		"H02 who asked by mail is the same in Slack": slackOtherByMail,
		"quorum: one person on two channels is one":  slackQuorum,
		"quorum: over HTTP, then in Slack":           slackQuorumHTTP,
		"quorum: one no ends it":                     slackQuorumNo,
		"quorum with four eyes: never the requester": slackQuorumOther,
		"H01 an answer belongs to its conversation":  slackAnywhere,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, s)
		})
	}
}

const allowed = "✅ Approved by "

// decides is a decision over HTTP with somebody's token; it returns the status.
func (s *slack) decides(t *testing.T, who, id, decision string) int {
	t.Helper()
	return s.As(who).Insist(t, id, harness.Say{Decision: decision, DecisionID: who + decision}).Status
}

func slackRequester(t *testing.T, s *slack) {
	s.Write(t, "copy.txt", "x")
	k := s.mention("C21", harness.SlackBob, fileCommand("copy", "copy.txt", "destination=copied.txt"))
	question, prompt := k.question(t)
	for _, other := range []string{harness.SlackCarol, harness.SlackStranger, harness.SlackAda} {
		s.presses(t, other, prompt, "Yes")
		s.whispered(t, prompt, other, "You may not answer this one")
	}
	// A text of somebody else is a message like any other, and waits for its turn.
	k.says(harness.SlackCarol, "yes")
	s.taken(t)
	require.Equal(t, http.StatusForbidden, s.decides(t, harness.Carol, question.ID, "allow"))
	s.open(t, question)
	require.False(t, s.Exists("copied.txt"))
	s.presses(t, harness.SlackBob, prompt, "Yes")
	k.closed(t, prompt, allowed+"bob at ")
	k.await(t, "✅ Done: file_manager copy")
	k.await(t, "There is no question open here")
	require.True(t, s.Exists("copied.txt"))
}

func slackList(t *testing.T, s *slack) {
	k := s.mention("C22", harness.SlackAda, fileCommand("write", "list.txt", "content=x"))
	question, prompt := k.question(t)
	// An owner decides everything over HTTP, but in a chat only what the policy allows.
	for _, other := range []string{harness.SlackCarol, harness.SlackAda} {
		s.presses(t, other, prompt, "No")
		s.whispered(t, prompt, other, "You may not answer this one")
		k.says(other, "no")
	}
	s.taken(t)
	s.open(t, question)
	k.says(harness.SlackBob, "yes")
	k.closed(t, prompt, allowed+"bob at ")
	k.await(t, "✅ Done: file_manager write")
	require.True(t, s.Exists("list.txt"))
}

func slackOther(t *testing.T, s *slack) {
	s.Write(t, "move.txt", "x")
	k := s.mention("C23", harness.SlackBob, fileCommand("move", "move.txt", "destination=moved.txt"))
	question, prompt := k.question(t)
	s.presses(t, harness.SlackBob, prompt, "Yes")
	s.whispered(t, prompt, harness.SlackBob, "You may not answer this one")
	k.says(harness.SlackBob, "yes")
	s.taken(t)
	require.Equal(t, http.StatusForbidden, s.decides(t, harness.Bob, question.ID, "allow"), "the same person, by another way")
	require.Equal(t, http.StatusForbidden, s.decides(t, harness.Robot, question.ID, "allow"))
	s.open(t, question)
	require.Equal(t, http.StatusOK, s.decides(t, harness.Carol, question.ID, "allow"))
	k.closed(t, prompt, allowed+"carol at ")
	k.await(t, "✅ Done: file_manager move")
	require.Equal(t, "api", s.API.Result(t, question.ID).Approval.Decision.Via)
	require.True(t, s.Exists("moved.txt"))
}

// What bob asked for by mail is put to a channel: he is the requester there too.
func slackOtherByMail(t *testing.T, s *slack) {
	s.Write(t, "mailed.txt", "x")
	k := s.mention("C29", harness.SlackBob, "!help")
	k.await(t, "I understand these words")
	call := harness.File("move", "mailed.txt", "destination", "by-mail.txt").In("slack", k.key())
	call.Requester = "email:bob@example.test"
	id := s.API.Invoke(t, call)
	question, prompt := k.question(t)
	require.Equal(t, id, question.ID)
	s.presses(t, harness.SlackBob, prompt, "Yes")
	s.whispered(t, prompt, harness.SlackBob, "You may not answer this one")
	require.Equal(t, http.StatusForbidden, s.decides(t, harness.Bob, id, "allow"))
	s.open(t, question)
	s.presses(t, harness.SlackCarol, prompt, "Yes")
	k.closed(t, prompt, allowed+"carol at ")
	require.Equal(t, "completed", s.API.Result(t, id).Status)
}

func slackQuorum(t *testing.T, s *slack) {
	k := s.mention("C24", harness.SlackCarol, fileCommand("append", "quorum.txt", "content=x"))
	question, prompt := k.question(t)
	s.presses(t, harness.SlackAda, prompt, "Yes")
	s.whispered(t, prompt, harness.SlackAda, "Recorded; more people have to agree")
	s.presses(t, harness.SlackAda, prompt, "Yes")
	require.Equal(t, http.StatusAccepted, s.decides(t, harness.Ada, question.ID, "allow"), "noted, not decided")
	require.Equal(t, http.StatusAccepted, s.decides(t, harness.Ada, question.ID, "allow_always"), "noted, not decided")
	k.says(harness.SlackAda, "yes")
	s.taken(t)
	pending := s.API.Question(t, question.ID)
	require.Equal(t, "pending", pending.Status)
	require.Len(t, pending.Votes, 1)
	require.Equal(t, [2]string{"ada", "slack"}, [2]string{pending.Votes[0].By, pending.Votes[0].Via})
	require.False(t, s.Exists("quorum.txt"))

	require.Equal(t, http.StatusOK, s.decides(t, harness.Bob, question.ID, "allow"))
	k.closed(t, prompt, allowed+"bob at ")
	k.await(t, "✅ Done: file_manager append")
	require.Len(t, s.API.Result(t, question.ID).Approval.Votes, 2)
	s.presses(t, harness.SlackAda, prompt, "No")
	s.whispered(t, prompt, harness.SlackAda, "Already decided by bob at ")
	require.Equal(t, "x", s.Read(t, "quorum.txt"))
}

func slackQuorumHTTP(t *testing.T, s *slack) {
	k := s.mention("C25", harness.SlackAda, fileCommand("append", "http.txt", "content=x"))
	question, prompt := k.question(t)
	require.Equal(t, http.StatusAccepted, s.decides(t, harness.Carol, question.ID, "allow"))
	s.presses(t, harness.SlackCarol, prompt, "Yes")
	s.whispered(t, prompt, harness.SlackCarol, "Recorded; more people have to agree")
	s.presses(t, harness.SlackStranger, prompt, "Yes")
	s.whispered(t, prompt, harness.SlackStranger, "You may not answer this one")
	s.open(t, question)
	k.says(harness.SlackBob, "yes")
	k.closed(t, prompt, allowed+"bob at ")
	k.await(t, "✅ Done: file_manager append")
	require.Equal(t, "x", s.Read(t, "http.txt"))
}

func slackQuorumNo(t *testing.T, s *slack) {
	k := s.mention("C26", harness.SlackAda, fileCommand("append", "no.txt", "content=x"))
	question, prompt := k.question(t)
	s.presses(t, harness.SlackAda, prompt, "Yes")
	s.whispered(t, prompt, harness.SlackAda, "Recorded; more people have to agree")
	require.Equal(t, http.StatusOK, s.decides(t, harness.Carol, question.ID, "deny"))
	k.closed(t, prompt, "❌ Denied by carol at ")
	k.await(t, "Not run: file_manager append – denied by carol.")
	require.False(t, s.Exists("no.txt"))
}

func slackQuorumOther(t *testing.T, s *slack) {
	k := s.mention("C27", harness.SlackBob, fileCommand("mkdir", "made"))
	question, prompt := k.question(t)
	s.presses(t, harness.SlackBob, prompt, "Yes")
	s.whispered(t, prompt, harness.SlackBob, "You may not answer this one")
	require.Equal(t, http.StatusForbidden, s.decides(t, harness.Bob, question.ID, "allow"))
	s.presses(t, harness.SlackAda, prompt, "Yes")
	s.whispered(t, prompt, harness.SlackAda, "Recorded; more people have to agree")
	require.Equal(t, http.StatusOK, s.decides(t, harness.Carol, question.ID, "allow"))
	k.closed(t, prompt, allowed+"carol at ")
	k.await(t, "✅ Done: file_manager mkdir")
	require.True(t, s.Exists("made"))
}

// An answer belongs to its conversation: in private it counts for nothing that was asked in a
// channel, also that of a person who may answer there.
func slackAnywhere(t *testing.T, s *slack) {
	k := s.mention("C28", harness.SlackCarol, fileCommand("write", "place.txt", "content=x"))
	question, prompt := k.question(t)
	private := s.write(harness.SlackBob, "yes")
	private.await(t, "There is no question open here")
	// The same button, as if it were in another channel.
	elsewhere := prompt
	elsewhere.Channel = "C29"
	s.presses(t, harness.SlackBob, elsewhere, "Yes")
	s.whispered(t, elsewhere, harness.SlackBob, "You may not answer this one")
	s.open(t, question)
	require.Equal(t, http.StatusOK, s.decides(t, harness.Bob, question.ID, "deny"))
	k.closed(t, prompt, "❌ Denied by bob at ")
}
