//go:build proof

package console

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// A person makes a key for an agent, in a dialog that says what it does. What the agent writes is marked in the history
// and in its release, which the person does not approve.
func TestAnAgentOfAPerson(t *testing.T) {
	w := newAccounts(t)
	w.component("poll", "1.0.0", questionSchema)
	id := w.newApp("Winter", poll(`{"question":"Tea?"}`))
	ada, _ := w.newcomer()
	ada.accept(w.invite("-name", "Ada Berg", "-moderates", network), "Ada Berg")
	ada.again("/keys")
	ada.Click(named("New secret key"))
	ada.Type(field("Name"), "Draft writer")
	ada.See(`//dialog//*[contains(., "never publishes, schedules, approves or deletes")]`)
	ada.Click(`//dialog//label[contains(., "For an agent")]/input`)
	ada.Click(`//dialog//fieldset[legend="Moderates"]//label[contains(., "example.test")]/input`)
	ada.Click(`//dialog` + named("Make the key"))
	ada.See(`//dialog//pre[starts-with(., "vt_")]`)
	var key string
	ada.Run(&key, `async () => document.querySelector("dialog pre").textContent`)
	var servers string
	ada.Run(&servers, `async () => document.querySelectorAll("dialog pre")[1].textContent`)
	if !strings.Contains(servers, "/x/mcp") || !strings.Contains(servers, "Bearer "+key) {
		t.Errorf("an assistant cannot be connected by %s", servers)
	}
	ada.Click(`//dialog` + named("Done"))
	ada.See(row("Draft writer") + `//td[contains(., "for an agent")]`)

	send := func(method, path, body string) (out struct{ ID string }) {
		t.Helper()
		r, _ := http.NewRequest(method, w.url+path, strings.NewReader(body))
		r.Header = http.Header{"Authorization": {"Bearer " + key}, "Content-Type": {"application/json"}}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, _ := io.ReadAll(answer.Body)
		if err := json.Unmarshal(text, &out); err != nil || answer.StatusCode >= 300 {
			t.Fatalf("%s %s: %d %s", method, path, answer.StatusCode, text)
		}
		return out
	}
	send("PATCH", "/apps/"+id, `[{"op":"test","path":"/apps/0/version","value":"0"},
		{"op":"replace","path":"/apps/0/title","value":"Spring"}]`)
	release := send("POST", "/x/releases/",
		fmt.Sprintf(`{"name":"r","moves":[{"app":%q,"tag":"production","to":"1"}]}`, id))
	ada.again("/apps/" + id + "/history")
	ada.See(`//div[contains(@class, "line") and contains(., "agent Draft writer for Ada Berg")]`)
	ada.again("/releases/" + release.ID)
	ada.See(`//p[contains(., "Made by agent Draft writer for Ada Berg")]`)
}
