package main

import (
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/internal/proof/postbox"
)

const mailPassword = "Canary-of-the-mail-server"

// With -smtp people are mailed what waits for them, and the log has neither the password nor an address. A restart
// sends nothing again.
func TestPeopleAreMailed(t *testing.T) {
	dir := t.TempDir()
	certificate, err := postbox.NewCertificate(dir)
	if err != nil {
		t.Fatal(err)
	}
	box := postbox.New(t, "",
		postbox.Options{STARTTLS: &certificate, User: "robot@host.example", Password: mailPassword})
	const lea = "urn:vitrine:example.test:user=lea"
	if out := run(t, dir, nil, "invite", "-db", "v.db", "-name", "Lea", "-email", "lea@people.example", "-urn", lea,
		"-moderates", "urn:vitrine:example.test"); out.status != 0 {
		t.Fatalf("%+v", out)
	}
	env := []string{mailVariable + "=" + mailPassword, "VITRINE_SMTP=smtp://robot%40host.example@" + box.Addr}
	serve := func() *testServer { return start(t, dir, env, "-db", "v.db", "-base-url", "https://apps.example.test") }
	s := serve()
	s.logs("started")
	token := newToken(t, dir, nil, "-db", "v.db")
	app := s.create(token)
	mention := func() {
		s.do(token, "POST", "/apps/"+app+"/comments", `{"text":"secret text","mentions":["`+lea+`"]}`, 201)
	}
	// What comes before the first process follows the feed is told by no mail.
	for len(box.Mails()) == 0 {
		mention()
		box.WaitSome()
	}
	m := box.Mails()[0]
	if m.To != "lea@people.example" || m.From != "robot@host.example" || !m.TLS || !m.SignedIn ||
		!strings.Contains(m.Text, "https://apps.example.test/#/apps/"+app+"?comments=1\n") ||
		strings.Contains(m.Raw, "secret text") {
		t.Errorf("%+v", m)
	}
	mention()
	s.stop()
	log := s.stderr.String()
	sent := len(box.Mails())
	s = serve()
	leas := run(t, dir, nil, "token", "-db", "v.db", "-urn", lea)
	if off := s.do(strings.TrimSpace(leas.stdout), "PUT", "/x/me/mail", `{"off":true}`, 200); off != `{"off":true}` {
		t.Errorf("%s", off)
	}
	s.stop()
	if log += s.stderr.String(); strings.Contains(log, mailPassword) || strings.Contains(log, "@people.example") ||
		strings.Contains(log, "WARN mail") || strings.Contains(log, "no command reads") {
		t.Errorf("the log: %s", log)
	}
	if mails := box.Mails(); len(mails) != sent {
		t.Errorf("%d mails after the restart, %d before", len(mails), sent)
	}
}

func TestSMTPFlagsThatMakeNoSense(t *testing.T) {
	dir := t.TempDir()
	const base = "https://apps.example.test"
	for _, c := range []struct{ url, base, password, says string }{
		{"smtps://robot@host:465", "", mailPassword, "-base-url"},
		{"smtps://robot@host:465", base, "", mailVariable},
		{"smtps://robot:" + mailPassword + "@host:465", base, "", "password"},
		{"smtps://host:465", base, mailPassword, "no user"},
		{"http://robot@host", base, mailPassword, "smtps://"},
		{"smtps://robot:" + mailPassword + "@host:port", base, "", "-smtp"},
	} {
		env := []string{}
		if c.password != "" {
			env = append(env, mailVariable+"="+c.password)
		}
		out := run(t, dir, env, "serve", "-addr", "127.0.0.1:0", "-db", "v.db", "-smtp", c.url, "-base-url", c.base)
		if out.status != 2 || !strings.Contains(out.stderr, c.says) || strings.Contains(out.stderr, mailPassword) {
			t.Errorf("%s: %+v", c.url, out)
		}
	}
}
