package workflows_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"github.com/countersignhq/countersign/approval"
	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/tool"
)

var (
	carol   = chat.Person{ID: "email:carol@example.test", Name: "carol"}
	byMail  = chat.Thread{Connector: chat.Email, Key: "carol@example.test"}
	inSlack = chat.Thread{Connector: chat.Slack, Key: "U02"}
)

// newCopies is a question that bob is asked in Slack too, and carol by mail.
func newCopies(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.plan.Approvers = tool.Approvers{Who: tool.WhoList, People: []string{"bob", "carol"}, Quorum: 1}
	w.plan.Copies = []contract.Copy{
		{Thread: inSlack, Prompt: "⚠️ Delete it? For ada."},
		{Thread: byMail, Prompt: "⚠️ Es löschen? Für ada.", Language: "de"},
	}
	return w
}

// answers is a text that somebody writes in a conversation, received now; ref is what it points at.
func (w *world) answers(who chat.Person, at chat.Thread, ref, text string) func() {
	return func() {
		r := w.reply(who, text, w.Now())
		r.Via, r.Thread, r.ReplyTo = at.Connector, at, ref
		w.SignalWorkflow(contract.SignalReply, r)
	}
}

// presses is a button under a copy.
func (w *world) presses(who chat.Person, at chat.Thread, decision string, got *verdict) func() {
	return func() {
		w.update(contract.Answer{
			ID: who.ID + decision + at.String(), Decision: decision, By: who, Via: at.Connector, Thread: at, ReceivedAt: w.Now(),
		}, got)
	}
}

// toldOf are the notes that a conversation got.
func (w *world) toldOf(at chat.Thread) (got []contract.Note) {
	for n, to := range w.noted {
		if to == at {
			got = append(got, w.notes[n])
		}
	}
	return got
}

// copyIn is the copy that was sent to a conversation.
func (w *world) copyIn(at chat.Thread) contract.CopyInput {
	n := slices.IndexFunc(w.copies, func(c contract.CopyInput) bool { return c.Card.Thread == at })
	require.GreaterOrEqual(w.t, n, 0, "no copy in %s", at)
	return w.copies[n]
}

func TestACopyIsAnsweredByItsButtons(t *testing.T) {
	t.Parallel()
	w := newCopies(t)
	var elsewhere, stranger, got verdict
	w.after(time.Second, w.presses(bob, chat.Thread{Connector: chat.Slack, Key: "U03"}, chat.Allow, &elsewhere))
	w.after(2*time.Second, w.presses(ada, inSlack, chat.Allow, &stranger))
	w.after(3*time.Second, w.presses(bob, inSlack, chat.Allow, &got))
	result := w.invocation()
	require.Equal(t, "completed", result.Status, "%+v", result)
	require.Equal(t, chat.StandingRefused, elsewhere.Standing, "the question is not in that chat")
	require.Equal(t, chat.StandingRefused, stranger.Standing)
	require.Equal(t, chat.StandingTaken, got.Standing)
	require.Equal(t, [2]string{"bob", "slack"}, [2]string{result.Approval.Decision.By, result.Approval.Decision.Via})
	require.Equal(t, []chat.Thread{inSlack, byMail}, result.Approval.Copies)

	require.Len(t, w.copies, 2)
	for n, at := range []chat.Thread{inSlack, byMail} {
		card := w.copyIn(at).Card
		require.Equal(t, w.plan.Copies[n].Prompt, card.Text)
		require.Equal(t, []chat.Button{{Action: chat.ActionYes}, {Action: chat.ActionNo}}, card.Buttons, "always belongs to the call's conversation")
		require.False(t, card.Expires.IsZero())
		notes := w.toldOf(at)
		require.Len(t, notes, 2)
		require.Equal(t, "copy-"+at.Key, notes[0].Copied.Ref)
		require.Equal(t, "01J", notes[0].Copied.Open.Invocation)
		require.Equal(t, "copy-"+at.Key, notes[1].Close.Ref)
	}
	require.Len(t, w.edits, 2, "every copy says what happened")
	for _, e := range w.edits {
		require.Empty(t, e.Card.Buttons)
		require.Equal(t, chat.LineApproved, e.Outcome.ID)
		require.Equal(t, "copy-"+e.Card.Thread.Key, e.Receipt.Ref)
	}
	require.Equal(t, 1, w.runs)
}

