package smtp_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/adapters/signin"
	"github.com/vitrine-go/vitrine/adapters/smtp"
	"github.com/vitrine-go/vitrine/internal/proof/postbox"
)

var trusted, foreign postbox.Certificate

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "smtp")
		if err == nil {
			defer os.RemoveAll(dir)
			foreign, err = postbox.NewCertificate(dir)
		}
		if err == nil {
			trusted, err = postbox.NewCertificate(dir) // its file replaces the other one
		}
		if err != nil {
			panic(err)
		}
		os.Setenv("SSL_CERT_FILE", trusted.File)
		return m.Run()
	}())
}

const password = "S3cret-canary"

var hello = signin.Mail{ID: "abc", Name: "Lea", Address: "lea@host.example", Subject: "Hello",
	Text: "Hello Lea,\n\nx\n"}

// send sends a mail to a box through a URL, which has %s for the address.
func send(t *testing.T, url string, box *postbox.Box, m signin.Mail) error {
	t.Helper()
	secret := ""
	if strings.Contains(url, "@") {
		secret = password
	}
	deliver, err := smtp.New(fmt.Sprintf(url, box.Addr), secret, "apps.example")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err = deliver(ctx, m); err != nil {
		for _, secret := range []string{password, "host.example"} {
			if strings.Contains(err.Error(), secret) {
				t.Errorf("the error has %q: %v", secret, err)
			}
		}
	}
	return err
}

func TestWaysIn(t *testing.T) {
	for name, c := range map[string]struct {
		url  string
		box  postbox.Options
		sent bool
		tls  bool
	}{
		"TLS":                      {"smtps://%s", postbox.Options{TLS: &trusted}, true, true},
		"TLS with a user":          {"smtps://robot@%s", postbox.Options{TLS: &trusted, User: "robot"}, true, true},
		"TLS, foreign certificate": {"smtps://%s", postbox.Options{TLS: &foreign}, false, false},
		"TLS, the server has none": {"smtps://%s", postbox.Options{}, false, false},
		"STARTTLS with a user": {"smtp://robot@%s", postbox.Options{STARTTLS: &trusted, User: "robot"}, true,
			true},
		"STARTTLS to itself, foreign":  {"smtp://%s", postbox.Options{STARTTLS: &foreign}, true, true},
		"no TLS to itself":             {"smtp://%s", postbox.Options{}, true, false},
		"no TLS to itself with a user": {"smtp://robot@%s", postbox.Options{User: "robot"}, true, false},
		"TLS with a user by LOGIN": {"smtps://robot@%s", postbox.Options{TLS: &trusted, User: "robot", Login: true},
			true,
			true},
		"another password by LOGIN": {"smtps://other@%s", postbox.Options{TLS: &trusted, User: "robot", Login: true},
			false, true},
		"another password": {"smtps://other@%s", postbox.Options{TLS: &trusted, User: "robot"}, false,
			true},
		"the server signs in nobody": {"smtps://robot@%s", postbox.Options{TLS: &trusted}, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			c.box.Password = password
			box := postbox.New(t, "", c.box)
			err := send(t, c.url, box, hello)
			mails := box.Mails()
			if !c.sent {
				if err == nil || errors.Is(err, signin.ErrRejected) || len(mails) > 0 {
					t.Errorf("%v, %d mails", err, len(mails))
				}
				return
			}
			if err != nil || len(mails) != 1 || mails[0].TLS != c.tls || mails[0].SignedIn != (c.box.User != "") {
				t.Errorf("%v, %+v", err, mails)
			}
		})
	}
}

// To another machine nothing is sent without STARTTLS, also no password. A name that leads to this machine is another
// one, since who answers for names can say so.
func TestSTARTTLSIsRequiredElsewhere(t *testing.T) {
	name, err := os.Hostname()
	if err != nil {
		t.Skip(err)
	}
	addrs, err := net.LookupHost(name)
	if err != nil {
		t.Skip(err)
	}
	l, err := net.Listen("tcp", net.JoinHostPort(addrs[0], "0"))
	if err != nil {
		t.Skip(err)
	}
	_ = l.Close()
	box := postbox.New(t, l.Addr().String(), postbox.Options{User: "robot", Password: password})
	_, port, _ := net.SplitHostPort(box.Addr)
	deliver, err := smtp.New("smtp://robot@"+net.JoinHostPort(name, port), password, "apps.example")
	if err != nil {
		t.Fatal(err)
	}
	err = deliver(t.Context(), hello)
	if err == nil || len(box.Mails()) > 0 || strings.Contains(fmt.Sprint(box.Commands()), "AUTH") ||
		!strings.Contains(fmt.Sprint(box.Commands()), "EHLO") {
		t.Errorf("%v after %q", err, box.Commands())
	}
}

func TestAnswersOfTheServer(t *testing.T) {
	for _, c := range []struct {
		command, reply string
		rejected       bool
	}{
		{"RCPT", "550 no <lea@host.example>", true},
		{"RCPT", "450 later <lea@host.example>", false},
		{"DATA", "554 no", true},
		{".", "552 too large", true},
		{".", "451 later", false},
		{"MAIL", "550 not from you", false}, // the sender is wrong, and not the mail
		{"MAIL", "421 busy", false},
		{"", "554 no", false},
		{"", "hang", false},
		{"RCPT", "hang", false},
		{".", "hang", false},
		{"DATA", "221 bye", false},
	} {
		box := postbox.New(t, "", postbox.Options{Answer: func(command string) string {
			if command == c.command || c.command != "" && c.command != "." && strings.HasPrefix(command, c.command) {
				return c.reply
			}
			return ""
		}})
		begun := time.Now()
		err := send(t, "smtp://%s", box, hello)
		if err == nil || errors.Is(err, signin.ErrRejected) != c.rejected || time.Since(begun) > 5*time.Second {
			t.Errorf("%q to %q: %v after %v", c.reply, c.command, err, time.Since(begun))
		}
	}
}

