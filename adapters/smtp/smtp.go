// Package smtp sends the mails of adapters/signin through a mail server, by SMTP with TLS.
//
//	send, err := smtp.New("smtps://robot%40host.example@mail.example:465", password, "host.example")
//	people, err := signin.New(db, signin.Options{…, Mail: send})
//	go people.SendMails(ctx, apps)
package smtp

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"net/smtp"
	"net/textproto"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/idna"

	"github.com/vitrine-go/vitrine/adapters/signin"
)

// The ports of a URL without one.
const (
	portTLS      = "465"
	portSTARTTLS = "587"
)

// New returns a function for signin.Options.Mail, or an error if its arguments are wrong; the error has no password.
//
// address is the URL of a mail server: smtps://user@host:465 speaks TLS from the start, and smtp://user@host:587 begins
// it with STARTTLS and sends nothing without it, except to localhost and addresses of this machine, where TLS is used
// if it is offered, whatever the certificate. The user, percent-encoded, signs in with the password; both or neither
// must be given. The sender is the parameter from (?from=robot@host.example), else the user if it is an address, else
// vitrine@ and domain, which is the name of the host that sends.
//
// An error of the function has neither addresses nor what the server said, but its code. It wraps signin.ErrRejected if
// the address of the person is malformed, or if the server has rejected the address or the mail with a code from 500.
func New(address, password, domain string) (func(context.Context, signin.Mail) error, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("it cannot be read: want a URL such as smtps://user@host:465")
	}
	user := ""
	if u.User != nil {
		user = u.User.Username()
		if _, given := u.User.Password(); given {
			return nil, errors.New("it has a password: give that apart, so that nobody reads it here")
		}
	}
	query, err := url.ParseQuery(u.RawQuery)
	sender := query.Get("from")
	query.Del("from")
	switch {
	case u.Scheme != "smtps" && u.Scheme != "smtp" || u.Hostname() == "":
		return nil, errors.New("want smtps://user@host:465, or smtp:// for STARTTLS")
	case err != nil || len(query) > 0 || strings.Trim(u.Path, "/")+u.Fragment != "":
		return nil, errors.New("want nothing after the port but ?from=ADDRESS")
	case user != "" && password == "":
		return nil, errors.New("it has a user, and the password is missing")
	case user == "" && password != "":
		return nil, errors.New("there is a password, and no user: want smtps://user@host:465")
	case sender == "" && strings.Contains(user, "@"):
		sender = user
	case sender == "":
		sender = "vitrine@" + domain
	}
	from, err := mail.ParseAddress(sender)
	if err != nil {
		return nil, fmt.Errorf("the sender %q is no address: want ?from=ADDRESS", sender)
	}
	s := &server{host: u.Hostname(), port: portSTARTTLS, tls: u.Scheme == "smtps", user: user, password: password,
		from: from.Address, domain: domain}
	if s.tls {
		s.port = portTLS
	}
	if u.Port() != "" {
		s.port = u.Port()
	}
	if n, err := strconv.Atoi(s.port); err != nil || n < 1 || n > 65535 {
		return nil, fmt.Errorf("there is no port %q", s.port)
	}
	ip := net.ParseIP(s.host)
	s.near = !s.tls && (s.host == "localhost" || ip != nil && ip.IsLoopback())
	return s.send, nil
}

// server is a mail server, and who sends through it.
type server struct {
	host           string
	port           string
	tls            bool // from the start
	near           bool // on this machine, and may be without TLS
	user, password string
	from, domain   string
}

// send sends a mail over a connection of its own.
func (s *server) send(ctx context.Context, m signin.Mail) error {
	to, content, err := s.message(m)
	if err != nil {
		return fmt.Errorf("%w: the address of the person is malformed", signin.ErrRejected)
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(s.host, s.port))
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })() // the server may not answer
	if s.tls {
		conn = tls.Client(conn, s.config())
	}
	c, err := smtp.NewClient(conn, s.host)
	if err == nil {
		err = c.Hello(s.domain)
	}
	if err == nil && !s.tls {
		err = s.startTLS(c)
	}
	if err == nil && s.user != "" {
		err = c.Auth(&credentials{s, ""})
	}
	if err == nil {
		err = c.Mail(s.from)
	}
	if err != nil { // of the server or its settings, and not of this mail
		return plain("signing in to the mail server", err)
	}
	err = c.Rcpt(to)
	if err == nil {
		var w io.WriteCloser
		if w, err = c.Data(); err == nil {
			_, _ = w.Write(content) // Close returns the error
			err = w.Close()
		}
	}
	if err == nil {
		_ = c.Quit() // the mail is taken, whatever becomes of the connection
		return nil
	}
	if answer, ok := errors.AsType[*textproto.Error](err); ok && answer.Code >= 500 {
		return fmt.Errorf("%w: the mail server answered %d", signin.ErrRejected, answer.Code)
	}
	return plain("sending", err)
}

