package contract_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
)

var thread = chat.Thread{Connector: chat.Telegram, Key: "1001"}

func TestSearchAttributes(t *testing.T) {
	t.Parallel()
	in := contract.Invocation{Tool: "file_manager", Operation: "delete", Thread: thread, Attributes: true}
	have := in.SearchAttributes()
	for name, want := range map[string]string{
		"CountersignConnector": "telegram", "CountersignThread": "1001", "CountersignTool": "file_manager",
		"CountersignOperation": "delete", "CountersignStatus": "running",
	} {
		value, ok := have.GetKeyword(temporal.NewSearchAttributeKeyKeyword(name))
		require.True(t, ok, name)
		require.Equal(t, want, value, name)
	}
	require.Equal(t, 5, have.Size())
	require.Equal(t, 2, contract.ThreadAttributes(thread, true).Size())

	in.Attributes = false // F16: not registered
	require.Zero(t, in.SearchAttributes().Size())
	require.Zero(t, contract.ThreadAttributes(thread, false).Size())
}

// A store refuses what is no UTF-8, and with it the workflow.
func TestKeywordsAreCutBetweenRunes(t *testing.T) {
	t.Parallel()
	for _, pad := range []int{0, 1, 2, 3} {
		key := strings.Repeat("a", pad) + strings.Repeat("€", 200)
		attributes := contract.ThreadAttributes(chat.Thread{Connector: "web", Key: key}, true)
		cut, ok := attributes.GetKeyword(temporal.NewSearchAttributeKeyKeyword("CountersignThread"))
		require.True(t, ok)
		require.True(t, utf8.ValidString(cut))
		require.LessOrEqual(t, len(cut), 255)
		require.Greater(t, len(cut), 252)
		require.True(t, strings.HasPrefix(key, cut))
	}
}

func TestCallStandsForItsMessage(t *testing.T) {
	t.Parallel()
	in := contract.Invocation{
		ID: "01J", Tool: "t", Operation: "o", Parameters: []byte(`{"a":1}`), Thread: thread,
		Requester: chat.Person{ID: "telegram:1001", Name: "ada"}, MessageUUID: "0198",
	}
	call := in.Call()
	require.Equal(t, "0198", call.MessageUUID)
	require.Equal(t, "ada", call.Requester)
	require.Equal(t, "telegram/1001", call.Connector+"/"+call.ThreadKey)
	require.JSONEq(t, `{"a":1}`, string(call.Parameters))
	in.MessageUUID, in.Requester = "", chat.Person{ID: "telegram:1"}
	require.Equal(t, "01J", in.Call().MessageUUID, "CONTRACT §6: its own id stands for the uuid")
	require.Equal(t, "telegram:1", in.Call().Requester)
}

func ExampleReplyOf() {
	reply := contract.ReplyOf(chat.Message{
		UUID: "0198", EventID: "update:7", Thread: chat.Thread{Connector: chat.Telegram, Key: "1001"},
		From: chat.Person{Name: "ada"}, Text: "Yes", ReplyTo: "55", ReceivedAt: time.Unix(0, 0),
	})
	fmt.Println(reply.ID, reply.Message, reply.By.Key(), reply.Via, reply.Text, reply.ReplyTo)
	// Output: update:7 0198 ada telegram Yes 55
}

func ExampleConversationID() {
	fmt.Println(contract.ConversationID(chat.Thread{Connector: chat.Slack, Key: "C01:1700000000.000100"}))
	// Output: conversation/slack/C01:1700000000.000100
}