// A mail that was taken counts as sent, whatever the server says to what comes next.
func TestAfterTheMail(t *testing.T) {
	for _, reply := range []string{"421 bye", "hang"} {
		box := postbox.New(t, "", postbox.Options{Answer: func(command string) string {
			if command == "QUIT" || command == "RSET" {
				return reply
			}
			return ""
		}})
		if err := send(t, "smtp://%s", box, hello); err != nil || len(box.Mails()) != 1 {
			t.Errorf("%q: %v, %d mails", reply, err, len(box.Mails()))
		}
	}
}

// No name, title or address adds a line to the header or a command, and all of them arrive as they are.
func TestHostileMails(t *testing.T) {
	box := postbox.New(t, "", postbox.Options{})
	harmless := strings.NewReplacer("=?", "= ?")
	for _, c := range []struct{ name, subject string }{
		{`Lea "the" <root@evil.example>, Ann`, "Käse & “Brot” " + strings.Repeat("größer ", 40)},
		{"Lea\r\nBcc: all@host.example", "Hello\r\nBcc: all@host.example\r\n\r\nbody"},
		{"Léa 🐌", "日本語の件名 =?utf-8?q?x?="},
		{`\`, ""},
		{"=?utf-8?q?Ann?=", "=?utf-8?q?=0D=0ABcc:_x?= ?= =?x"},
	} {
		before := len(box.Mails())
		m := signin.Mail{ID: "i", Name: c.name, Address: "lea@host.example", Subject: c.subject,
			Text: ".\n..\nFrom me\n" + strings.Repeat("ü", 2000) + "\n"}
		if err := send(t, "smtp://%s", box, m); err != nil {
			t.Errorf("%q: %v", c.name, err)
			continue
		}
		mails := box.Mails()
		got := mails[len(mails)-1]
		to, err := got.Header.AddressList("To")
		if len(mails) != before+1 || err != nil || len(to) != 1 || to[0].Address != "lea@host.example" ||
			got.Header.Get("Bcc") != "" || got.To != "lea@host.example" || got.From != "vitrine@apps.example" ||
			got.Text != m.Text {
			t.Errorf("%q: %v %v\n%s", c.name, to, err, got.Raw)
		}
		if !strings.ContainsAny(c.subject+c.name, "\r\n") &&
			(got.Subject != harmless.Replace(c.subject) || to[0].Name != harmless.Replace(c.name)) {
			t.Errorf("have %q and %q, want %q and %q", got.Subject, to[0].Name, c.subject, c.name)
		}
		for line := range strings.SplitSeq(got.Raw, "\n") {
			if len(line) > 998 || strings.ContainsFunc(line, func(r rune) bool { return r > 126 }) {
				t.Errorf("a line of %d bytes: %.100q", len(line), line)
			}
		}
		if got.Header.Get("Auto-Submitted") != "auto-generated" || got.Header.Get("Message-Id") != "<i@apps.example>" ||
			got.Header.Get("Date") == "" || !strings.HasPrefix(got.Header.Get("Content-Type"), "text/plain") {
			t.Errorf("the header is %v", got.Header)
		}
	}
}

func TestAddresses(t *testing.T) {
	box := postbox.New(t, "", postbox.Options{})
	for address, want := range map[string]string{
		"lea+x@host.example":       "lea+x@host.example",
		"Lea <lea@host.example>":   "lea@host.example",
		"lea@bücher.example":       "lea@xn--bcher-kva.example",
		"lea":                      "",
		"@":                        "",
		"lea@":                     "",
		"a@x.example, b@y.example": "",
		"lea@host example":         "",
		"lea@host.example\r\nRCPT TO:<all@host.example>": "",
		`"x> RCPT TO:<all"@host.example`:                 "",
	} {
		before := len(box.Mails())
		m := hello
		m.Address = address
		err := send(t, "smtp://%s", box, m)
		if mails := box.Mails(); want == "" {
			if !errors.Is(err, signin.ErrRejected) || len(mails) != before {
				t.Errorf("%q: %v, %d mails", address, err, len(mails)-before)
			}
		} else if err != nil || len(mails) != before+1 || mails[before].To != want {
			t.Errorf("%q: %v, %q", address, err, box.Commands())
		}
	}
}

func TestURLs(t *testing.T) {
	for url, password := range map[string]string{
		"host:465": "", "http://host": "", "smtps://": "", "smtps://user@host": "", "smtps://host": "x",
		"smtps://user:canary@host": "x", "smtps://host/inbox": "", "smtps://host#x": "", "smtps://host?to=x": "",
		"smtps://host:99999": "", "smtps://host?from=nobody": "", "smtps://us%zzer:canary@host": "x",
	} {
		if _, err := smtp.New(url, password, "apps.example"); err == nil || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %v", url, err)
		}
	}
	box := postbox.New(t, "", postbox.Options{User: "robot@host.example", Password: password})
	for url, sender := range map[string]string{
		"smtp://robot%%40host.example@%s":                     "robot@host.example",
		"smtp://robot@host.example@%s?from=news@host.example": "news@host.example",
	} {
		if err := send(t, url, box, hello); err != nil {
			t.Fatal(err)
		}
		if mails := box.Mails(); mails[len(mails)-1].From != sender {
			t.Errorf("%s: from %s", url, mails[len(mails)-1].From)
		}
	}
}
