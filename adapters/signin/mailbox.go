package signin

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/keyval"
	"github.com/vitrine-go/vitrine/storage"
)

// What a person is to be told by mail waits in a mailbox of the store, as the ids of releases and comments: what the
// mail says is found out when it is sent (mailer.go), by the rights that the person has then. An invitation is put
// there by the transaction that makes it, and what releases and comments say by the follower of the feed of apps.

// inviteItem is the kind of an item of a mailbox for an invitation. The other kinds are those of an inbox.
const inviteItem appsvc.InboxKind = "invite"

// The limits of mails.
const (
	mailEvery     = time.Minute    // between two mails to a person
	mailLife      = 24 * time.Hour // how long sending is tried
	mostTold      = 100            // items that a mailbox has
	mostMailed    = 5              // links of one invitation that are good
	mostInvited   = 20             // invitations by one person that are mailed within invitedLife
	invitedLife   = time.Hour
	firstMailWait = 10 * time.Second // after a mail that could not be sent; it doubles each time
	lastMailWait  = 15 * time.Minute
)

// mailbox has what a person is to be told by mail.
type mailbox struct {
	Items []appsvc.InboxItem `json:"items"` // in the order in which they came
	More  bool               `json:"more,omitempty"`
	// Due is when they are sent: a minute after the mail before, or when one that failed is tried again. A mailbox
	// without items waits for the end of this minute.
	Due    int64 `json:"due"`
	Failed int   `json:"failed,omitempty"` // attempts since a mail was sent
}

func mailboxKey(id string) string  { return keyval.Key(space, "mailbox/", id) }
func mailedKey(user string) string { return keyval.Key(space, "mailed/", user) }
func mailDueKey(due int64, id string) string {
	return keyval.Key(space, "maildue/", keyval.Number(due), id)
}

// changeMailbox changes the mailbox of a person, which is new or stored. One whose Due is 0 is deleted.
func changeMailbox(ctx context.Context, t storage.Tx, id string, change func(*mailbox)) error {
	box, err := read[mailbox](ctx, t, mailboxKey(id))
	if err != nil {
		return err
	}
	if box == nil {
		box = &mailbox{}
	} else if err := t.Delete(ctx, mailboxKey(id), mailDueKey(box.Due, id)); err != nil {
		return err
	}
	if change(box); box.Due == 0 {
		return nil
	}
	return t.Put(ctx, keyval.JSON(mailboxKey(id), box), entry(mailDueKey(box.Due, id), ""))
}

// sameNews reports whether two items are about the same release, comment or invitation.
func sameNews(a, b appsvc.InboxItem) bool {
	a.At, a.By = b.At, b.By
	return a == b
}

// tell puts an item into the mailbox of a person, in place of an earlier one about the same. If there are too many, the
// oldest one that is no invitation is dropped.
func (s *Service) tell(ctx context.Context, t storage.Tx, p *person, item appsvc.InboxItem) error {
	now := s.millis()
	return changeMailbox(ctx, t, p.ID, func(box *mailbox) {
		box.Items = slices.DeleteFunc(box.Items, func(old appsvc.InboxItem) bool { return sameNews(old, item) })
		if len(box.Items) >= mostTold {
			oldest := slices.IndexFunc(box.Items, func(i appsvc.InboxItem) bool { return i.Kind != inviteItem })
			box.Items, box.More = slices.Delete(box.Items, oldest, oldest+1), true
		}
		if box.Items = append(box.Items, item); box.Due == 0 || box.Due > now+lastMailWait.Milliseconds() {
			box.Due = now // a time that is further away is that of a clock that was ahead
		}
	})
}

// getsMail reports whether mails are sent to a person.
func (p *person) getsMail() bool { return p.Email != "" && !p.NoMail && !p.Disabled }

