package appsvc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc/internal/records"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/jsonpointer"
	"github.com/vitrine-go/vitrine/internal/keyval"
	"github.com/vitrine-go/vitrine/internal/paging"
	"github.com/vitrine-go/vitrine/internal/urn"
	"github.com/vitrine-go/vitrine/storage"
)

// The limits of comments.
const (
	mostCommentText = 4096 // characters, of a comment or a reply
	mostReplies     = 100  // to a comment
	mostMentions    = 20   // in one request
	mostMentioned   = 100  // in a comment and its replies together
	mostPointer     = 1024 // bytes of a pointer into a config

	mostOpenComments    = 1000   // of an app
	mostOpenOfPerson    = 100    // of an app, by one person
	mostCommentsOfAnApp = 10_000 // open and resolved ones
)

// Comment is what somebody says about an app, an element of it or a value in the config of an element, with the replies
// of others. In JSON it is
//
//	{"id", "version", "element", "pointer", "text", "by": {"urn"}, "agent", "createdAt", "editedAt", "resolvedAt",
//	 "resolvedBy": {"urn"}, "replies": [{"id", "text", "by": {"urn"}, "agent", "createdAt"}], "mentions": [URN], "gone"}
//
// with times in milliseconds since the epoch, and null where there is nothing. The members agent and gone are left out
// where they do not apply.
//
// # Comments
//
// Whoever may read an app may read its comments. A person who may read it may also write some; the key of a program may
// where it may change the app. Everybody changes and deletes their own comments. Who may change the app, and who has
// made a comment, resolves it and opens it again.
//
// A comment belongs to the key of an element, and so stays with an element that is moved, changed or restored. A
// comment is Gone while the latest version has no element with this key.
//
// The Mentions of a comment are people of the network of who mentions them, who may read the app. They are named in the
// request, and not found in the text. Options.Rights says who is known.
//
// An app has at most 1,000 open comments, 100 of them by one person, and 10,000 comments altogether. A comment has at
// most 100 replies. EraseApp erases the comments of an app, and Service.EraseComments those of a person.
type Comment struct {
	ID      string          `json:"id"`      // a number, 1 for the first comment of the app
	Version vitrine.Version `json:"version"` // of the app, on which the comment was made
	Element string          `json:"element"` // key of an element; "" = the app as a whole
	// JSON pointer (RFC 6901) into the config of the element; "" = none
	Pointer    string   `json:"pointer"`
	Text       string   `json:"text"`           // up to 4,096 characters; it is plain text
	By         string   `json:"by"`             // URN of the user who made it
	Agent      string   `json:"agent,omitzero"` // the name of the user's API key, if an agent made it; "" = none
	CreatedAt  int64    `json:"createdAt"`
	EditedAt   int64    `json:"editedAt"`   // when its author changed the text; 0 = never
	ResolvedAt int64    `json:"resolvedAt"` // 0 = it is open
	ResolvedBy string   `json:"resolvedBy"` // URN of a user; "" = it is open
	Replies    []Reply  `json:"replies"`    // oldest first
	Mentions   []string `json:"mentions"`   // URNs of people, also of those whom replies mention
	Gone       bool     `json:"gone,omitzero"`
}

// Reply is a reply to a comment.
type Reply struct {
	ID        string `json:"id"` // a number, 1 for the first reply to the comment
	Text      string `json:"text"`
	By        string `json:"by"`             // URN of the user who made it
	Agent     string `json:"agent,omitzero"` // as in Comment
	CreatedAt int64  `json:"createdAt"`
}

// orNull returns nil for a zero value, whose JSON is null.
func orNull[T comparable](v T) *T {
	if v == *new(T) {
		return nil
	}
	return &v
}