func TestACopyIsAnsweredByWhatPointsAtIt(t *testing.T) {
	t.Parallel()
	w := newCopies(t)
	// None of these points at the copy that is in its conversation.
	w.after(time.Second, w.answers(carol, byMail, "", "yes"))
	w.after(2*time.Second, w.answers(carol, byMail, "7", "yes "))
	w.after(3*time.Second, w.answers(carol, byMail, "copy-U02", "Yes"))
	// Nor may this one answer, wherever it points.
	w.after(4*time.Second, w.answers(ada, byMail, "copy-"+byMail.Key, "yes  "))
	w.after(5*time.Second, w.answers(carol, byMail, "copy-"+byMail.Key, "YES"))
	result := w.invocation()
	require.Equal(t, "completed", result.Status, "%+v", result)
	require.Equal(t, [2]string{"carol", "email"}, [2]string{result.Approval.Decision.By, result.Approval.Decision.Via})
	var returned []string
	for _, n := range w.toldOf(byMail) {
		if n.Returned != nil {
			returned = append(returned, n.Returned.Messages...)
		}
	}
	require.Equal(t, []string{"uuid-yes", "uuid-yes ", "uuid-Yes", "uuid-yes  "}, returned, "back to where they were written")
	require.Empty(t, w.toldOf(thread), "the close goes with the run")
	last := w.toldOf(byMail)
	require.Equal(t, []string{"uuid-YES"}, last[len(last)-1].Close.Consumed)
}

func TestANoAtACopy(t *testing.T) {
	t.Parallel()
	w := newCopies(t)
	w.after(time.Second, w.answers(carol, byMail, "copy-"+byMail.Key, "Not before Monday."))
	result := w.invocation()
	require.Equal(t, [2]string{string(approval.PermissionDenied), "denied"}, [2]string{result.Code, result.Reason})
	require.Equal(t, "Not before Monday.", result.Approval.Decision.Reason)
	require.Zero(t, w.runs)
}

// A quorum over three conversations; who agreed in words is told where they wrote, in its language.
func TestAQuorumOverCopies(t *testing.T) {
	t.Parallel()
	w := newCopies(t)
	w.plan.Approvers = tool.Approvers{Who: tool.WhoOther, Quorum: 2}
	var first, again verdict
	w.after(time.Second, w.answers(carol, byMail, "copy-"+byMail.Key, "yes"))
	w.after(2*time.Second, w.presses(chat.Person{ID: "slack:T01/U09", Name: "carol"}, inSlack, chat.Allow, &again))
	w.after(3*time.Second, w.presses(ada, inSlack, chat.Allow, &first))
	w.after(4*time.Second, func() {
		r := w.reply(bob, "yes", w.Now())
		r.Thread = thread
		w.SignalWorkflow(contract.SignalReply, r)
	})
	result := w.invocation()
	require.Equal(t, "completed", result.Status, "%+v", result)
	require.Equal(t, chat.StandingNoted, again.Standing, "one person on two channels is one")
	require.Equal(t, chat.StandingRefused, first.Standing, "ada asked for it")
	require.Len(t, result.Approval.Votes, 2)
	require.Len(t, w.tells, 1)
	require.Equal(t, byMail, w.tells[0].Thread)
	require.Equal(t, "de", w.tells[0].Language)
}

// A message to a channel begins a thread of its own: there it is answered.
func TestACopyInAThreadOfItsOwn(t *testing.T) {
	t.Parallel()
	w := newCopies(t)
	began := chat.Thread{Connector: chat.Slack, Key: "C09:1700000000.000100"}
	w.plan.Copies[0].Thread.Key = "C09"
	w.places = map[chat.Thread]chat.Thread{{Connector: chat.Slack, Key: "C09"}: began}
	var channel, got verdict
	w.after(time.Second, w.presses(bob, chat.Thread{Connector: chat.Slack, Key: "C09"}, chat.Allow, &channel))
	w.after(2*time.Second, w.answers(bob, began, "copy-C09", "no"))
	w.after(3*time.Second, w.presses(bob, began, chat.Allow, &got))
	result := w.invocation()
	require.Equal(t, "denied", result.Reason, "%+v", result)
	require.Equal(t, chat.StandingRefused, channel.Standing)
	require.Contains(t, result.Approval.Copies, began)
	require.Len(t, w.toldOf(began), 2)
}

// A copy that cannot be sent takes nothing from the question.
func TestACopyThatCannotBeSent(t *testing.T) {
	t.Parallel()
	w := newCopies(t)
	w.copy = func(in contract.CopyInput) error {
		if in.Card.Thread == inSlack {
			return temporal.NewNonRetryableApplicationError("channel_not_found", contract.ErrorFinal, nil)
		}
		return nil
	}
	var got verdict
	w.after(time.Minute, w.presses(carol, byMail, chat.Deny, &got))
	result := w.invocation()
	require.Equal(t, "denied", result.Reason)
	require.Equal(t, chat.StandingTaken, got.Standing)
	require.Equal(t, []chat.Thread{byMail}, result.Approval.Copies)
	require.Len(t, w.edits, 1)
	require.Empty(t, w.toldOf(inSlack))
}

// A platform that is away is asked again while the question is open, and for a moment longer: what
// was on its way then is taken back. The result waits for no more than that.
func TestACopyThatComesLate(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		away  time.Duration
		edits int
	}{"after the answer": {12 * time.Second, 2}, "never": {time.Hour, 1}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newCopies(t)
			began := w.Now()
			w.copy = func(in contract.CopyInput) error {
				if in.Card.Thread == inSlack && w.Now().Before(began.Add(tt.away)) {
					return errors.New("away")
				}
				return nil
			}
			w.after(10*time.Second, w.answers(carol, byMail, "copy-"+byMail.Key, "yes"))
			result := w.invocation()
			require.Equal(t, "completed", result.Status, "%+v", result)
			require.Len(t, w.edits, tt.edits)
			require.Less(t, w.Now().Sub(began), 40*time.Second)
			for _, n := range w.toldOf(inSlack) {
				require.Nil(t, n.Copied, "nobody may answer it any more")
			}
		})
	}
}

