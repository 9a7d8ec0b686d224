package signin

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/keyval"
	"github.com/vitrine-go/vitrine/internal/lease"
	"github.com/vitrine-go/vitrine/storage"
)

// Mail is a mail to a person. Name, Subject and Text contain names and titles that people have chosen, in UTF-8; the
// first two are one line each.
type Mail struct {
	ID      string // the same whenever the same is sent again: for the Message-ID, whose domain is missing
	Name    string // of the person
	Address string // as it was entered, which may be malformed
	Subject string
	Text    string // plain text
}

// ErrRejected is the kind of an error of Options.Mail for a mail that would never be accepted, such as one to an
// address that does not exist.
var ErrRejected = errors.New("the mail is not accepted")

const (
	mailLease   = "mail lease/" // the key of the lease of the process that sends
	mailTimeout = 15 * time.Second
	mostAtOnce  = 50 // mailboxes in one look
	mostTitle   = 120
)

// SendMails sends mails with Options.Mail until ctx is done: invitations that were made over HTTP to somebody with an
// address, and, to people who have not switched mails off, which releases ask them to approve and which comments
// mention them. apps must be the service of the same store, with Rights and People of this Service as its options.
//
// A mail has names, titles and links, and nothing of what comments and configs say. What the person may not see or do
// when it is sent is left out. A person gets a mail a minute at most, with all that came meanwhile. One that cannot be
// sent is tried again for a day, and so is one that is due when the process starts. Each process of a store may call
// SendMails; one at a time sends, and when it ends or dies another one goes on within 25 seconds. After a crash a mail
// may be sent once more.
func (s *Service) SendMails(ctx context.Context, apps *appsvc.Service) {
	if s.Mail == nil {
		return
	}
	heard := make(chan struct{})
	start, err := apps.Outbox(ctx, vitrine.ChangesRequest{After: vitrine.Now}) // before the lease is waited for
	go func() {
		defer close(heard)
		begin := func(_ context.Context, why error) (string, error) {
			if why == nil && err == nil {
				return start.Next, nil
			}
			return vitrine.Now, nil
		}
		err := vitrine.Follow(ctx, s.db, "mail", newsOf(apps), s.hear, vitrine.FollowOptions{Begin: begin, Log: s.Log})
		if ctx.Err() == nil {
			s.Log.Error("mail: the changes of apps are not followed any more", "cause", err.Error())
		}
	}()
	for ctx.Err() == nil {
		l, valid := lease.Acquire(ctx, s.db, mailLease, s.Log)
		if l == nil {
			break
		}
		m := &mailer{Service: s, apps: apps, valid: valid}
		m.run(ctx)
		l.Release(ctx)
	}
	<-heard
}

// newsOf returns the entries of the feed of apps that tell people something, and the last entry of each page: the
// position is stored after each, and most changes tell nobody anything.
func newsOf(apps *appsvc.Service) vitrine.Feed[appsvc.OutboxEvent] {
	f := apps.Feed()
	read := f.Read
	f.Read = func(ctx context.Context, in vitrine.ChangesRequest) (vitrine.ChangesPage[appsvc.OutboxEvent], error) {
		page, err := read(ctx, in)
		var kept []appsvc.OutboxEvent
		for i, e := range page.Changes {
			if len(e.Mentions)+len(e.Ask) > 0 || i == len(page.Changes)-1 {
				kept = append(kept, e)
			}
		}
		page.Changes = kept
		return page, err
	}
	return f
}

// mailer is a process while it sends mails.
type mailer struct {
	*Service
	apps  *appsvc.Service
	valid context.Context // done when another process may send
}

// run sends what is due until ctx is done, or valid.
func (m *mailer) run(ctx context.Context) {
	for wait := time.Second; ctx.Err() == nil && m.valid.Err() == nil; {
		changed := m.db.Changed(space)
		due, next, err := m.due(ctx)
		for _, id := range due { // a record about one person that cannot be read stops no mails of others
			if ctx.Err() == nil && m.valid.Err() == nil {
				err = errors.Join(err, m.sendTo(ctx, id))
			}
		}
		if err == nil {
			wait = time.Second
			if len(due) > 0 {
				continue
			}
		} else if ctx.Err() == nil {
			m.Log.Warn("mail: the store does not give what is to be sent, trying again", "cause", err.Error())
			changed, next, wait = nil, wait, min(2*wait, time.Minute)
		}
		m.pause(ctx, next, changed)
	}
}

// pause waits for a time, and ends earlier if wake is closed, or if there is nothing to do any more.
func (m *mailer) pause(ctx context.Context, d time.Duration, wake <-chan struct{}) {
	select {
	case <-time.After(d):
	case <-wake:
	case <-ctx.Done():
	case <-m.valid.Done():
	}
}