// MarshalJSON writes the members that the comment of Comment lists; the lists are never null.
func (c Comment) MarshalJSON() ([]byte, error) {
	type members Comment
	return json.Marshal(struct {
		members
		Element    *string `json:"element"`
		Pointer    *string `json:"pointer"`
		By         user    `json:"by"`
		EditedAt   *int64  `json:"editedAt"`
		ResolvedAt *int64  `json:"resolvedAt"`
		ResolvedBy *user   `json:"resolvedBy"`
	}{members(c), orNull(c.Element), orNull(c.Pointer), user{c.By}, orNull(c.EditedAt), orNull(c.ResolvedAt),
		orNull(user{c.ResolvedBy})})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (c *Comment) UnmarshalJSON(text []byte) error {
	type members Comment
	return json.Unmarshal(text, (*members)(c), usersAsURNs)
}

// MarshalJSON writes {"id", "text", "by": {"urn"}, "createdAt"}.
func (r Reply) MarshalJSON() ([]byte, error) {
	type members Reply
	return json.Marshal(struct {
		members
		By user `json:"by"`
	}{members(r), user{r.By}})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (r *Reply) UnmarshalJSON(text []byte) error {
	type members Reply
	return json.Unmarshal(text, (*members)(r), usersAsURNs)
}

// shownComment returns a stored comment as responses have it. keys are those of the elements of the latest version.
func shownComment(c records.Comment, keys map[string]bool) Comment {
	out := Comment{ID: strconv.FormatInt(c.Number, 10), Version: vitrine.NewVersion(c.Version), Element: c.Element,
		Pointer: c.Pointer, Text: c.Text, By: c.By, Agent: c.Agent, CreatedAt: c.CreatedAt, EditedAt: c.EditedAt,
		ResolvedAt: c.ResolvedAt, ResolvedBy: c.ResolvedBy, Gone: c.Element != "" && !keys[c.Element]}
	for _, r := range c.Replies {
		out.Replies = append(out.Replies, shownReply(r))
	}
	for _, m := range c.Mentions {
		out.Mentions = append(out.Mentions, m.URN)
	}
	return out
}

func shownReply(r records.Reply) Reply {
	return Reply{ID: strconv.FormatInt(r.Number, 10), Text: r.Text, By: r.By, Agent: r.Agent, CreatedAt: r.CreatedAt}
}

// size is about the number of bytes of a comment in JSON.
func (c Comment) size() int {
	n := 400 + len(c.Text) + len(c.Pointer)
	for _, r := range c.Replies {
		n += 150 + len(r.Text)
	}
	for _, m := range c.Mentions {
		n += 3 + len(m)
	}
	return n
}

// keys returns the keys of the elements of a stored body.
func (s *Session) keys(body Body) (map[string]bool, error) {
	if err := s.mayTake(len(body)); err != nil {
		return nil, err
	}
	d, err := body.draft()
	keys := make(map[string]bool, len(d.elements))
	for _, e := range d.elements {
		keys[e.key] = true
	}
	return keys, err
}

// ListCommentsRequest asks for the comments of an app, newest first.
type ListCommentsRequest struct {
	AppID string
	Open  bool   // only those that are not resolved
	After string // Next of the page before; "" = the first page
	Limit int    // 1 to 500; 0 = 100
}

// ListComments returns a page of the comments of an app with their replies, newest first. It returns ErrNotFound if
// there is no such app or the caller may not read it, and ErrInvalid if Limit is out of range or After is not a cursor
// of this list.
func (s *Session) ListComments(ctx context.Context, in ListCommentsRequest) (vitrine.Page[Comment], error) {
	s = s.calls("ListComments")
	return list(ctx, s, in.Limit, 100, func(r *reader, limit int) (page vitrine.Page[Comment], err error) {
		name := "comments " + in.AppID
		before, err := numberIn(name, "after", in.After)
		if err != nil {
			return page, err
		}
		if _, err := readableHead(ctx, r, s.by, in.AppID); err != nil {
			return page, err
		}
		var keys map[string]bool // read for the first comment of an element
		comments := keyval.Map(r.Comments(ctx, in.AppID, in.Open, before, limit+1),
			func(c records.Comment) (Comment, error) {
				if c.Element != "" && keys == nil {
					last, err := r.latest(ctx, in.AppID)
					if err == nil {
						keys, err = s.keys(last.Body)
					}
					if err != nil {
						return Comment{}, err
					}
				}
				return shownComment(c, keys), nil
			})
		return fill(s.service, limit, comments, Comment.size, func(last Comment) string {
			number, _ := strconv.ParseInt(last.ID, 10, 64)
			return cursor(name, number, "")
		})
	})
}

// AllComments yields the comments of an app, newest first, page by page. The first error is the last pair.
func (s *Session) AllComments(ctx context.Context, in ListCommentsRequest) iter.Seq2[Comment, error] {
	return paging.All(&in.After, func() (vitrine.Page[Comment], error) { return s.ListComments(ctx, in) })
}

// CreateCommentRequest is a new comment.
type CreateCommentRequest struct {
	AppID    string          `json:"-"`
	Version  vitrine.Version `json:"version,omitzero"`  // of the app, that its author has seen; zero = the latest
	Element  string          `json:"element,omitzero"`  // key of an element of this version; "" = the app as a whole
	Pointer  string          `json:"pointer,omitzero"`  // JSON pointer into its config, up to 1,024 bytes; "" = none
	Text     string          `json:"text"`              // 1 to 4,096 characters
	Mentions []string        `json:"mentions,omitzero"` // URNs of up to 20 people
}

// CreateComment adds a comment to an app.
//
// It returns ErrInvalid if a field is malformed or too long; ErrNotFound if there is no such app or version, or if the
// caller may not read the app; and ErrForbidden for the key of a program that may not change the app. It returns
// ErrUnprocessable if the version has no such element, if a mentioned person is not known or may not read the app, or
// with CodeLimit if there are as many comments as the comment of Comment says.
func (s *Session) CreateComment(ctx context.Context, in CreateCommentRequest) (Comment, error) {
	s = s.calls("CreateComment")
	if err := s.check(); err != nil {
		return Comment{}, err
	}
	if err := cmp.Or(checkPointer(in.Element, in.Pointer), checkComment(in.Text, in.Mentions)); err != nil {
		return Comment{}, err
	}
	app, keys, err := s.keysOf(ctx, in.AppID, cmp.Or(in.Version, vitrine.Latest))
	if err == nil && in.Element != "" && !keys[in.Element] {
		err = fault.NotApplicable("/element", "version %q has no element with this key", app.Version)
	}
	if err != nil {
		return Comment{}, err
	}
	return s.changeComment(ctx, in.AppID, 0, in.Mentions, func(tx *writer, _ appHead, c *records.Comment) error {
		*c = records.Comment{Version: app.Version.Number(), Element: in.Element, Pointer: in.Pointer, Text: in.Text,
			By: s.by.URN, Agent: s.by.Agent, CreatedAt: s.service.millis()}
		return nil
	})
}

// keysOf returns a version of an app on which the caller may comment, and the keys of its elements.
func (s *Session) keysOf(ctx context.Context, id string, v vitrine.Version) (App, map[string]bool, error) {
	_, err := view(ctx, s, func(r *reader) (appHead, error) { return commentableHead(ctx, r, s.by, id) })
	if err != nil {
		return App{}, nil, err
	}
	app, err := s.versionFor(ctx, false, id, v, "/version")
	if err != nil {
		return App{}, nil, err
	}
	keys, err := s.keys(app.Body)
	return app, keys, err
}

// checkPointer returns ErrInvalid unless a pointer is one into the config of an element.
func checkPointer(element, pointer string) error {
	switch {
	case pointer != "" && element == "":
		return fault.Invalid("/pointer", "it leads into the config of an element: want /element beside it")
	case len(pointer) > mostPointer || !jsonpointer.Valid(pointer) || !isText(pointer):
		return fault.Invalid("/pointer", "want a JSON pointer of at most %d bytes", mostPointer)
	}
	return nil
}

// checkComment returns ErrInvalid if a text or a list of mentions is malformed or too long.
func checkComment(text string, mentions []string) error {
	if strings.TrimSpace(text) == "" {
		return fault.Invalid("/text", "must not be empty")
	}
	if err := checkText("/text", text, mostCommentText); err != nil {
		return err
	}
	return checkUsers("/mentions", mentions, mostMentions)
}

// checkUsers returns ErrInvalid unless a list has the URNs of users, and at most so many.
func checkUsers(pointer string, users []string, most int) error {
	if len(users) > most {
		return fault.Invalid(pointer, "there are %d, at most %d", len(users), most)
	}
	for i, user := range users {
		if err := urn.CheckUser(user); err != nil {
			return fault.Invalid(pointer+"/"+strconv.Itoa(i), "%s", err)
		}
	}
	return nil
}

// UpdateCommentRequest changes a comment: its text, or whether it is resolved.
type UpdateCommentRequest struct {
	AppID    string   `json:"-"`
	ID       string   `json:"-"`
	Text     *string  `json:"text,omitzero"`
	Mentions []string `json:"mentions,omitzero"` // beside Text: in place of those before; nil = they stay
	Resolved *bool    `json:"resolved,omitzero"`
}

// UpdateComment changes the text of a comment of the caller, or resolves a comment or opens it again, which the author
// and those who may change the app may do. A comment that is as the request says stays unchanged: who resolves it first
// is its ResolvedBy.
//
// It returns the errors of CreateComment. It also returns ErrInvalid unless the request has either Text or Resolved,
// ErrNotFound if the app has no such comment, and ErrForbidden if the caller may not change it so.
func (s *Session) UpdateComment(ctx context.Context, in UpdateCommentRequest) (Comment, error) {
	if err := s.check(); err != nil {
		return Comment{}, err
	}
	switch {
	case (in.Text == nil) == (in.Resolved == nil):
		return Comment{}, fault.Invalid("", "want either /text or /resolved")
	case in.Text == nil && in.Mentions != nil:
		return Comment{}, fault.Invalid("/mentions", "want /text beside it")
	case in.Text != nil:
		if err := checkComment(*in.Text, in.Mentions); err != nil {
			return Comment{}, err
		}
	}
	return s.changeComment(ctx, in.AppID, commentNumber(in.ID), in.Mentions,
		func(tx *writer, h appHead, c *records.Comment) error {
			now := s.service.millis()
			if in.Text != nil {
				if !s.by.Owns(c.By) {
					return fault.Forbidden("only who has made a comment changes its text")
				}
				if in.Mentions != nil {
					c.Mentions = slices.DeleteFunc(c.Mentions, func(m records.Mention) bool {
						return !slices.Contains(in.Mentions, m.URN)
					})
				} else if *in.Text == c.Text {
					return errUnchanged
				}
				c.Text, c.EditedAt = *in.Text, max(now, c.CreatedAt)
				return nil
			}
			switch {
			case !s.by.Owns(c.By) && !mayUse(s.by, h):
				return fault.Forbidden("only who has made a comment, and who may change the app, resolves it")
			case *in.Resolved == (c.ResolvedAt != 0):
				return errUnchanged
			case *in.Resolved:
				c.ResolvedAt, c.ResolvedBy = max(now, c.CreatedAt, 1), s.by.URN
			default:
				c.ResolvedAt, c.ResolvedBy = 0, ""
			}
			return nil
		})
}

// DeleteComment removes a comment of the caller, with its replies. It returns ErrNotFound if there is no such app or
// comment or the caller may not read the app, and ErrForbidden if somebody else has made the comment.
func (s *Session) DeleteComment(ctx context.Context, appID, id string) error {
	_, err := s.changeComment(ctx, appID, commentNumber(id), nil,
		func(tx *writer, _ appHead, c *records.Comment) error {
			if !s.by.Owns(c.By) {
				return fault.Forbidden("only who has made a comment deletes it")
			}
			*c = records.Comment{}
			return nil
		})
	return err
}

// ReplyRequest is a new reply to a comment.
type ReplyRequest struct {
	AppID    string   `json:"-"`
	Comment  string   `json:"-"`                 // the ID of the comment
	Text     string   `json:"text"`              // 1 to 4,096 characters
	Mentions []string `json:"mentions,omitzero"` // URNs of up to 20 people, who are added to those of the comment
}

// ReplyToComment adds a reply to a comment, open or resolved. It returns the errors of CreateComment, and ErrNotFound
// if the app has no such comment.
func (s *Session) ReplyToComment(ctx context.Context, in ReplyRequest) (reply Reply, err error) {
	s = s.calls("ReplyToComment")
	if err := s.check(); err != nil {
		return Reply{}, err
	}
	if err := checkComment(in.Text, in.Mentions); err != nil {
		return Reply{}, err
	}
	_, err = s.changeComment(ctx, in.AppID, commentNumber(in.Comment), in.Mentions,
		func(tx *writer, _ appHead, c *records.Comment) error {
			n := len(c.Replies)
			if n >= mostReplies {
				return fault.Unprocessable(vitrine.CodeLimit, "", "the comment has %d replies, as many as it may have",
					n)
			}
			r := records.Reply{Number: 1, Text: in.Text, By: s.by.URN, Agent: s.by.Agent, CreatedAt: s.service.millis()}
			if n > 0 {
				r.Number = c.Replies[n-1].Number + 1
			}
			c.Replies, reply = append(c.Replies, r), shownReply(r)
			return nil
		})
	return reply, err
}

// commentableHead returns the head of an app on which the caller may comment: a person who may read it, or the key of a
// program that may change it.
func commentableHead(ctx context.Context, r *reader, by vitrine.Caller, id string) (appHead, error) {
	h, err := readableHead(ctx, r, by, id)
	if err == nil && by.Key != "" && !mayUse(by, h) {
		err = fault.Forbidden(
			"a key writes comments where it may change the app; a person does where they may read it")
	}
	return h, err
}

// changeComment changes the comment of an app with this number, or makes one if it is 0. Then it adds the mentions to
// it. change may return errUnchanged, and may set the comment to its zero value to remove it.
func (s *Session) changeComment(
	ctx context.Context, appID string, number int64, mentions []string,
	change func(tx *writer, h appHead, c *records.Comment) error,
) (Comment, error) {
	_, keys, err := s.keysOf(ctx, appID, vitrine.Latest)
	if err != nil {
		return Comment{}, err
	}
	people, err := s.colleagues(ctx, mentions)
	if err != nil {
		return Comment{}, err
	}
	return update(ctx, s, func(tx *writer) (Comment, error) {
		h, err := commentableHead(ctx, tx.reader, s.by, appID)
		var was records.Comment
		if err == nil && number != 0 {
			if was, err = tx.Comment(ctx, appID, number); err == nil && was.Number == 0 {
				err = fault.NotFound("the app has no comment with this id")
			}
		}
		if err != nil {
			return Comment{}, err
		}
		now := was
		now.Mentions, now.Replies = slices.Clone(was.Mentions), slices.Clip(was.Replies)
		if err := change(tx, h, &now); errors.Is(err, errUnchanged) {
			return shownComment(was, keys), nil
		} else if err != nil {
			return Comment{}, err
		}
		var named []string
		for i, m := range mentions {
			if by, known := people[m]; !known || !mayRead(by, h) {
				return Comment{}, fault.NotApplicable("/mentions/"+strconv.Itoa(i),
					"nobody with this URN is known who may read the app")
			}
			if !slices.ContainsFunc(now.Mentions, func(n records.Mention) bool { return n.URN == m }) {
				now.Mentions = append(now.Mentions, records.Mention{URN: m, By: s.by.URN, At: s.service.millis()})
				named = append(named, m)
			}
		}
		if len(now.Mentions) > mostMentioned {
			return Comment{}, fault.Unprocessable(vitrine.CodeLimit, "/mentions",
				"the comment and its replies mention %d people, at most %d", len(now.Mentions), mostMentioned)
		}
		if err := s.storeComment(ctx, tx, h, was, &now, named); err != nil {
			return Comment{}, err
		}
		return shownComment(now, keys), nil
	})
}

// commentNumber returns the number of the comment with an id, or -1, which no comment has.
func commentNumber(id string) int64 {
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil || n <= 0 || strconv.FormatInt(n, 10) != id {
		return -1
	}
	return n
}

// storeComment stores a comment in place of its earlier form, within the limits, and adds the change to the feed. named
// are those whom it mentions now and did not mention before.
func (s *Session) storeComment(
	ctx context.Context, tx *writer, h appHead, was records.Comment, now *records.Comment, named []string,
) error {
	talk, err := tx.Talk(ctx, h.ID)
	if err != nil {
		return err
	}
	if open := func(c records.Comment) bool { return c.By != "" && c.ResolvedAt == 0 }; open(*now) && !open(was) {
		of, err := tx.OpenBy(ctx, h.ID, now.By)
		limit := func(format string, n int) error { return fault.Unprocessable(vitrine.CodeLimit, "", format, n) }
		switch {
		case err != nil:
			return err
		case was.By == "" && talk.All >= mostCommentsOfAnApp:
			return limit("the app has %d comments, as many as it may have: delete some first", talk.All)
		case talk.Open >= mostOpenComments:
			return limit("the app has %d open comments, as many as it may have: resolve some first", talk.Open)
		case of >= mostOpenOfPerson:
			return limit(
				"this person has made %d open comments in the app, as many as one may have: resolve some first", of)
		}
	}
	if err := tx.PutComment(ctx, h.ID, &talk, was, now); err != nil {
		return err
	}
	id := was.Number
	if id == 0 {
		id = now.Number
	}
	entry := commentEntry(s.by, s.service.millis(), h, strconv.FormatInt(id, 10), named)
	return s.service.store.feeds.Add(ctx, tx.tx, s.service.store.feed, entry.At, entry)
}

// colleagues returns the present rights of those of some people who belong to the network of the caller. Those who are
// not known, or disabled, are left out.
func (s *Session) colleagues(ctx context.Context, urns []string) (map[string]vitrine.Caller, error) {
	out := map[string]vitrine.Caller{}
	for _, u := range urns {
		if s.service.rights == nil || networkOf(u) != networkOf(s.by.URN) {
			continue
		}
		by, _, err := s.service.rights(ctx, u)
		switch {
		case err == nil:
			out[u] = by
		case ignore(ignore(err, vitrine.ErrNotFound), vitrine.ErrForbidden) != nil:
			return nil, err
		}
	}
	return out, nil
}

// networkOf returns the URN of the network of a user.
func networkOf(user string) string { return urn.Containers(user)[2] }

// EraseComments removes the comments of a user in all apps, also in deleted ones, with the replies to them, and the
// user's replies to those of others, and what SeeInbox has noted. It takes no Caller: it is for programs that delete a
// person. On SQLite no file of the store contains any of it when EraseComments returns; ErrBusy means that it is
// removed, but that readers of a file keep copies of it in the log, which the next erasure removes.
func (s *Service) EraseComments(ctx context.Context, user string) error {
	erased := false
	err := s.made().store.update(ctx, func(tx *writer) error { return tx.PutSeen(ctx, user, 0) })
	for err == nil {
		var apps []string
		err = s.store.view(ctx, func(r *reader) (err error) {
			apps, err = r.CommentedApps(ctx, user, 100)
			return err
		})
		if len(apps) == 0 {
			break
		}
		erased = true
		for _, app := range apps {
			err = s.store.updateAs(ctx, storage.UpdateOptions{Large: true}, func(tx *writer) error {
				return s.eraseCommentsIn(ctx, tx, app, user)
			})
			if err != nil {
				return err
			}
		}
	}
	if !erased || err != nil {
		return err
	}
	return s.scrub(ctx)
}

// eraseCommentsIn removes the comments and replies of a user in an app.
func (s *Service) eraseCommentsIn(ctx context.Context, tx *writer, app, user string) error {
	_, h, err := tx.anyHead(ctx, app)
	if err != nil {
		return err
	}
	for c, err := range tx.Comments(ctx, app, false, 0, records.AtOnce) {
		if err != nil {
			return err
		}
		if !slices.Contains(c.Authors(), user) {
			continue
		}
		var now records.Comment
		if c.By != user {
			now = c
			now.Replies = slices.DeleteFunc(slices.Clone(c.Replies), func(r records.Reply) bool { return r.By == user })
			now.Mentions = slices.DeleteFunc(slices.Clone(c.Mentions), func(m records.Mention) bool {
				return m.By == user
			})
		}
		if err := s.As(vitrine.Caller{}).storeComment(ctx, tx, h, c, &now, nil); err != nil {
			return err
		}
	}
	return tx.tx.Delete(ctx, keyval.Keys(records.Commented(app, user))...)
}

// checkComments checks the comments of an app, their index records and their counts.
func (a *audit) checkComments(h appHead) {
	var all records.Talk
	authors := map[string]bool{}
	a.each(records.CommentKind, 2, h.ID, func(_ []string, e storage.Entry) error {
		c, err := records.DecodeComment(e)
		if err == nil {
			err = wrongComment(c, h.Version.Number())
		}
		if err != nil {
			return err
		}
		if all.All++; c.ResolvedAt == 0 {
			all.Open++
		}
		all.Last = max(all.Last, c.Number)
		for _, user := range c.Authors() {
			authors[user] = true
		}
		a.checkIndex(c.Index(h.ID))
		return nil
	})
	a.each(records.CommentedKind, 2, h.ID, func(_ []string, e storage.Entry) error {
		user := string(e.Value)
		delete(authors, user)
		both := records.Commented(h.ID, user)
		if a.follow[records.CommenterKind]++; e.Key != both[0].Key || a.get(both[1].Key)[0] == nil {
			return errors.New("its value is another user, or there is no record of the user with the app")
		}
		return nil
	})
	for user := range authors {
		a.fault(records.Commented(h.ID, user)[0].Key, "is missing")
	}
	var talk records.Talk
	var err error
	key := records.TalkKey(h.ID)
	if value := a.get(key)[0]; value != nil {
		a.follow[records.TalkKind]++
		err = keyval.Decode(storage.Entry{Key: key, Value: value}, &talk)
	}
	if err != nil || talk.All != all.All || talk.Open != all.Open || talk.Last < all.Last {
		a.fault(key, "is %+v, and the app has the comments %+v", talk, all)
	}
}

// wrongComment returns an error unless a Service can have stored the comment. latest is the latest version of its app.
func wrongComment(c records.Comment, latest int64) error {
	texts, users := []string{c.Text}, []string{c.By}
	last := int64(0)
	for _, r := range c.Replies {
		if r.Number <= last {
			return errors.New("the numbers of its replies do not ascend")
		}
		last, texts, users = r.Number, append(texts, r.Text), append(users, r.By)
	}
	for _, m := range c.Mentions {
		users = append(users, m.URN, m.By)
	}
	if c.ResolvedAt != 0 {
		users = append(users, c.ResolvedBy)
	}
	for _, text := range texts {
		if err := checkComment(text, nil); err != nil {
			return err
		}
	}
	for _, user := range users {
		if err := urn.CheckUser(user); err != nil {
			return err
		}
	}
	switch {
	case c.Version < 0 || c.Version > latest:
		return fmt.Errorf("is about version %d, and the latest is %d", c.Version, latest)
	case c.Element != "" && !isKey(c.Element) || checkPointer(c.Element, c.Pointer) != nil:
		return errors.New("is about no element, or the pointer is none")
	case len(c.Replies) > mostReplies || len(c.Mentions) > mostMentioned:
		return errors.New("has too many replies or mentions")
	case (c.ResolvedAt == 0) != (c.ResolvedBy == ""):
		return errors.New("lacks who has resolved it, or when")
	}
	return nil
}
