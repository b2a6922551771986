package workspace

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/countersignhq/countersign/tool"
)

// The guide targets of the workspace's page, which the handoff's steps point at.
const (
	TargetCode    = "verification_code"
	TargetPublish = "publish_changes"
)

// New returns the tool workspace.
func New(store Store) tool.Tool {
	w := workspace{store}
	return tool.Tool{
		Name:        "workspace",
		Description: "The example workspace: name it, reset it, have a person publish it.",
		Operations:  []tool.Operation{w.save(), w.reset(), w.publish()},
	}
}

type workspace struct{ store Store }

// output is what save and reset report.
type output struct {
	Name      string `json:"name"`
	Published bool   `json:"published"`
}

func (w workspace) save() tool.Operation {
	return tool.Operation{
		Name:        "save_workspace_name",
		Description: "Save the name of the shared workspace. This asks for confirmation once.",
		Kind:        tool.Write, Confirm: tool.ConfirmTrue,
		Schema: `{"type":"object","required":["name"],"properties":{
			"name":{"type":"string","minLength":1,"maxLength":80,"pattern":"\\S","description":"The workspace's new name."}}}`,
		Prompt: "Save the workspace's name as {name}?",
		Translations: map[string]tool.Translation{
			"de":    {Prompt: "Den Namen des Arbeitsbereichs als {name} speichern?"},
			"es":    {Prompt: "¿Guardar el nombre del espacio de trabajo como {name}?"},
			"zh-CN": {Prompt: "要将工作区的名称保存为 {name} 吗？"},
		},
		Run: func(ctx context.Context, call tool.Call) (any, error) {
			var parameters struct{ Name string }
			if err := json.Unmarshal(call.Parameters, &parameters); err != nil {
				return nil, fmt.Errorf("save_workspace_name: parameters: %w", err)
			}
			return w.write(ctx, Draft{Name: parameters.Name, Revision: call.ID})
		},
		Check: w.written,
	}
}

func (w workspace) reset() tool.Operation {
	return tool.Operation{
		Name:        "reset_workspace",
		Description: "Clear the workspace's settings. This dangerous action asks every time.",
		Kind:        tool.Danger, Confirm: tool.ConfirmAlways,
		Schema: `{"type":"object"}`,
		Prompt: "Reset the workspace and clear its settings?",
		Translations: map[string]tool.Translation{
			"de":    {Prompt: "Den Arbeitsbereich zurücksetzen und seine Einstellungen löschen?"},
			"es":    {Prompt: "¿Restablecer el espacio de trabajo y borrar sus ajustes?"},
			"zh-CN": {Prompt: "要重置工作区并清除其设置吗？"},
		},
		// A yes is for what is there now: settings that change meanwhile are asked about again.
		Contents: func(ctx context.Context, _ tool.Call) (map[string]string, error) {
			state, err := w.store.Read(ctx)
			return map[string]string{"workspace": state.Draft.Revision}, err
		},
		Run: func(ctx context.Context, call tool.Call) (any, error) {
			return w.write(ctx, Draft{Name: DefaultName, Revision: call.ID})
		},
		Check: w.written,
	}
}

// publish is the person's: Run is never called, and Expect reads the stored state.
func (w workspace) publish() tool.Operation {
	return tool.Operation{
		Name:        "publish_changes",
		Description: "Ask a person to publish the workspace's changes on its page.",
		Kind:        tool.Write,
		Schema:      `{"type":"object"}`,
		Translations: map[string]tool.Translation{
			"de": {
				Reason: "Vor dem Veröffentlichen muss eine Person den Prüfcode bestätigen.",
				Steps: []string{
					"246810 in das Feld für den Prüfcode eingeben.",
					"Zum Abschluss „Änderungen veröffentlichen“ wählen.",
				},
				Expect: "Die Änderungen am Arbeitsbereich sind veröffentlicht",
			},
			"es": {
				Reason: "Una persona debe confirmar el código de verificación antes de publicar.",
				Steps: []string{
					"Introduzca 246810 en el campo del código de verificación.",
					"Elija «Publicar los cambios» para terminar la confirmación.",
				},
				Expect: "Los cambios del espacio de trabajo están publicados",
			},
			"zh-CN": {
				Reason: "发布之前必须由用户确认验证码。",
				Steps:  []string{"在验证码栏中输入 246810。", "选择“发布更改”完成确认。"},
				Expect: "工作区的更改已发布",
			},
		},
		Handoff: &tool.Handoff{
			Reason: "The user must confirm the verification code before publishing.",
			Steps: []tool.Step{
				{Text: "Enter 246810 in the verification-code field.", Highlight: TargetCode},
				{Text: "Select “Publish changes” to complete the confirmation.", Highlight: TargetPublish},
			},
			Page: "/workspace",
			Expect: &tool.Expect{
				Desc: "The workspace changes are published", Observable: true,
				Check: func(ctx context.Context, _ tool.Call) (bool, error) {
					state, err := w.store.Read(ctx)
					return err == nil && state.Published(), err
				},
			},
		},
	}
}

func (w workspace) write(ctx context.Context, draft Draft) (any, error) {
	if err := w.store.WriteDraft(ctx, draft); err != nil {
		return nil, err
	}
	return output{Name: draft.Name}, nil
}

// written settles a run whose worker died: the draft names the call that wrote it. Another
// call's draft tells nothing, for it may have come after.
func (w workspace) written(ctx context.Context, call tool.Call) (tool.Outcome, error) {
	state, err := w.store.Read(ctx)
	if err != nil || state.Draft.Revision != call.ID {
		return tool.Outcome{}, err
	}
	return tool.Outcome{Happened: tool.OutcomeDone, Output: output{Name: state.Draft.Name, Published: state.Published()}}, nil
}
