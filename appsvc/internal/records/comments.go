package records

import (
	"context"
	"encoding/json"
	"iter"
	"slices"

	"github.com/vitrine-go/vitrine/internal/keyval"
	"github.com/vitrine-go/vitrine/storage"
)

// Comment is a stored comment with its replies. Times are milliseconds since the epoch, 0 for none.
type Comment struct {
	Number int64 `json:"-"` // 1 for the first comment of the app, then 2, 3 …; in the key

	Version    int64     `json:"version"` // of the app, on which it was made
	Element    string    `json:"element,omitzero"`
	Pointer    string    `json:"pointer,omitzero"`
	Text       string    `json:"text"`
	By         string    `json:"by"`
	Agent      string    `json:"agent,omitzero"`
	CreatedAt  int64     `json:"createdAt"`
	EditedAt   int64     `json:"editedAt,omitzero"`
	ResolvedAt int64     `json:"resolvedAt,omitzero"`
	ResolvedBy string    `json:"resolvedBy,omitzero"`
	Mentions   []Mention `json:"mentions,omitzero"`
	Replies    []Reply   `json:"replies,omitzero"`
}

// Mention is a user whom a comment, or a reply to it, mentions.
type Mention struct {
	URN string `json:"urn"`
	By  string `json:"by"` // URN of who has mentioned the user
	At  int64  `json:"at"`
}

// Reply is a reply to a comment.
type Reply struct {
	Number    int64  `json:"number"` // 1 for the first reply to the comment, then 2, 3 …
	Text      string `json:"text"`
	By        string `json:"by"`
	Agent     string `json:"agent,omitzero"`
	CreatedAt int64  `json:"createdAt"`
}

// Talk counts the comments of an app.
type Talk struct {
	Last int64 `json:"last"` // number of the last comment that was made
	All  int   `json:"all"`
	Open int   `json:"open"` // that are not resolved
}

func TalkKey(app string) string { return Key(TalkKind, app) }

func commentKey(app string, n int64) string { return Key(CommentKind, app, keyval.Number(n)) }

// DecodeComment decodes the record of a comment.
func DecodeComment(e storage.Entry) (c Comment, err error) {
	if err = json.Unmarshal(e.Value, &c); err == nil {
		c.Number, err = keyval.ParseNumber(Parts(e.Key, CommentKind)[1])
	}
	if err != nil {
		err = keyval.Damaged(e.Key, err)
	}
	return c, err
}

// Talk returns how many comments an app has.
func (r Reader) Talk(ctx context.Context, app string) (t Talk, err error) {
	_, err = keyval.Read(ctx, r, TalkKey(app), &t)
	return t, err
}

// Comment returns a comment of an app. If the app has none with this number, the number of the result is 0.
func (r Reader) Comment(ctx context.Context, app string, n int64) (c Comment, err error) {
	key := commentKey(app, n)
	value, err := r.Value(ctx, key)
	if err != nil || value == nil {
		return c, err
	}
	return DecodeComment(storage.Entry{Key: key, Value: value})
}

// Comments yields the comments of an app, or only those that are open, newest first, with numbers below before; 0 means
// no bound.
func (r Reader) Comments(
	ctx context.Context, app string, open bool, before int64, expect int,
) iter.Seq2[Comment, error] {
	kind := CommentKind
	if open {
		kind = OpenKind
	}
	in := Under(kind, app)
	in.Reverse, in.Expect = true, expect
	if before > 0 {
		in.To = Key(kind, app, keyval.Number(before))
	}
	entries := r.Scan(ctx, in)
	if open {
		keys := keyval.Map(entries, func(e storage.Entry) (string, error) {
			return Key(CommentKind, Parts(e.Key, OpenKind)...), nil
		})
		entries = keyval.Load(ctx, r, keys, min(expect, AtOnce))
	}
	return keyval.Map(entries, DecodeComment)
}

// Mentioning is a comment that mentions a user since a time.
type Mentioning struct {
	At      int64
	App     string
	Comment int64 // its number
}

// Mentioned yields the open comments that mention a user since before a time, newest first; 0 means no bound.
func (r Reader) Mentioned(ctx context.Context, user string, before int64, expect int) iter.Seq2[Mentioning, error] {
	in := Under(MentionedKind, user)
	in.Reverse, in.Expect = true, expect
	if before > 0 {
		in.To = Key(MentionedKind, user, keyval.Number(before))
	}
	return keyval.Map(r.Scan(ctx, in), func(e storage.Entry) (m Mentioning, err error) {
		name := Parts(e.Key, MentionedKind)
		m.App = name[2]
		if m.At, err = keyval.ParseNumber(name[1]); err == nil {
			m.Comment, err = keyval.ParseNumber(name[3])
		}
		return m, err
	})
}

