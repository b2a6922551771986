package workspace_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/countersignhq/countersign/approval"
	"github.com/countersignhq/countersign/attachments"
	"github.com/countersignhq/countersign/disks"
	"github.com/countersignhq/countersign/tool"
)

// ledger is some business state: the state of each invoice.
type ledger map[string]string

const byNumber = `{"type":"object","required":["number"],"properties":{"number":{"type":"string","maxLength":20}}}`

func number(call tool.Call) string {
	var parameters struct{ Number string }
	_ = json.Unmarshal(call.Parameters, &parameters) // they fit the schema
	return parameters.Number
}

// invoices is a tool with a question and a handoff.
func invoices(books ledger) tool.Tool {
	known := func(_ context.Context, call tool.Call) error {
		if books[number(call)] == "" {
			return tool.Unavailable("there is no invoice " + number(call))
		}
		return nil
	}
	return tool.Tool{Name: "invoices", Description: "Cancel and sign invoices.", Operations: []tool.Operation{
		{
			Name: "cancel", Description: "Cancel an invoice that was sent.",
			Kind: tool.Danger, Schema: byNumber, Prompt: "Cancel invoice {number}?", Available: known,
			Run: func(_ context.Context, call tool.Call) (any, error) {
				books[number(call)] = "cancelled"
				return map[string]string{"cancelled": number(call)}, nil
			},
		},
		{
			Name: "sign", Description: "Have a person sign an invoice.", Kind: tool.Write, Schema: byNumber, Available: known,
			Handoff: &tool.Handoff{
				Reason: "Only a person can sign.",
				Steps:  []tool.Step{{Text: "Open the invoice and sign it.", Highlight: "signature"}},
				Expect: &tool.Expect{Desc: "the invoice is signed", Observable: true, Check: func(_ context.Context, call tool.Call) (bool, error) {
					return books[number(call)] == "signed", nil
				}},
			},
		},
	}}
}

// A tool is tested without a server: the registry checks what it declares and what it is called
// with, and package approval tells what a person is asked.
func Example_questionAndHandoff() {
	books, ctx := ledger{"2029-7": "sent"}, context.Background()
	registry, warnings, err := tool.NewRegistry(invoices(books))
	fmt.Println("declared:", len(warnings), err)

	cancel, _ := registry.Find("invoices", "cancel")
	parameters, _ := registry.Check("invoices", "cancel", json.RawMessage(`{"number":"2029-7"}`))
	prompt, _ := approval.Render(*cancel, parameters)
	fmt.Println(approval.Resolve(*cancel), "–", approval.Question(prompt))
	_, err = registry.Check("invoices", "cancel", json.RawMessage(`{"id":7}`))
	fmt.Println(err)
	call := tool.Call{ID: "01J", Parameters: parameters}
	fmt.Println(cancel.Available(ctx, tool.Call{Parameters: json.RawMessage(`{"number":"1"}`)}))

	sign, _ := registry.Find("invoices", "sign")
	before, _ := sign.Handoff.Expect.Check(ctx, call)
	books["2029-7"] = "signed" // a person did it
	after, _ := sign.Handoff.Expect.Check(ctx, call)
	fmt.Println(approval.Resolve(*sign), before, after)
	// Output:
	// declared: 0 <nil>
	// ask_always – ⚠️ Cancel invoice 2029-7? Reply 'Yes' to confirm.
	// the parameters of invoices.cancel are not accepted: id is not a parameter; known are number
	// there is no invoice 1
	// handoff false true
}

// A tool reads the files that came with the message, and puts what it makes beside them: what
// lies in outbound/{uuid}/ at the end of the turn goes out with the reply.
func Example_files() {
	ctx := context.Background()
	folder, err := disks.Open(ctx, disks.Params{
		URLs: map[string]string{"local": "mem://"}, Allowed: []string{"local"},
		Protected: map[string][]string{"local": {"inbound", "outbound"}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer folder.Close()
	disk, _ := folder.Unguarded("local")
	store, _ := attachments.New(attachments.Params{Disk: disk, Inbound: "inbound", Outbound: "outbound"})

	upper := tool.Operation{Name: "upper", Run: func(ctx context.Context, call tool.Call) (any, error) {
		files, err := store.Inbound(call.MessageUUID).List(ctx) // of this message, and no other
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			content, _, err := store.Inbound(call.MessageUUID).Open(ctx, file.Name)
			if err != nil {
				return nil, err
			}
			text, err := io.ReadAll(io.LimitReader(content, 1<<20))
			_ = content.Close()
			if err != nil {
				return nil, err
			}
			if _, err := store.Outbound(call.MessageUUID).Set(ctx, file.Name, strings.NewReader(strings.ToUpper(string(text)))); err != nil {
				return nil, err
			}
		}
		return map[string]int{"files": len(files)}, nil
	}}

	call := tool.Call{ID: "01J", MessageUUID: "0190-message"}
	_, _ = store.Inbound(call.MessageUUID).Set(ctx, "note.txt", strings.NewReader("hello")) // by the connector
	output, err := upper.Run(ctx, call)
	fmt.Println(output, err)
	files, _ := store.Outbound(call.MessageUUID).List(ctx)
	fmt.Println(files[0].Path, files[0].Size)
	// Output:
	// map[files:1] <nil>
	// outbound/0190-message/note.txt 5
}
