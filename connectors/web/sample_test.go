package web

import (
	"regexp"
	"strings"
	"time"

	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/contract"
	"github.com/countersignhq/countersign/tool"
)

// everything is a call in each state that a page can show.
func everything(thread chat.Thread) []contract.State {
	at := time.Unix(0, 0)
	far := chat.Thread{Connector: chat.Telegram, Key: "7"}
	question := func(id, status string, change func(*contract.State)) contract.State {
		state := asked(id, far)
		state.Approval.Prompt, state.Approval.Status, state.Requester = "⚠️ 0?", status, "carol"
		if status != "pending" {
			state.Status = "completed"
		}
		if change != nil {
			change(&state)
		}
		return state
	}
	step := func(id string, h contract.HandoffState) contract.State {
		h.Reason, h.Steps = "👉 0", []tool.Step{{Text: "1", Highlight: "verification_code"}}
		status := "completed"
		if h.Status == "pending" {
			status = "waiting"
		}
		return contract.State{Result: contract.Result{ID: id, Status: status, Handoff: &h}, Tool: "workspace", Operation: "publish_changes", Thread: thread, Requester: "carol"}
	}
	decided := func(decision string) func(*contract.State) {
		return func(s *contract.State) {
			s.Approval.AskedAt = &at
			s.Approval.Decision = &chat.Decision{Decision: decision, By: "dan", Via: chat.Telegram, At: at.Add(2 * time.Second), Reason: "0"}
		}
	}
	return []contract.State{
		question("1", "pending", func(s *contract.State) {
			s.Approval.Approvers = tool.Approvers{Who: tool.WhoOther, Quorum: 3}
			s.Approval.Votes = []chat.Decision{{By: "dan"}, {By: "erin"}}
			s.Approval.Parameters = []byte(`{"0":"","1":null,"2":"` + strings.Repeat(`0\n`, 40) + `","3":"` + strings.Repeat("0", 300) + `"}`)
		}),
		question("2", "pending", func(s *contract.State) { s.Approval.Approvers = tool.Approvers{Who: tool.WhoThread, Quorum: 2} }),
		question("3", "approved", decided(chat.Allow)), question("4", "approved", decided(chat.AllowAlways)), question("5", "denied", decided(chat.Deny)),
		question("6", "timeout", func(s *contract.State) { s.Approval.Approvers = tool.Approvers{Who: tool.WhoRequester} }),
		question("7", "superseded", func(s *contract.State) { s.Approval.Approvers = tool.Approvers{Who: tool.WhoList} }),
		question("8", "undeliverable", nil), question("9", "withdrawn", nil), question("10", "granted", nil), question("11", "approved", nil), question("12", "denied", nil),
		step("20", contract.HandoffState{Status: "pending", Missing: "0"}), step("21", contract.HandoffState{Status: "completed", Already: true}),
		step("22", contract.HandoffState{Status: "completed", Verified: true, DecidedBy: "dan", Via: chat.Web}), step("23", contract.HandoffState{Status: "completed"}),
		step("24", contract.HandoffState{Status: "timed_out"}), step("25", contract.HandoffState{Status: "cancelled"}),
		{Result: contract.Result{ID: "30", Status: "completed", Output: []byte(`{"0":1}`)}, Tool: "file_manager", Operation: "list", Thread: far},
		{Result: contract.Result{ID: "31", Status: "waiting"}, Tool: "file_manager", Operation: "list", Thread: thread},
	}
}

func grantsOf(thread chat.Thread) (list []contract.ListedGrant) {
	for id, g := range map[string]contract.ListedGrant{
		"g1": {Grant: contract.Grant{For: "carol"}, Thread: thread}, "g2": {Grant: contract.Grant{For: "carol"}, Thread: chat.Thread{Connector: chat.Telegram, Key: "7"}},
		"g3": {Thread: thread}, "g4": {Thread: chat.Thread{Connector: chat.Telegram, Key: "7"}},
	} {
		g.ID, g.Tool, g.Operation, g.By, g.Since = id, "file_manager", "append", "dan", time.Unix(0, 0)
		list = append(list, g)
	}
	return list
}

// verdicts are all that a person can be told about an answer.
func verdicts() map[string]chat.Verdict {
	decided := func(standing chat.Standing, decision string) chat.Verdict {
		return chat.Verdict{Standing: standing, Decision: &chat.Decision{Decision: decision, By: "dan", At: time.Unix(0, 0)}}
	}
	list := map[string]chat.Verdict{
		"yes": decided(chat.StandingTaken, chat.Allow), "no": decided(chat.StandingTaken, chat.Deny),
		"done": decided(chat.StandingTaken, "done"), "cancel": decided(chat.StandingTaken, "cancel"),
		"too late": decided(chat.StandingDecided, chat.Allow), "missing": {Standing: chat.StandingNoted, Reason: "0"},
		"unchecked": {Standing: chat.StandingNoted, Reason: "it could not be checked just now: 0", Why: chat.Text(chat.LineStepUnchecked, "cause", "0")},
	}
	for _, standing := range []chat.Standing{
		chat.StandingNoted, chat.StandingKept, chat.StandingDecided, chat.StandingClosed, chat.StandingRefused,
		chat.StandingInvalid, chat.StandingUnknown, "new",
	} {
		list["standing "+string(standing)] = chat.Verdict{Standing: standing, Reason: map[chat.Standing]string{chat.StandingClosed: "timeout"}[standing]}
	}
	return list
}

// data is what stands on the sample as it is in every language: names, codes, what is to be typed.
var data = regexp.MustCompile(`^(Countersign|Temporal|null|email|oidc|token|make run|Esc|[jkadx]|0\.csv|Atlas|owner|carol|dan|erin|` +
	`(waiting|completed|timed_out|denied|timeout)|(file_manager|workspace)\.[a-z_]+( · Countersign)?|telegram(:7)?|\((telegram|web)\)|web:[-0-9a-f]+|` +
	`[0-9a-z-]{36}|[0-9]+ B|\.countersign/token|sub-of-[a-z]+|[a-z]+@example\.test|path|reports/old\.csv|` +
	`/(workspace|file_manager) [a-z_]+( [a-z]+=\S+)*|[-0-9]{10} [:0-9]{8} UTC|↗|\PL*)$`)

// same are texts that a language has as English has them.
var same = map[string][]string{
	"de":    {"Status", "Name", "Operation", "in"},
	"es":    {"No"},
	"zh-CN": {},
}