func seenKey(user string) string { return Key(SeenKind, user) }

// Seen returns until when a user has seen the inbox, 0 for never.
func (r Reader) Seen(ctx context.Context, user string) (int64, error) {
	value, err := r.Value(ctx, seenKey(user))
	if err != nil || value == nil {
		return 0, err
	}
	return ParseDecimal(seenKey(user), value)
}

// PutSeen stores until when a user has seen the inbox, 0 for never.
func (t Writer) PutSeen(ctx context.Context, user string, until int64) error {
	if until == 0 {
		return t.Tx.Delete(ctx, seenKey(user))
	}
	return t.Tx.Put(ctx, storage.Entry{Key: seenKey(user), Value: decimal(until)})
}

// OpenBy returns how many open comments of an app a user has made.
func (r Reader) OpenBy(ctx context.Context, app, user string) (n int, err error) {
	for e, err := range r.Scan(ctx, Under(OpenKind, app)) {
		if err != nil {
			return 0, err
		}
		if string(e.Value) == user {
			n++
		}
	}
	return n, nil
}

// Index returns the index records of a comment of an app: none unless it is open.
func (c Comment) Index(app string) []storage.Entry {
	if c.Number == 0 || c.ResolvedAt != 0 {
		return nil
	}
	n := keyval.Number(c.Number)
	out := []storage.Entry{{Key: Key(OpenKind, app, n), Value: []byte(c.By)}}
	for _, m := range c.Mentions {
		out = append(out, storage.Entry{Key: Key(MentionedKind, m.URN, keyval.Number(m.At), app, n)})
	}
	return out
}

// Authors returns the URNs of those who have written the comment and its replies, each once.
func (c Comment) Authors() []string {
	out := []string{c.By}
	for _, r := range c.Replies {
		if !slices.Contains(out, r.By) {
			out = append(out, r.By)
		}
	}
	return out
}

// Commented returns the records which say that a user has commented in an app.
func Commented(app, user string) []storage.Entry {
	return []storage.Entry{{Key: Key(CommentedKind, app, user), Value: []byte(user)},
		{Key: Key(CommenterKind, user, app)}}
}

// PutComment stores a comment in place of its earlier form. A new comment has no earlier form, and gets its number; a
// comment without a number is removed. talk counts the comments of the app before and after.
func (t Writer) PutComment(ctx context.Context, app string, talk *Talk, was Comment, now *Comment) error {
	count := func(c Comment, by int) {
		if c.Number != 0 {
			if talk.All += by; c.ResolvedAt == 0 {
				talk.Open += by
			}
		}
	}
	var puts []storage.Entry
	if was.Number == 0 {
		talk.Last++
		now.Number = talk.Last
	}
	count(was, -1)
	count(*now, 1)
	if now.Number == 0 {
		if err := t.Tx.Delete(ctx, commentKey(app, was.Number)); err != nil {
			return err
		}
	} else {
		puts = append(puts, keyval.JSON(commentKey(app, now.Number), now))
		for _, user := range keyval.Without(now.Authors(), was.Authors()) {
			puts = append(puts, Commented(app, user)...)
		}
	}
	return t.Replace(ctx, was.Index(app), now.Index(app), append(puts, keyval.JSON(TalkKey(app), talk))...)
}

// eraseComments removes all comments of an app.
func (t Writer) eraseComments(ctx context.Context, app string) error {
	gone := []string{TalkKey(app)}
	for c, err := range t.Rows.Comments(ctx, app, true, 0, AtOnce) {
		if err != nil {
			return err
		}
		gone = append(gone, keyval.Keys(c.Index(app))...)
	}
	for e, err := range t.Rows.Scan(ctx, Under(CommentedKind, app)) {
		if err != nil {
			return err
		}
		gone = append(gone, keyval.Keys(Commented(app, string(e.Value)))...)
	}
	if err := t.Tx.Delete(ctx, gone...); err != nil {
		return err
	}
	return t.Tx.DeleteRange(ctx, Under(CommentKind, app))
}

// CommentedApps returns the ids of up to limit apps in which a user has commented.
func (r Reader) CommentedApps(ctx context.Context, user string, limit int) (apps []string, err error) {
	in := Under(CommenterKind, user)
	in.Limit = limit
	for e, err := range r.Scan(ctx, in) {
		if err != nil {
			return nil, err
		}
		apps = append(apps, Parts(e.Key, CommenterKind)[1])
	}
	return apps, nil
}