// At the deadline every conversation is heard that may hold an answer.
func TestTheDeadlineHearsTheCopies(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		before time.Duration
		want   string
	}{"in time": {time.Second, "completed"}, "late": {0, "denied"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newCopies(t)
			r := w.reply(carol, "yes", w.Now().Add(w.plan.Timeout-tt.before).Add(time.Millisecond))
			r.Thread, r.ReplyTo = byMail, "copy-"+byMail.Key
			w.held = []contract.Reply{r}
			result := w.invocation()
			require.Equal(t, tt.want, result.Status, "%+v", result)
			closings := 0
			for _, n := range w.notes {
				if n.Closing != nil {
					closings++
				}
			}
			require.Equal(t, 3, closings)
			require.Len(t, w.edits, 2)
		})
	}
}

// A question that is withdrawn is withdrawn everywhere.
func TestCopiesOfACancelledCall(t *testing.T) {
	t.Parallel()
	w := newCopies(t)
	w.after(time.Second, w.CancelWorkflow)
	result := w.invocation()
	require.Equal(t, "withdrawn", result.Reason)
	require.Len(t, w.edits, 2)
	for _, e := range w.edits {
		require.Equal(t, chat.LineWithdrawn, e.Outcome.ID)
	}
}

// A handoff may be done by whoever is told of it.
func TestCopiesOfAHandoff(t *testing.T) {
	t.Parallel()
	w := newCopies(t)
	w.plan.Mode, w.plan.OfferAlways = string(approval.ByHandoff), false
	w.plan.Handoff = &contract.Handoff{Reason: "Publish it", Steps: []tool.Step{{Text: "Press Publish."}}, Timeout: 5 * time.Minute}
	w.after(time.Second, w.answers(carol, byMail, "copy-"+byMail.Key, "what is this?"))
	w.after(2*time.Second, w.answers(carol, byMail, "copy-"+byMail.Key, "Done"))
	result := w.invocation()
	require.Equal(t, "completed", result.Status, "%+v", result)
	require.Equal(t, "carol", result.Handoff.AssertedBy)
	require.Equal(t, []chat.Button{{Action: chat.ActionDone}, {Action: chat.ActionCancel}}, w.copyIn(inSlack).Card.Buttons)
	require.Len(t, w.edits, 2)
}

// In the conversation of a copy only what points at it is an answer; everything else goes its way.
func TestAConversationWithACopy(t *testing.T) {
	t.Parallel()
	w := newTalkWorld(t)
	points := func(ref string) func(*chat.Message) { return func(m *chat.Message) { m.ReplyTo = ref } }
	list := tool.Approvers{Who: tool.WhoList, People: []string{"ada"}, Quorum: 1}
	w.note(1, contract.Note{Copied: &contract.Copied{Open: contract.Open{Invocation: "C", Approvers: list}, Ref: "9"}})
	w.message(2*time.Second, ada, "yes")
	w.message(3*time.Second, bob, "yes, it is bob", points("9"))
	w.message(4*time.Second, ada, "!help", points("9"))
	w.note(5*time.Second, open("A"))
	w.message(6*time.Second, ada, "Yes")
	w.message(7*time.Second, ada, "YES", points("9"))
	w.message(8*time.Second, ada, "no", points("9"))
	w.note(9*time.Second, contract.Note{Close: &contract.Close{Invocation: "C", Ref: "9", Consumed: []string{"u-YES"}}})
	w.message(10*time.Second, ada, "yes!", points("9"))
	talk := w.run(contract.Talk{})
	require.Equal(t, []string{"A Yes", "C YES", "C no"}, w.forwarded)
	require.Equal(t, []string{"yes", "yes, it is bob", "!help", "no", "yes!"}, w.turns)
	require.Empty(t, talk.Copies)
	require.Equal(t, "A", talk.Pending.Invocation, "the one that was asked here is as it was")
}

// A copy that comes back takes nothing from the question, which is open elsewhere.
func TestACopyThatBounces(t *testing.T) {
	t.Parallel()
	w := newTalkWorld(t)
	w.note(1, contract.Note{Copied: &contract.Copied{Open: contract.Open{Invocation: "C"}, Ref: "9"}})
	w.note(2*time.Second, contract.Note{Bounced: &contract.Bounced{EventID: "b", Ref: "9", Reason: "550 no such user"}})
	w.message(3*time.Second, ada, "yes", func(m *chat.Message) { m.ReplyTo = "9" })
	talk := w.run(contract.Talk{})
	require.Empty(t, w.words, "nobody is told that it is undeliverable")
	require.Empty(t, w.forwarded)
	require.Empty(t, talk.Copies)
	require.Equal(t, []string{"yes"}, w.turns)
}
