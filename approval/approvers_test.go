package approval_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/approval"
	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/tool"
)

func TestMayAnswer(t *testing.T) {
	t.Parallel()
	var (
		ada      = chat.Person{ID: "telegram:1001", Name: "ada"}
		adaSlack = chat.Person{ID: "slack:T01/U01", Name: "ada"}
		bob      = chat.Person{ID: "telegram:1002", Name: "bob"}
		stranger = chat.Person{ID: "telegram:1003", Display: "ada"}
		owner    = chat.Person{ID: "telegram:1", Name: "root", Owner: true}
		bot      = chat.Person{ID: "telegram:9", Name: "ada", Bot: true, Owner: true}
		nobody   = chat.Person{Display: "ada", Owner: true}
	)
	thread := tool.Approvers{}
	requester := tool.Approvers{Who: tool.WhoRequester}
	other := tool.Approvers{Who: tool.WhoOther}
	list := tool.Approvers{Who: tool.WhoList, People: []string{"bob", "ada"}}
	for name, tc := range map[string]struct {
		policy    tool.Approvers
		who       chat.Person
		requester string
		http      bool
		want      approval.Refusal
	}{
		"thread: anyone":                      {policy: thread, who: stranger, requester: "ada"},
		"thread: requester":                   {policy: thread, who: ada, requester: "ada"},
		"thread: requester not known":         {policy: thread, who: stranger},
		"thread: without identity":            {policy: thread, who: nobody, requester: "ada"},
		"thread of two: without identity":     {policy: tool.Approvers{Quorum: 2}, who: nobody, want: approval.RefusedAnonymous},
		"H02 thread: bot":                     {policy: thread, who: bot, want: approval.RefusedBot},
		"H02 bot of an owner over HTTP":       {policy: thread, who: bot, http: true, want: approval.RefusedBot},
		"requester: same":                     {policy: requester, who: ada, requester: "ada"},
		"requester: same on another channel":  {policy: requester, who: adaSlack, requester: "ada"},
		"H01 requester: somebody else":        {policy: requester, who: bob, requester: "ada", want: approval.RefusedNotRequester},
		"requester: same display name":        {policy: requester, who: stranger, requester: "ada", want: approval.RefusedNotRequester},
		"requester: stranger":                 {policy: requester, who: stranger, requester: "telegram:1003"},
		"requester: not known":                {policy: requester, who: ada, want: approval.RefusedNoRequester},
		"requester: neither known":            {policy: requester, who: nobody, want: approval.RefusedAnonymous},
		"other: somebody else":                {policy: other, who: bob, requester: "ada"},
		"other: stranger":                     {policy: other, who: stranger, requester: "ada"},
		"H02 other: requester":                {policy: other, who: ada, requester: "ada", want: approval.RefusedRequester},
		"H02 other: requester, other channel": {policy: other, who: adaSlack, requester: "ada", want: approval.RefusedRequester},
		"other: requester not known":          {policy: other, who: bob, want: approval.RefusedNoRequester},
		"other: without identity":             {policy: other, who: nobody, requester: "ada", want: approval.RefusedAnonymous},
		"list: in it":                         {policy: list, who: ada, requester: "ada"},
		"list: not in it":                     {policy: list, who: owner, want: approval.RefusedNotListed},
		"list: display name":                  {policy: list, who: stranger, want: approval.RefusedNotListed},
		"list: without identity":              {policy: list, who: nobody, want: approval.RefusedAnonymous},
		"H01 list: empty is nobody":           {policy: tool.Approvers{Who: tool.WhoList}, who: ada, want: approval.RefusedNotListed},
		"list: an empty name is nobody":       {policy: tool.Approvers{Who: tool.WhoList, People: []string{""}}, who: nobody, want: approval.RefusedAnonymous},
		"owner over HTTP: list":               {policy: list, who: owner, http: true},
		"owner over HTTP: own call":           {policy: other, who: owner, requester: "root", http: true},
		"owner over HTTP: requester unknown":  {policy: other, who: owner, http: true},
		"owner in a chat: list":               {policy: list, who: owner, want: approval.RefusedNotListed},
		"approver over HTTP: list":            {policy: list, who: stranger, http: true, want: approval.RefusedNotListed},
		"owner without identity":              {policy: list, who: nobody, http: true, want: approval.RefusedAnonymous},
		"unknown policy":                      {policy: tool.Approvers{Who: "everyone"}, who: ada, requester: "ada", want: approval.RefusedPolicy},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ok, refusal := approval.MayAnswer(tc.policy, tc.who, tc.requester, tc.http)
			require.Equal(t, tc.want, refusal)
			require.Equal(t, tc.want == "", ok)
		})
	}
}