// due returns the people whose mailboxes are due, and when the next one is if there are none.
func (m *mailer) due(ctx context.Context) (ids []string, next time.Duration, err error) {
	now, prefix := m.millis(), keyval.Prefix(space, "maildue/")
	in := storage.Prefix(prefix)
	in.Limit, in.Expect = mostAtOnce, 1
	err = m.db.View(ctx, func(r storage.Reader) error {
		ids, next = nil, time.Hour
		for e, err := range r.Scan(ctx, in) {
			if err != nil {
				return err
			}
			parts := keyval.Parts(e.Key, prefix)
			at, err := keyval.ParseNumber(parts[0])
			if err != nil {
				return err
			}
			// No mail waits for longer than lastMailWait, but a clock may have been ahead.
			if at > now && at <= now+lastMailWait.Milliseconds() {
				next = time.Duration(at-now) * time.Millisecond
				break
			}
			ids = append(ids, parts[1])
		}
		return nil
	})
	return ids, next, err
}

// sendTo sends what is in a mailbox that is due, and stores what has become of it.
func (m *mailer) sendTo(ctx context.Context, id string) error {
	var box *mailbox
	p, err := view(ctx, m.db, func(r storage.Reader) (p *person, err error) {
		if box, err = read[mailbox](ctx, r, mailboxKey(id)); err == nil {
			p, err = read[person](ctx, r, personKey(id))
		}
		return p, err
	})
	if err != nil || box == nil {
		return err
	}
	items, log := box.Items, m.Log.With("person", id)
	fresh := slices.DeleteFunc(slices.Clone(items), func(i appsvc.InboxItem) bool {
		return i.At < m.millis()-mailLife.Milliseconds()
	})
	if old := len(items) - len(fresh); old > 0 {
		log.Error("mail: given up what could not be sent for a day", "items", old)
	}
	var mail *Mail
	if p != nil && p.getsMail() {
		if mail, err = m.write(ctx, p, mailbox{Items: fresh, More: box.More}); err != nil {
			return err
		}
	}
	if mail == nil {
		return m.settle(ctx, id, func(now *mailbox) { now.drop(items) })
	}
	// What is under way is completed when the server stops.
	sending, cancel := context.WithTimeout(context.WithoutCancel(ctx), mailTimeout)
	err = m.Mail(sending, *mail)
	cancel()
	return m.settle(ctx, id, func(now *mailbox) {
		switch {
		case err == nil:
			log.Debug("mail: sent")
			now.drop(items)
			now.Due = m.millis() + mailEvery.Milliseconds()
		case errors.Is(err, ErrRejected):
			log.Error("mail: given up", "cause", err.Error())
			now.drop(items)
			now.Due = m.millis() + mailEvery.Milliseconds()
		default:
			wait := min(firstMailWait<<min(now.Failed, 10), lastMailWait)
			log.Warn("mail: not sent, trying again", "in", wait, "cause", err.Error())
			now.Failed, now.Due = now.Failed+1, m.millis()+wait.Milliseconds()
		}
	})
}

// drop removes items that were handled. What came again meanwhile stays. Nothing is left to wait for then, unless there
// are others.
func (box *mailbox) drop(handled []appsvc.InboxItem) {
	box.Items = slices.DeleteFunc(box.Items, func(i appsvc.InboxItem) bool { return slices.Contains(handled, i) })
	if box.Failed = 0; len(box.Items) == 0 {
		box.Due, box.More = 0, false
	}
}

// settle changes a mailbox. It tries again until the store takes the change or another process may send: else the mail
// would be sent again.
func (m *mailer) settle(ctx context.Context, id string, change func(*mailbox)) error {
	for {
		err := m.update(m.valid, func(t *tx) error { return changeMailbox(m.valid, t, id, change) })
		if err == nil || ctx.Err() != nil || m.valid.Err() != nil {
			return err
		}
		m.pause(ctx, time.Second, nil)
	}
}

// news is what a mail says about an item: a sentence, which is the subject of a mail about it alone, and more.
type news struct{ said, more, link string }

