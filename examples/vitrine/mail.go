package main

import (
	"errors"
	"fmt"
	"net/url"

	"github.com/vitrine-go/vitrine/adapters/smtp"
)

const (
	// mailVariable is the environment variable with the password for the mail server.
	mailVariable = variablePrefix + "SMTP_PASSWORD"
	// smtpUsage says what -smtp wants.
	smtpUsage = "`URL` of a mail server, for invitations, requests to approve and mentions, with -base-url: " +
		"smtps://user@host:465, or smtp://user@host:587 with STARTTLS (without it to this machine alone); " +
		"?from=ADDRESS for another sender; the password is in " + mailVariable
)

// openMail reads -smtp.
func (s *server) openMail() error {
	if s.smtp == "" {
		return nil
	}
	if s.baseURL == "" {
		return usageError{errors.New("-smtp needs -base-url, which the links in mails begin with")}
	}
	u, err := url.Parse(s.baseURL)
	if err != nil {
		return nil // httpapi says what is wrong
	}
	if s.mail, err = smtp.New(s.smtp, s.getenv(mailVariable), u.Hostname()); err != nil {
		return usageError{fmt.Errorf("-smtp: %w; the password is in %s", err, mailVariable)}
	}
	return nil
}
