package page_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/e2e/harness"
)

// owners are people in the configuration, each with a token and, where it is not empty, a language.
func owners(languages map[string]string) string {
	list := []string{}
	for name, language := range languages {
		sum := sha256.Sum256([]byte(harness.Token(name)))
		list = append(list, fmt.Sprintf(`{name: %s, owner: true, language: %q, tokens: ["sha256:%s"]}`, name, language, hex.EncodeToString(sum[:])))
	}
	return "[" + strings.Join(list, ", ") + "]"
}

// wants sets the language that the browser asks for.
func (b *tab) wants(language string) {
	b.t.Helper()
	agent, err := eval[string](b, "navigator.userAgent")
	require.NoError(b.t, err)
	call(b, emulation.SetUserAgentOverride, emulation.SetUserAgentOverrideParams{UserAgent: agent, AcceptLanguage: language})
}

func (b *tab) speaks(language string) {
	b.t.Helper()
	b.await("the page in "+language, fmt.Sprintf("document.documentElement.lang === %q", language))
}

// A page speaks its reader's language, then what the conversation has chosen, then the browser's;
// what scripts show does too, and the dock.
func TestWords(t *testing.T) {
	t.Parallel()
	w := harness.New(t, harness.Setup{Env: map[string]string{
		"COUNTERSIGN_EXAMPLES": "true", "COUNTERSIGN_PEOPLE": owners(map[string]string{"ada": "", "elena": "es"}),
	}})
	w.Write(t, "a.csv", "1")
	german := open(t, w)
	german.wants("de-AT,de")
	german.visit("/")
	german.speaks("de")
	german.shows("h1", "Anmelden")
	german.signIn("cs_nobody")
	german.shows(".flash.bad", "Dieses Token hat hier niemand.")
	german.signIn(harness.Token("ada"))
	german.shows("nav", "Abmelden")
	german.say("/file_manager delete disk=local path=a.csv")
	german.shows(openQuestion+" .yes", "Ja")
	german.shows(openQuestion+" .left", "noch ")
	german.await("the question is the conversation's, in English", german.find(openQuestion+` .prompt[lang="en"]`)+`.textContent.endsWith("Reply 'Yes' to confirm.")`)

	spanish := open(t, w) // her own language wins over the browser's
	spanish.wants("de-AT,de")
	spanish.visit("/")
	spanish.signIn(harness.Token("elena"))
	spanish.speaks("es")
	spanish.shows(".others h2", "A la espera de una respuesta en otro lugar")
	german.stale("/live", "/events")
	spanish.click(".others " + openQuestion + " .buttons .no")
	spanish.shows(".flash.good", "Ha dicho que no. No se ejecuta.")
	german.click(openQuestion + " .buttons .yes")
	german.shows(".flash.note", "Geändert: schon entschieden von elena um")
	german.stale("/decisions", "/messages")
	german.write("#text", "hallo\r")
	german.shows(".flash.bad", "Das Gateway hat nicht geantwortet.")
	german.stale()
	german.click(".composer button")
	german.shows(".said", "hallo")

	spanish.say("/file_manager delete disk=local path=a.csv")
	spanish.shows(".feed "+openQuestion+" .prompt:not([lang])", "¿Eliminar")
	spanish.click(".feed " + openQuestion + " .buttons .yes")
	spanish.shows(".reply", "✅ Hecho: file_manager delete")
	spanish.visit("/history")
	spanish.shows("table", "sí, por elena")
	spanish.shows("table", "no, por elena")
	require.Contains(t, spanish.texts(), "file_manager.delete")

	german.say("!language zh-cn")
	german.speaks("zh-CN")
	german.shows(".reply", "从现在起，我在此对话中使用中文。")
	german.visit("/workspace")
	german.shows("h1", "工作区")
	german.root = inDock
	german.await("the dock", inDock+"?.querySelector('#text')")
	german.shows(".dock-head", "完整页面")
	german.say("/workspace publish_changes")
	german.shows(".handoff.open .steps", "选择“发布更改”完成确认。")
	german.await("as its button says", `document.querySelector("#publish_changes").textContent === "发布更改"`)
	german.click(".handoff.open .done")
	german.shows(".handoff.open .missing", "还缺少：工作区的更改已发布")
	german.clean()
	spanish.clean()
}

// texts is all that stands on the page.
func (b *tab) texts() string {
	b.t.Helper()
	text, err := eval[string](b, b.root+".body.innerText")
	require.NoError(b.t, err)
	return text
}

// The longest words and the densest letters: nothing is wider than the screen, nothing stands in
// anybody's way. The states are those of TestScreens.
func TestScreensInOtherLanguages(t *testing.T) {
	t.Parallel()
	people := map[string]string{"dora": "de", "elena": "es", "zhang": "zh-CN"}
	w, provider := linked(t, map[string]string{
		"COUNTERSIGN_EXAMPLES": "true", "COUNTERSIGN_POLICY": "file_manager.write: {confirm: true, approvers: {who: thread, quorum: 2}}",
		"COUNTERSIGN_PEOPLE": owners(people),
	})
	provider.Away(false)
	w.Write(t, "reports/2025/quarterly figures.csv", "1;2")
	looks := screens[2:3] // 360 pixels: where there is least room
	for name, language := range people {
		b := open(t, w)
		b.wants(language)
		b.visit("/")
		b.on(looks, language+"-sign-in")
		b.through("sub-of-eve")
		b.await("nobody", b.find(".sheet"))
		b.on(looks, language+"-nobody")
		b.visit("/nowhere")
		b.on(looks, language+"-nowhere")
		b.visit("/signin")
		b.signIn(harness.Token(name))
		b.await("the conversation", `document.querySelector("main[data-live]")`)
		b.on(looks, language+"-empty")
		b.say("/workspace save_workspace_name name=Atlas")
		b.click(".feed " + openQuestion + " .always")
		b.await("it is done", b.find(".reply"))
		b.say(`/file_manager write disk=local path=notes.txt content="` + strings.Repeat(`month,total\n`, 40) + `"`)
		b.click(".feed " + openQuestion + " .why summary")
		b.click(".feed " + openQuestion + " .buttons .yes")
		b.await("another one is needed", b.find(".flash.note"))
		b.on(looks, language+"-folded")
		b.click(".feed " + openQuestion + " .buttons .no")
		b.await("it is closed", b.find(".question.closed .outcome"))
		id := w.API.Invoke(t, harness.File("delete", "reports/2025/quarterly figures.csv").In("web", "elsewhere"))
		b.await("the other question", b.find(".others "+openQuestion))
		b.on(looks, language+"-conversation")
		b.visit("/invocations/" + id)
		b.on(looks, language+"-call")
		b.visit("/grants")
		b.on(looks, language+"-grants")
		b.visit("/history")
		b.on(looks, language+"-history")
		b.visit("/")
		b.click(".others " + openQuestion + " .buttons .no")
		require.Equal(t, "denied", w.API.Result(t, id).Status)
		b.visit("/workspace")
		b.root = inDock
		b.await("the dock", inDock+"?.querySelector('#text')")
		b.click("#live") // settle
		b.say("/workspace publish_changes")
		b.click(".handoff.open .done")
		b.await("what is missing", b.find(".missing"))
		b.on(looks, language+"-handoff")
		b.click(".handoff.open .cancel")
		b.await("it is cancelled", b.find(".handoff.open")+" === null")
		b.root = onPage
		b.visit("/")
		b.click("[data-keys]")
		b.on(looks, language+"-keys")
	}
}