// startTLS begins TLS, without which nothing is sent to another machine.
func (s *server) startTLS(c *smtp.Client) error {
	if offered, _ := c.Extension("STARTTLS"); offered {
		return c.StartTLS(s.config())
	}
	if s.near {
		return nil
	}
	return errors.New("it offers no STARTTLS")
}

// config is how TLS is spoken.
func (s *server) config() *tls.Config {
	// Nobody is between this machine and itself, and mail servers there have certificates that they made themselves.
	return &tls.Config{ServerName: s.host, MinVersion: tls.VersionTLS12, InsecureSkipVerify: s.near}
}

// credentials sign in with PLAIN or, where the server has that alone, with LOGIN. By then there is TLS, unless the
// server is on this machine.
type credentials struct {
	*server
	way string
}

// Start returns the way to sign in.
func (c *credentials) Start(offer *smtp.ServerInfo) (way string, first []byte, err error) {
	if c.way = "PLAIN"; !slices.Contains(offer.Auth, c.way) && slices.Contains(offer.Auth, "LOGIN") {
		c.way = "LOGIN"
		return c.way, nil, nil
	}
	return c.way, []byte("\x00" + c.user + "\x00" + c.password), nil
}

// Next returns the answer to a question of LOGIN.
func (c *credentials) Next(question []byte, more bool) ([]byte, error) {
	switch asked := strings.ToLower(string(question)); {
	case !more:
		return nil, nil
	case c.way == "LOGIN" && strings.HasPrefix(asked, "user"):
		return []byte(c.user), nil
	case c.way == "LOGIN" && strings.HasPrefix(asked, "pass"):
		return []byte(c.password), nil
	}
	return nil, errors.New("it asks for something else than a name and a password")
}

// message returns the address of a mail and its content with a header, or an error for a malformed address.
func (s *server) message(m signin.Mail) (address string, content []byte, err error) {
	to, err := mail.ParseAddress(m.Address)
	if err != nil {
		return "", nil, err
	}
	at := strings.LastIndexByte(to.Address, '@')
	domain, err := idna.Lookup.ToASCII(to.Address[at+1:])
	if err != nil {
		return "", nil, err
	}
	to = &mail.Address{Address: to.Address[:at+1] + domain}
	if to.String() != "<"+to.Address+">" {
		return "", nil, errors.New("it needs quotes, within which the commands of SMTP could be")
	}
	// What looks like an encoded word would be decoded, and could say anything.
	harmless := strings.NewReplacer("=?", "= ?")
	to.Name = harmless.Replace(m.Name)
	var b bytes.Buffer
	for _, field := range [][2]string{
		{"From", (&mail.Address{Name: "Vitrine", Address: s.from}).String()},
		{"To", to.String()},
		{"Subject", mime.QEncoding.Encode("utf-8", harmless.Replace(m.Subject))},
		{"Date", time.Now().Format(time.RFC1123Z)},
		{"Message-ID", "<" + m.ID + "@" + s.domain + ">"},
		{"Auto-Submitted", "auto-generated"}, // machines do not answer
		{"MIME-Version", "1.0"},
		{"Content-Type", "text/plain; charset=utf-8"},
		{"Content-Transfer-Encoding", "quoted-printable"},
	} {
		// A text that is not ASCII is encoded as words of 75 characters, and each goes into a line.
		fmt.Fprintf(&b, "%s: %s\r\n", field[0], strings.ReplaceAll(field[1], "?= =?", "?=\r\n =?"))
	}
	b.WriteString("\r\n")
	w := quotedprintable.NewWriter(&b)
	_, _ = w.Write([]byte(m.Text)) // a Buffer takes everything
	_ = w.Close()
	return to.Address, b.Bytes(), nil
}

// plain returns an error without what the server said, which may contain addresses.
func plain(doing string, err error) error {
	if answer, ok := errors.AsType[*textproto.Error](err); ok {
		return fmt.Errorf("%s: the mail server answered %d", doing, answer.Code)
	}
	return fmt.Errorf("%s: %w", doing, err) // of the network or of TLS
}
