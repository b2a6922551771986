package dispatch_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/mocks"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/dispatch"
)

const limit = 64 << 10

func message(text string) chat.Message {
	return chat.Message{UUID: "0198", EventID: "7", Thread: thread, From: ada, Text: text, ReceivedAt: start}
}

// noted is what a conversation was signalled.
func noted(c *mocks.Client, err error) *[]contract.Note {
	notes := &[]contract.Note{}
	c.On("SignalWithStartWorkflow", mock.Anything, "conversation/telegram/1001", "note",
		mock.MatchedBy(func(n contract.Note) bool { *notes = append(*notes, n); return true }),
		mock.MatchedBy(func(o client.StartWorkflowOptions) bool { return o.TaskQueue == "countersign" && o.ID == "" }),
		"Conversation", contract.Talk{Thread: thread, Attributes: true},
	).Return(nil, err)
	return notes
}

func TestDeliver(t *testing.T) {
	t.Parallel()
	d, c := newDispatcher(t)
	d.UseAttributes(true)
	notes := noted(c, nil)
	require.NoError(t, d.Deliver(t.Context(), message("yes")))
	require.Equal(t, message("yes"), *(*notes)[0].Message)
}

// DESIGN, mechanism 9: signals stay small; more goes to the disk.
func TestALongTextGoesToTheDisk(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text    string
		raw     string
		spilled bool
		kept    int
	}{
		"at the limit":       {text: strings.Repeat("a", limit), kept: limit},
		"a byte over":        {text: strings.Repeat("a", limit+1), spilled: true, kept: limit},
		"in a rune of 3":     {text: strings.Repeat("€", limit/3+2), spilled: true, kept: limit - 1},
		"in a rune of 4":     {text: "abc" + strings.Repeat("😀", limit/4), spilled: true, kept: limit - 1},
		"the raw text alone": {text: strings.Repeat("a", limit), raw: "@my_bot " + strings.Repeat("a", limit), spilled: true, kept: limit},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spilled := ""
			d, c := newDispatcher(t, func(p *dispatch.Params) {
				p.Spill = func(_ context.Context, uuid, text string) (chat.File, error) {
					require.Equal(t, "0198", uuid)
					spilled = text
					return chat.File{Name: "message.txt", Path: "inbound/0198/message.txt"}, nil
				}
			})
			d.UseAttributes(true)
			notes := noted(c, nil)
			m := message(test.text)
			m.Raw = test.raw
			require.NoError(t, d.Deliver(t.Context(), m))
			sent := (*notes)[0].Message
			require.Len(t, sent.Text, test.kept)
			require.True(t, utf8.ValidString(sent.Text))
			require.True(t, strings.HasPrefix(test.text, sent.Text))
			require.LessOrEqual(t, len(sent.Raw), limit)
			if !test.spilled {
				require.Empty(t, sent.Files)
				return
			}
			require.Equal(t, test.text, spilled, "nothing is lost")
			require.Equal(t, "inbound/0198/message.txt", sent.Files[0].Path)
		})
	}
	d, _ := newDispatcher(t, func(p *dispatch.Params) {
		p.Spill = func(context.Context, string, string) (chat.File, error) {
			return chat.File{}, errors.New("the disk is full")
		}
	})
	err := d.Deliver(t.Context(), message(strings.Repeat("a", limit+1)))
	require.ErrorContains(t, err, "the disk is full", "what could not be kept is not acknowledged")
}

// CONTRACT §8: 503 within 5 s where Temporal cannot be reached.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err  error
		away bool
	}{
		"away":         {errAway, true},
		"too busy":     {serviceerror.NewResourceExhausted(enumspb.RESOURCE_EXHAUSTED_CAUSE_RPS_LIMIT, "busy"), true},
		"too slow":     {serviceerror.NewDeadlineExceeded("slow"), true},
		"cancelled":    {serviceerror.NewCanceled("gone"), true},
		"our patience": {fmt.Errorf("signal: %w", context.DeadlineExceeded), true},
		"refused":      {serviceerror.NewInvalidArgument("too large"), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, c := newDispatcher(t)
			d.UseAttributes(true)
			noted(c, test.err)
			c.On("ExecuteWorkflow", mock.Anything, mock.Anything, mock.Anything, mock.Anything).Return(nil, test.err)
			err := d.Deliver(t.Context(), message("yes"))
			require.Equal(t, test.away, errors.Is(err, chat.ErrUnreachable), err)
			require.ErrorContains(t, err, test.err.Error(), "the cause is kept")
			_, err = d.Start(t.Context(), contract.Invocation{ID: "01J"})
			require.Equal(t, test.away, errors.Is(err, chat.ErrUnreachable), err)
		})
	}
}

