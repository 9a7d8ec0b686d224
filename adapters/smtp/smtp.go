// Package smtp sends the mails of adapters/signin through a mail server, by SMTP with TLS.
//
//	send, err := smtp.New("smtps://robot%40host.example@mail.example:465", password, "host.example")
//	people, err := signin.New(db, signin.Options{…, Mail: send})
//	go people.SendMails(ctx, apps)
package smtp

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/mail"
	"net/textproto"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"
	"golang.org/x/net/idna"

	"github.com/vitrine-go/vitrine/adapters/signin"
)

// The ports of a URL without one.
const (
	portTLS      = 465
	portSTARTTLS = 587
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
		if s.port, err = strconv.Atoi(u.Port()); err != nil || s.port < 1 || s.port > 65535 {
			return nil, fmt.Errorf("there is no port %q", u.Port())
		}
	}
	ip := net.ParseIP(s.host)
	s.near = !s.tls && (s.host == "localhost" || ip != nil && ip.IsLoopback())
	return s.send, nil
}

// server is a mail server, and who sends through it.
type server struct {
	host           string
	port           int
	tls            bool // from the start
	near           bool // on this machine, and may be without TLS
	user, password string
	from, domain   string
}

// send sends a mail over a connection of its own.
func (s *server) send(ctx context.Context, m signin.Mail) error {
	message, err := s.message(m)
	if err != nil {
		return fmt.Errorf("%w: the address of the person is malformed", signin.ErrRejected)
	}
	var conn net.Conn
	options := []gomail.Option{gomail.WithPort(s.port), gomail.WithHELO(s.domain), gomail.WithoutNoop(),
		gomail.WithoutRset(), // a server that closes the connection after a mail has taken it all the same
		gomail.WithDialContextFunc(func(ctx context.Context, network, address string) (net.Conn, error) {
			var err error
			if conn, err = (&net.Dialer{}).DialContext(ctx, network, address); err == nil && s.tls {
				secure := tls.Client(conn, s.config())
				return secure, secure.HandshakeContext(ctx)
			}
			return conn, err
		})}
	if deadline, ok := ctx.Deadline(); ok {
		options = append(options, gomail.WithTimeout(time.Until(deadline)))
	}
	switch {
	case s.tls:
		options = append(options, gomail.WithSSL())
	case s.near:
		options = append(options, gomail.WithTLSPolicy(gomail.TLSOpportunistic), gomail.WithTLSConfig(s.config()))
	default:
		options = append(options, gomail.WithTLSPolicy(gomail.TLSMandatory), gomail.WithTLSConfig(s.config()))
	}
	if s.user != "" {
		ways := []gomail.SMTPAuthType{gomail.SMTPAuthSCRAMSHA256, gomail.SMTPAuthPlain, gomail.SMTPAuthLogin}
		if s.near {
			ways = []gomail.SMTPAuthType{gomail.SMTPAuthSCRAMSHA256, gomail.SMTPAuthPlainNoEnc,
				gomail.SMTPAuthLoginNoEnc}
		}
		options = append(options, gomail.WithUsername(s.user), gomail.WithPassword(s.password),
			gomail.WithOpportunisticSMTPAuth(ways...))
	}
	client, err := gomail.NewClient(s.host, options...)
	if err != nil {
		return err
	}
	defer func() {
		if conn != nil {
			_ = conn.Close() // also if signing in has failed, after which the client forgets the connection
		}
	}()
	session, err := client.DialToSMTPClientWithContext(ctx)
	if err != nil {
		return plain("signing in to the mail server", err)
	}
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	if err := client.SendWithSMTPClient(session, message); err != nil {
		return plain("sending", err)
	}
	_ = client.CloseWithSMTPClient(session) // the mail is taken, whatever becomes of the connection
	return nil
}

// config is how TLS is spoken.
func (s *server) config() *tls.Config {
	// Nobody is between this machine and itself, and mail servers there have certificates that they made themselves.
	return &tls.Config{ServerName: s.host, MinVersion: tls.VersionTLS12, InsecureSkipVerify: s.near}
}

// message returns a mail as it is sent, or an error for a malformed address.
func (s *server) message(m signin.Mail) (*gomail.Msg, error) {
	to, err := mail.ParseAddress(m.Address)
	if err != nil {
		return nil, err
	}
	at := strings.LastIndexByte(to.Address, '@')
	domain, err := idna.Lookup.ToASCII(to.Address[at+1:])
	if err != nil {
		return nil, err
	}
	to = &mail.Address{Address: to.Address[:at+1] + domain}
	if to.String() != "<"+to.Address+">" {
		return nil, errors.New("it needs quotes, within which the commands of SMTP could be")
	}
	to.Name = m.Name
	out := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	out.SetAddrHeaderFromMailAddress(gomail.HeaderFrom, &mail.Address{Name: "Vitrine", Address: s.from})
	out.SetAddrHeaderFromMailAddress(gomail.HeaderTo, to)
	out.SetMessageIDWithValue(m.ID + "@" + s.domain)
	out.SetDate()
	out.SetGenHeader("Auto-Submitted", "auto-generated") // no answers of machines
	out.Subject(m.Subject)
	out.SetBodyString(gomail.TypeTextPlain, m.Text)
	return out, nil
}

// plain returns an error without what the server said, which may contain addresses.
func plain(doing string, err error) error {
	code := 0
	if answer, ok := errors.AsType[*textproto.Error](err); ok {
		code = answer.Code
	}
	failed, ok := errors.AsType[*gomail.SendError](err)
	if !ok && code == 0 {
		return fmt.Errorf("%s: %w", doing, err) // of the network or of TLS
	}
	if ok {
		doing, code = failed.Reason.String(), cmp.Or(code, failed.ErrorCode())
	}
	if code == 0 {
		return fmt.Errorf("%s: the connection broke", doing)
	}
	if ok && code >= 500 && slices.Contains([]gomail.SendErrReason{gomail.ErrSMTPRcptTo, gomail.ErrSMTPData,
		gomail.ErrSMTPDataClose}, failed.Reason) {
		return fmt.Errorf("%w: %s: the mail server answered %d", signin.ErrRejected, doing, code)
	}
	return fmt.Errorf("%s: the mail server answered %d", doing, code)
}
