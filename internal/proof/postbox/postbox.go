// Package postbox is a mail server for tests. It takes mails by SMTP, with TLS from the start, with STARTTLS or without
// TLS, and refuses and hangs as a test says.
package postbox

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"io"
	"math/big"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"net/textproto"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Certificate is a certificate for localhost and 127.0.0.1 that no authority has signed.
type Certificate struct {
	File string // with the certificate, for SSL_CERT_FILE
	tls  tls.Certificate
}

// NewCertificate makes a certificate, with its file in a directory.
func NewCertificate(dir string) (c Certificate, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return c, err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "postbox"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return c, err
	}
	c.tls = tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
	c.File = filepath.Join(dir, "postbox.pem")
	return c, os.WriteFile(c.File, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600)
}

// Options are the options of New. The zero value takes everything without TLS.
type Options struct {
	TLS      *Certificate // for TLS from the start
	STARTTLS *Certificate // offers STARTTLS
	User     string       // must sign in with Password, if it is not ""
	Password string
	Login    bool // by LOGIN in place of PLAIN
	// Answer returns the reply to a command in place of the usual one, "" for that, and "hang" for none. The content of
	// a mail is the command ".".
	Answer func(command string) string
}

// Mail is a mail that was taken.
type Mail struct {
	From, To string // of the envelope
	Raw      string // with its header
	Header   mail.Header
	Subject  string // decoded
	Text     string // decoded
	TLS      bool
	SignedIn bool
}

// Box is a mail server.
type Box struct {
	Addr string
	Options
	mu       sync.Mutex
	mails    []Mail
	begun    []Mail
	commands []string
	more     chan struct{} // closed when something came
}

// New starts a mail server that ends with the test. addr is host:port to listen on, or "".
func New(t testing.TB, addr string, o Options) *Box {
	t.Helper()
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	b := &Box{Addr: l.Addr().String(), Options: o, more: make(chan struct{})}
	ended := make(chan struct{})
	t.Cleanup(func() {
		_ = l.Close()
		close(ended)
	})
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				go func() {
					<-ended
					_ = conn.Close()
				}()
				b.serve(conn)
			}()
		}
	}()
	return b
}

// Mails returns what was taken.
func (b *Box) Mails() []Mail {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.mails)
}

// Begun returns all mails whose content came, also those that were not taken.
func (b *Box) Begun() []Mail {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.begun)
}

// Commands returns all commands that came.
func (b *Box) Commands() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.commands)
}

// Wait waits until so many mails were taken, and returns all of them.
func (b *Box) Wait(t testing.TB, n int) []Mail {
	t.Helper()
	late := time.After(2 * time.Minute)
	for {
		b.mu.Lock()
		more := b.more
		b.mu.Unlock()
		if mails := b.Mails(); len(mails) >= n {
			return mails
		}
		select {
		case <-more:
		case <-late:
			t.Fatalf("%d mails, want %d; the commands were %q", len(b.Mails()), n, b.Commands())
		}
	}
}

// WaitSome waits until something comes, a second at most.
func (b *Box) WaitSome() {
	b.mu.Lock()
	more := b.more
	b.mu.Unlock()
	select {
	case <-more:
	case <-time.After(time.Second):
	}
}

func (b *Box) note(command string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.commands = append(b.commands, command)
	b.wake()
}

func (b *Box) take(m Mail) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.mails = append(b.mails, m)
	b.wake()
}

func (b *Box) wake() {
	close(b.more)
	b.more = make(chan struct{})
}

// serve speaks SMTP on a connection.
func (b *Box) serve(conn net.Conn) {
	var m Mail
	if b.TLS != nil {
		conn, m.TLS = tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{b.TLS.tls}}), true
	}
	in := textproto.NewReader(bufio.NewReader(conn))
	say := func(line string) { _, _ = io.WriteString(conn, line+"\r\n") }
	// answer sends the reply to a command, and reports whether it is the usual one.
	answer := func(command, usual string) bool {
		other := ""
		if b.Answer != nil {
			other = b.Answer(command)
		}
		switch other {
		case "":
			say(usual)
			return true
		case "hang":
			_, _ = io.Copy(io.Discard, conn)
		default:
			say(other)
		}
		return false
	}
	answer("", "220 postbox")
	for {
		line, err := in.ReadLine()
		if err != nil {
			return
		}
		b.note(line)
		verb, rest, _ := strings.Cut(line, " ")
		switch strings.ToUpper(verb) {
		case "EHLO":
			lines := []string{"250-postbox", "250-8BITMIME"}
			if b.STARTTLS != nil && !m.TLS {
				lines = append(lines, "250-STARTTLS")
			}
			if b.User != "" {
				lines = append(lines, "250-AUTH "+b.way())
			}
			answer(line, strings.Join(append(lines, "250 SIZE"), "\r\n"))
		case "STARTTLS":
			if answer(line, "220 go on") {
				conn, m.TLS = tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{b.STARTTLS.tls}}), true
				in = textproto.NewReader(bufio.NewReader(conn))
			}
		case "AUTH":
			way, first, _ := strings.Cut(rest, " ")
			given := decoded(first)
			if way == "LOGIN" {
				for _, question := range []string{"Username:", "Password:"} {
					say("334 " + base64.StdEncoding.EncodeToString([]byte(question)))
					line, _ := in.ReadLine()
					given += "\x00" + decoded(line)
				}
			}
			reply := "235 welcome"
			if m.SignedIn = given == "\x00"+b.User+"\x00"+b.Password && way == b.way(); !m.SignedIn {
				reply = "535 wrong: " + given
			}
			answer("AUTH", reply)
		case "MAIL":
			m.From = address(rest)
			reply := "250 yes"
			if b.User != "" && !m.SignedIn {
				reply = "530 sign in"
			}
			answer(line, reply)
		case "RCPT":
			m.To = address(rest)
			answer(line, "250 yes")
		case "DATA":
			if !answer(line, "354 go on") {
				continue
			}
			raw, err := in.ReadDotBytes()
			if err != nil {
				return
			}
			one := m
			if err := one.read(string(raw)); err != nil {
				answer("", "554 "+err.Error())
				continue
			}
			b.mu.Lock()
			b.begun = append(b.begun, one)
			b.mu.Unlock()
			if b.note("."); answer(".", "250 taken") {
				b.take(one)
			}
		case "QUIT":
			answer(line, "221 bye")
			return
		default:
			answer(line, "250 yes")
		}
	}
}

// way is how one signs in.
func (b *Box) way() string {
	if b.Login {
		return "LOGIN"
	}
	return "PLAIN"
}

func decoded(text string) string {
	out, _ := base64.StdEncoding.DecodeString(text)
	return string(out)
}

// address returns what stands between < and >.
func address(text string) string {
	_, text, _ = strings.Cut(text, "<")
	text, _, _ = strings.Cut(text, ">")
	return text
}

// read reads the content of a mail.
func (m *Mail) read(raw string) error {
	parsed, err := mail.ReadMessage(strings.NewReader(raw))
	if err != nil {
		return err
	}
	m.Raw, m.Header = raw, parsed.Header
	if m.Subject, err = new(mime.WordDecoder).DecodeHeader(parsed.Header.Get("Subject")); err != nil {
		return err
	}
	text, err := io.ReadAll(quotedprintable.NewReader(parsed.Body))
	m.Text = strings.ReplaceAll(string(text), "\r\n", "\n")
	return err
}
