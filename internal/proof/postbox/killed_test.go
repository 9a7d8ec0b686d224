//go:build proof

package postbox_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/client"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/cluster"
	"github.com/vitrine-go/vitrine/internal/proof/postbox"
	"github.com/vitrine-go/vitrine/internal/proof/program"
)

const (
	signingKey = "a key for this test, nothing more"
	network    = "urn:vitrine:example.test"
	kills      = 2
)

// Two processes share a store. The one that sends is killed at the worst moment, when the mail server has a whole mail
// and has not said so, again and again. Each mail arrives, at most twice, and the second time with the same Message-ID.
func TestKilledProcessesLoseNoMail(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than a minute")
	}
	binary, err := program.Build{Module: "../../..", Package: "./examples/vitrine"}.Run(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, db := range map[string]string{"SQLite": filepath.Join(t.TempDir(), "v.db"),
		"PostgreSQL": cluster.Database(t)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			killSenders(t, binary, db)
		})
	}
}

func killSenders(t *testing.T, binary, db string) {
	var hangs atomic.Bool
	var half atomic.Int64 // mails that the server has, and has not taken
	box := postbox.New(t, "", postbox.Options{Answer: func(command string) string {
		if command == "." && hangs.Load() {
			half.Add(1)
			return "hang"
		}
		return ""
	}})
	env := []string{"VITRINE_KEY=" + signingKey}
	start := func() *program.Server {
		s, err := program.StartServer(env, binary, "serve", "-addr", "127.0.0.1:0", "-db", db, "-base-url",
			"https://apps.example.test", "-smtp", "smtp://"+box.Addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Kill)
		return s
	}
	tokens, err := httpapi.NewTokens([]byte(signingKey), nil)
	if err != nil {
		t.Fatal(err)
	}
	token, err := tokens.Sign(httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=me",
		Moderates: []string{network}}}, time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	app := ""
	mention := func(s *program.Server, name string) {
		t.Helper()
		invite := exec.Command(binary, "invite", "-db", db, "-name", name, "-urn", network+":user="+name, "-email",
			name+"@host.example", "-moderates", network, "-base-url", "https://apps.example.test")
		invite.Env = env
		if out, err := invite.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		c, err := client.New(client.Config{URL: s.URL, Token: client.Static(token)})
		if err != nil {
			t.Fatal(err)
		}
		if app == "" {
			made, err := c.Apps.CreateApp(t.Context(),
				appsvc.CreateAppRequest{Title: "An app", Groups: []string{network}})
			if err != nil {
				t.Fatal(err)
			}
			app = made.ID
		}
		if _, err := c.Apps.CreateComment(t.Context(), appsvc.CreateCommentRequest{AppID: app, Text: "Look",
			Mentions: []string{network + ":user=" + name}}); err != nil {
			t.Fatal(err)
		}
	}
	until := func(what string, s *program.Server, reached func() bool) {
		t.Helper()
		for end := time.Now().Add(5 * time.Minute); !reached(); box.WaitSome() {
			if time.Now().After(end) {
				t.Fatalf("%s: not reached; the log: %s", what, s.Log())
			}
		}
	}
	sender := start()
	mention(sender, "first")
	until("the first mail", sender, func() bool { return len(box.Mails()) == 1 })
	for i := range kills {
		other := start()
		hangs.Store(true)
		mention(other, fmt.Sprint("p", i))
		until("half a mail", sender, func() bool { return half.Load() == int64(i+1) })
		sender.Kill()
		hangs.Store(false)
		until("the mail from another process", other, func() bool { return len(box.Mails()) == i+2 })
		sender = other
	}
	time.Sleep(3 * time.Second) // for what must not come
	ids := map[string]string{}
	for _, m := range box.Begun() {
		if id := m.Header.Get("Message-Id"); ids[m.To] != "" && ids[m.To] != id {
			t.Errorf("%s gets %s after %s", m.To, id, ids[m.To])
		}
		ids[m.To] = m.Header.Get("Message-Id")
	}
	if begun, taken := len(box.Begun()), len(box.Mails()); len(ids) != kills+1 || begun != 2*kills+1 ||
		taken != kills+1 {
		t.Errorf("%d people, %d mails, %d of them taken", len(ids), begun, taken)
	}
}