func TestTally(t *testing.T) {
	t.Parallel()
	yes, always := chat.Decision{Decision: chat.Allow}, chat.Decision{Decision: chat.AllowAlways}
	two := tool.Approvers{Quorum: 2}

	t.Run("one is enough by default", func(t *testing.T) {
		t.Parallel()
		tally := approval.NewTally(tool.Approvers{})
		require.Equal(t, 1, tally.Missing())
		require.Empty(t, tally.Decision())
		require.True(t, tally.Yes("ada", yes))
		require.Equal(t, chat.Allow, tally.Decision())
	})
	t.Run("different people", func(t *testing.T) {
		t.Parallel()
		tally := approval.NewTally(two)
		require.False(t, tally.Yes("ada", yes))
		require.False(t, tally.Yes("ada", always), "one person on two channels is one")
		require.Equal(t, 1, tally.Missing())
		require.Empty(t, tally.Decision())
		require.True(t, tally.Yes("telegram:1003", yes))
		require.Equal(t, []chat.Decision{{Decision: chat.Allow, By: "ada"}, {Decision: chat.Allow, By: "telegram:1003"}}, tally.Votes())
		require.True(t, tally.Yes("eve", always), "it stays decided")
		require.Len(t, tally.Votes(), 2, "what comes later changes nothing")
		require.Equal(t, chat.Allow, tally.Decision())
	})
	t.Run("without identity", func(t *testing.T) {
		t.Parallel()
		require.True(t, approval.NewTally(tool.Approvers{}).Yes("", yes))
		tally := approval.NewTally(two)
		require.False(t, tally.Yes("", yes))
		require.False(t, tally.Yes("ada", yes))
		require.Equal(t, 1, tally.Missing())
	})
	t.Run("always only if all say so", func(t *testing.T) {
		t.Parallel()
		tally := approval.NewTally(two)
		tally.Yes("ada", yes)
		require.True(t, tally.Yes("bob", always))
		require.Equal(t, chat.Allow, tally.Decision())
		tally = approval.NewTally(two)
		tally.Yes("ada", always)
		require.True(t, tally.Yes("bob", always))
		require.Equal(t, chat.AllowAlways, tally.Decision())
	})
	t.Run("zero values approve nothing", func(t *testing.T) {
		t.Parallel()
		var tally approval.Tally
		require.Equal(t, 1, tally.Missing())
		require.Empty(t, tally.Decision())
		require.False(t, tally.Yes("ada", chat.Decision{}))
		require.False(t, tally.Yes("ada", chat.Decision{Decision: chat.Deny}))
		require.False(t, tally.Yes("ada", chat.Decision{Decision: "yes"}))
		require.Empty(t, tally.Votes())
	})
}

func TestStatusOf(t *testing.T) {
	t.Parallel()
	for code, want := range map[approval.Code]approval.Status{
		approval.InvalidParameters: approval.StatusFailed,
		approval.OutOfScope:        approval.StatusFailed,
		approval.Unavailable:       approval.StatusFailed,
		approval.ToolFailed:        approval.StatusFailed,
		approval.PermissionDenied:  approval.StatusDenied,
		approval.HandoffCancelled:  approval.StatusCancelled,
		approval.HandoffTimeout:    approval.StatusTimedOut,
		approval.OutcomeUnknown:    approval.StatusUnknown,
		"":                         approval.StatusUnknown,
		"SOMETHING_NEW":            approval.StatusUnknown,
	} {
		require.Equal(t, want, approval.StatusOf(code), "%s", code)
		require.True(t, want.Final())
	}
	require.True(t, approval.StatusCompleted.Final())
	for _, s := range []approval.Status{"", approval.StatusRunning, approval.StatusWaiting, "new"} {
		require.False(t, s.Final(), "%s", s)
	}
}