// write returns the mail that tells a person of what is in a mailbox, as far as they may know it now, and nil if there
// is nothing to tell.
func (m *mailer) write(ctx context.Context, p *person, box mailbox) (*Mail, error) {
	by, _, err := m.Rights(ctx, p.URN)
	if errors.Is(err, vitrine.ErrForbidden) || errors.Is(err, vitrine.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	session := m.apps.As(by)
	waits, err := waiting(ctx, session, box.Items)
	if err != nil {
		return nil, err
	}
	var all []news
	invited := 0
	for _, item := range box.Items {
		who, err := m.nameFor(ctx, p, item.By)
		if err != nil {
			return nil, err
		}
		var n news
		switch {
		case item.Kind == inviteItem:
			var expires int64
			if n.link, expires, err = m.anotherLink(ctx, p.ID); n.link != "" {
				n.said = fmt.Sprintf("%s invites you to %s.", who, m.host())
				n.more = fmt.Sprintf(" You sign in with a passkey, which this link makes. It is good once, until %s. "+
					"Whoever has it can become you, so do not pass it on.",
					time.UnixMilli(expires).UTC().Format("2 January 2006, 15:04 MST"))
				invited++
			}
		case !slices.ContainsFunc(waits, func(w appsvc.InboxItem) bool { return sameNews(w, item) }):
		case item.Kind == appsvc.InboxApprove:
			var rel appsvc.Release
			if rel, err = session.Release(ctx, item.Release); err == nil && slices.Contains(rel.Ask, p.URN) {
				n = news{said: fmt.Sprintf("%s asks you to approve %s.", who, titled("the release", rel.Name)),
					link: m.BaseURL + "/#/releases/" + url.PathEscape(rel.ID)}
			}
		default:
			var app appsvc.App
			if app, err = session.App(ctx, item.AppID); err == nil {
				n = news{said: fmt.Sprintf("%s mentions you in a comment on %s.", who, titled("the app", app.Title)),
					link: m.BaseURL + "/#/apps/" + url.PathEscape(app.ID) + "?comments=1"}
			}
		}
		switch {
		case errors.Is(err, vitrine.ErrNotFound): // it went away, or the right to see it, since waiting was called
		case err != nil:
			return nil, err
		case n.said != "":
			all = append(all, n)
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	out := &Mail{ID: mailID(p.ID, box.Items), Name: oneLine(p.Name, mostName), Address: p.Email,
		Subject: fmt.Sprintf("%d things wait for you at %s", len(all), m.host())}
	if len(all) == 1 {
		out.Subject = strings.TrimSuffix(all[0].said, ".")
	}
	text := &strings.Builder{}
	fmt.Fprintf(text, "Hello %s,\n\n", out.Name)
	for _, n := range all {
		fmt.Fprintf(text, "%s%s\n%s\n\n", n.said, n.more, n.link)
	}
	if box.More {
		fmt.Fprintf(text, "There is more:\n%s/#/inbox\n\n", m.BaseURL)
	}
	if invited < len(all) {
		fmt.Fprintf(text, "Mails can be switched off in your account:\n%s/#/account\n", m.BaseURL)
	}
	out.Text = text.String()
	return out, nil
}

// waiting returns the items that are in the inbox of a session's caller now, back to the time of the oldest one of
// items.
func waiting(
	ctx context.Context, session *appsvc.Session, items []appsvc.InboxItem,
) (all []appsvc.InboxItem, err error) {
	wanted := slices.DeleteFunc(slices.Clone(items), func(i appsvc.InboxItem) bool { return i.Kind == inviteItem })
	if len(wanted) == 0 {
		return nil, nil
	}
	oldest := slices.MinFunc(wanted, func(a, b appsvc.InboxItem) int { return cmp.Compare(a.At, b.At) }).At
	// An entry of the feed is a little younger than the mention that it is about.
	oldest -= time.Minute.Milliseconds()
	in := appsvc.InboxRequest{Limit: 500}
	for {
		page, err := session.Inbox(ctx, in)
		if err != nil {
			return nil, err
		}
		all = append(all, page.Items...)
		if in.After = page.Next; in.After == "" || len(all) > 0 && all[len(all)-1].At < oldest {
			return all, nil
		}
	}
}

// nameFor returns the name of the user who has invited, asked or mentioned a person. A person of another network does
// not see the name, and gets "Somebody".
func (m *mailer) nameFor(ctx context.Context, p *person, user string) (string, error) {
	by, err := view(ctx, m.db, func(r storage.Reader) (named, error) { return nameOf(ctx, r, user) })
	if err != nil || by.Name == "" || networkOf(user) != networkOf(p.URN) {
		return "Somebody", err
	}
	return oneLine(by.Name, mostName), nil
}

// host returns the name of the server in BaseURL.
func (m *mailer) host() string {
	u, err := url.Parse(m.BaseURL)
	if err != nil {
		return m.BaseURL
	}
	return u.Host
}

// titled returns what something is, and its title if it has one.
func titled(what, title string) string {
	if title = oneLine(title, mostTitle); title == "" {
		return what + " without a name"
	}
	return what + " “" + title + "”"
}

// oneLine returns a text without line breaks, control characters and what turns the direction of a text, cut after most
// characters.
func oneLine(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Bidi_Control, r):
			return -1
		case unicode.IsControl(r) || unicode.IsSpace(r):
			return ' '
		}
		return r
	}, text)
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return string(runes)
}

// mailID returns the ID of a mail: the same for the same items, so that a mail that was sent twice can be recognized.
func mailID(person string, items []appsvc.InboxItem) string {
	text, err := json.Marshal(items)
	if err != nil {
		panic("signin: " + err.Error()) // items have nothing that cannot be marshaled
	}
	sum := sha256.Sum256(append([]byte(person+"\n"), text...))
	return base64.RawURLEncoding.EncodeToString(sum[:18])
}