func TestTheWaitIsBounded(t *testing.T) {
	t.Parallel()
	d, c := newDispatcher(t)
	var left time.Duration
	c.On("SignalWithStartWorkflow", mock.Anything, mock.Anything, mock.Anything, mock.Anything, mock.Anything, mock.Anything, mock.Anything).
		Run(func(args mock.Arguments) {
			deadline, ok := args.Get(0).(context.Context).Deadline()
			require.True(t, ok)
			left = time.Until(deadline)
		}).Return(nil, nil)
	require.NoError(t, d.Deliver(t.Context(), message("yes")))
	require.Less(t, left, 5*time.Second)
	require.Greater(t, left, 3*time.Second)
}

func TestStart(t *testing.T) {
	t.Parallel()
	in := contract.Invocation{ID: "01J", Tool: "file_manager", Operation: "delete", Thread: thread, Requester: ada}
	for name, err := range map[string]error{
		"new":           nil,
		"started again": serviceerror.NewWorkflowExecutionAlreadyStarted("there is one", "", "run"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, c := newDispatcher(t)
			d.UseAttributes(true)
			wanted := in
			wanted.Attributes = true
			c.On("ExecuteWorkflow", mock.Anything, mock.MatchedBy(func(o client.StartWorkflowOptions) bool {
				return o.ID == "invocation/01J" && o.TaskQueue == "countersign" && o.TypedSearchAttributes.Size() == 5 &&
					o.WorkflowIDReusePolicy == enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE &&
					o.WorkflowIDConflictPolicy == enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING &&
					o.StaticSummary == "file_manager delete for ada"
			}), "ToolInvocation", wanted).Return(nil, err)
			id, err := d.Start(t.Context(), in)
			require.NoError(t, err, "the same id twice returns the first one")
			require.Equal(t, "01J", id)
		})
	}
}

func TestSignals(t *testing.T) {
	t.Parallel()
	d, c := newDispatcher(t)
	word, reply := contract.Word{Kind: contract.WordGo}, contract.Reply{ID: "7"}
	c.On("SignalWorkflow", mock.Anything, "invocation/01J", "", "word", word).Return(nil)
	c.On("SignalWorkflow", mock.Anything, "invocation/01J", "", "reply", reply).Return(nil)
	c.On("SignalWorkflow", mock.Anything, "invocation/gone", "", mock.Anything, mock.Anything).Return(errGone)
	c.On("SignalWorkflow", mock.Anything, "invocation/away", "", mock.Anything, mock.Anything).Return(errAway)
	require.NoError(t, d.Word(t.Context(), "invocation/01J", word))
	require.NoError(t, d.Reply(t.Context(), "01J", reply))
	require.ErrorIs(t, d.Reply(t.Context(), "gone", reply), contract.ErrGone)
	require.ErrorIs(t, d.Word(t.Context(), "invocation/gone", word), contract.ErrGone)
	require.ErrorIs(t, d.Reply(t.Context(), "away", reply), errAway, "Temporal tries the activity again")

	pending := contract.Pending{Invocation: "01J"}
	c.On("SignalWithStartWorkflow", mock.Anything, "inbox", "asked", pending, mock.Anything, "Inbox", contract.Box{}).Return(nil, nil)
	c.On("SignalWithStartWorkflow", mock.Anything, "inbox", "ended", "01J", mock.Anything, "Inbox", contract.Box{}).Return(nil, nil)
	require.NoError(t, d.Asked(t.Context(), pending))
	require.NoError(t, d.Ended(t.Context(), "01J"))

	c.On("RecordActivityHeartbeat", mock.Anything, []byte("token"), contract.Phase{Begun: true}).Return(errAway)
	require.ErrorIs(t, d.Heartbeat(t.Context(), []byte("token"), contract.Phase{Begun: true}), errAway)

	c.On("ExecuteWorkflow", mock.Anything, mock.MatchedBy(func(o client.StartWorkflowOptions) bool {
		return o.ID == "listener/telegram" && o.WorkflowIDConflictPolicy == enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING
	}), "Listener", contract.Listen{Connector: "telegram"}).Return(nil, nil)
	require.NoError(t, d.Listen(t.Context(), "telegram"))
}

func TestAliveAndKnown(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		status       enumspb.WorkflowExecutionStatus
		err          error
		alive, known bool
	}{
		"running":    {status: enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, alive: true, known: true},
		"completed":  {status: enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED, known: true},
		"terminated": {status: enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED, known: true},
		"unknown":    {err: errGone},
		"away":       {err: errAway},
	} {
		d, c := newDispatcher(t)
		if test.err == nil {
			described(c, "01J", test.status)
		} else {
			c.On("DescribeWorkflow", mock.Anything, "invocation/01J", "").Return(nil, test.err)
		}
		alive, err := d.Alive(t.Context(), "invocation/01J")
		known, knownErr := d.Known(t.Context(), "01J")
		if test.err != nil && !errors.Is(test.err, errGone) {
			require.ErrorIs(t, err, test.err, name)
			require.ErrorIs(t, knownErr, test.err, name)
			continue
		}
		require.NoError(t, err, name)
		require.NoError(t, knownErr, name)
		require.Equal(t, test.alive, alive, name)
		require.Equal(t, test.known, known, name)
	}
}