// mailInvitation puts the invitation of a person into their mailbox, unless they get no mail. It returns ErrTooMany if
// too many invitations by the caller were mailed within the hour.
func (s *Service) mailInvitation(c *call, t *tx, p *person) (mailed bool, err error) {
	ctx, now := c.Context(), s.millis()
	if !p.getsMail() {
		return false, nil
	}
	// the times of those that were mailed within the hour
	times, err := read[[]int64](ctx, t, mailedKey(c.URN))
	if err != nil {
		return false, err
	}
	if times == nil {
		times = new([]int64)
	}
	begun := now - invitedLife.Milliseconds()
	*times = slices.DeleteFunc(*times, func(at int64) bool { return at <= begun || at > now })
	if len(*times) >= mostInvited {
		wait := time.Duration((*times)[0]-begun) * time.Millisecond
		c.Request.Header.Set("Retry-After", strconv.Itoa(int(wait/time.Second)+1))
		return false, &vitrine.Error{Kind: httpapi.ErrTooMany, Code: "too_many", Reason: fmt.Sprintf(
			"you have mailed %d invitations within an hour, as many as one may: wait until the first is an hour old",
			mostInvited)}
	}
	*times = append(*times, now)
	if err := t.Put(ctx, keyval.JSON(mailedKey(c.URN), times)); err != nil {
		return false, err
	}
	return true, s.tell(ctx, t, p, appsvc.InboxItem{Kind: inviteItem, At: now, By: c.URN})
}

// anotherLink returns another link of a person's invitation, for the mail: the store has only the hash of the one that
// was told. It returns "" if there is no invitation any more, or it is too old.
func (s *Service) anotherLink(ctx context.Context, id string) (link string, expires int64, err error) {
	err = s.update(ctx, func(t *tx) error {
		link = ""
		p, err := read[person](ctx, t, personKey(id))
		if err != nil || p == nil || !p.getsMail() || p.Invitation == nil || p.Invitation.Expires <= s.millis() {
			return err
		}
		secret, hash := newSecret(invitationPrefix)
		// A mail that seemed to have failed may have arrived, so its link stays good.
		if p.Invitation.Mailed = append(p.Invitation.Mailed, hash); len(p.Invitation.Mailed) > mostMailed {
			if err := t.Delete(ctx, invitationKey(p.Invitation.Mailed[0])); err != nil {
				return err
			}
			p.Invitation.Mailed = p.Invitation.Mailed[1:]
		}
		link, expires = s.BaseURL+"/#invite="+secret, p.Invitation.Expires
		if err := putPerson(ctx, t, p); err != nil {
			return err
		}
		return t.Put(ctx, entry(invitationKey(hash), p.ID))
	})
	return link, expires, err
}

// mailSetting is the body of x/me/mail.
type mailSetting struct {
	Off bool `json:"off"`
}

// ownPerson returns the person who calls, with a session or with a token that has the person's URN.
func (c *call) ownPerson(r storage.Reader) (*person, error) {
	p, _, err := byURN(c.Context(), r, c.URN)
	if err == nil && p == nil {
		err = fault.Forbidden("no person has the URN of this token, so nobody gets mails: sign in")
	}
	return p, err
}

// mailOf serves GET /x/me/mail: whether the caller has switched mails off.
func (s *Service) mailOf(c *call, r storage.Reader) (any, error) {
	p, err := c.ownPerson(r)
	if err != nil {
		return nil, err
	}
	return mailSetting{p.NoMail}, nil
}

// setMail serves PUT /x/me/mail: the caller switches mails off or on.
func (s *Service) setMail(c *call, t *tx) (any, error) {
	var in struct {
		Off *bool `json:"off"`
	}
	if err := c.Decode(&in); err != nil {
		return nil, err
	}
	if in.Off == nil {
		return nil, fault.Invalid("/off", "missing: want true for no mails, or false")
	}
	p, err := c.ownPerson(t)
	if err != nil {
		return nil, err
	}
	p.NoMail = *in.Off
	return mailSetting{p.NoMail}, putPerson(c.Context(), t, p)
}

// hear puts what an entry of the feed of apps tells people into their mailboxes.
func (s *Service) hear(ctx context.Context, e appsvc.OutboxEvent) error {
	item := appsvc.InboxItem{Kind: appsvc.InboxMention, At: e.At, AppID: e.AppID, Comment: e.Comment, By: e.By}
	to := e.Mentions
	if e.Type == appsvc.ReleaseChanged {
		to, item = e.Ask, appsvc.InboxItem{Kind: appsvc.InboxApprove, At: e.At, Release: e.Release, By: e.By}
	}
	if len(to) == 0 || e.At < s.millis()-mailLife.Milliseconds() {
		return nil
	}
	return s.update(ctx, func(t *tx) error {
		for _, user := range to {
			p, _, err := byURN(ctx, t, user)
			if err == nil && p != nil && p.getsMail() {
				err = s.tell(ctx, t, p, item)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}
