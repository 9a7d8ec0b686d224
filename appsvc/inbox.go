package appsvc

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"

	"github.com/vitrine-go/vitrine/appsvc/internal/records"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/internal/keyval"
	"github.com/vitrine-go/vitrine/internal/paging"
)

// InboxKind says what waits for a person.
type InboxKind string

// The kinds of what waits for a person.
const (
	InboxApprove  InboxKind = "approve"  // a release that the person could approve, and has not
	InboxFailed   InboxKind = "failed"   // a release that the person has made could not be run, or not be ended
	InboxApproved InboxKind = "approved" // somebody has approved a release that the person has made
	InboxMention  InboxKind = "mention"  // an open comment mentions the person
)

// InboxItem is something that waits for a person. In JSON it is {"kind", "at", "app", "release", "comment", "by":
// {"urn"}}, with null where there is nothing.
type InboxItem struct {
	Kind    InboxKind `json:"kind"`
	At      int64     `json:"at"`      // milliseconds since the epoch
	AppID   string    `json:"app"`     // of InboxMention
	Release string    `json:"release"` // id of a release, of the other kinds
	Comment string    `json:"comment"` // id of a comment of the app
	By      string    `json:"by"`      // URN of who has made the release, approved it or mentions the person
}

// MarshalJSON writes the members that the comment of InboxItem lists.
func (i InboxItem) MarshalJSON() ([]byte, error) {
	type members InboxItem
	return json.Marshal(struct {
		members
		AppID   *string `json:"app"`
		Release *string `json:"release"`
		Comment *string `json:"comment"`
		By      *user   `json:"by"`
	}{members(i), orNull(i.AppID), orNull(i.Release), orNull(i.Comment), orNull(user{i.By})})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (i *InboxItem) UnmarshalJSON(text []byte) error {
	type members InboxItem
	return json.Unmarshal(text, (*members)(i), usersAsURNs)
}

// InboxRequest asks for what waits for the caller, newest first.
type InboxRequest struct {
	After string // Next of the page before; "" = the first page
	Limit int    // 1 to 500; 0 = 100
}

// Inbox is a page of what waits for a person.
type Inbox struct {
	Items []InboxItem `json:"items"`
	Next  string      `json:"next"`  // After of the next page; "" on the last one
	Seen  int64       `json:"until"` // Until of the last SeeInbox; 0 = none
}

// MarshalJSON writes {"items", "next", "until"}, with a next of null on the last page.
func (i Inbox) MarshalJSON() ([]byte, error) {
	type members Inbox
	return json.Marshal(struct {
		members
		Next *string `json:"next"`
	}{members(i), orNull(i.Next)})
}

// mostOpenReleases is how many open releases an inbox looks at.
const mostOpenReleases = 500

// Inbox returns what waits for the caller, newest first: of the newest 500 releases that are open or scheduled, those
// that the caller could approve and has not, if they need approvals or ask the caller, and those of the caller that
// failed or were approved since SeeInbox; of the newest 500 that are done, those of the caller whose end failed since
// then; and open comments that mention the caller, in apps that the caller may read. Whether the caller could approve a
// release is decided as ApproveRelease does.
//
// A page looks at 1,000 mentions, so it may be empty although Next is set. Inbox is for people: it returns ErrForbidden
// for the key of a program. It returns ErrInvalid if Limit is out of range, or After is not a cursor of this list.
func (s *Session) Inbox(ctx context.Context, in InboxRequest) (Inbox, error) {
	s = s.calls("Inbox")
	if err := s.person("an inbox"); err != nil {
		return Inbox{}, err
	}
	limit, err := paging.Limit(in.Limit, 100, s.service.limits.Page)
	if err != nil {
		return Inbox{}, err
	}
	var after *inboxPosition
	name := "inbox " + s.by.URN
	if in.After != "" {
		at, text, ok := parseCursor(name, in.After)
		if !ok {
			return Inbox{}, fault.Invalid("after", "not a cursor of this list")
		}
		after = &inboxPosition{at, text}
	}
	var out Inbox
	var might []release // that the caller might approve
	var horizon *inboxPosition
	var rules tagRules
	err = s.service.store.view(ctx, func(r *reader) (err error) {
		out, might = Inbox{}, nil
		if out.Seen, err = r.Seen(ctx, s.by.URN); err == nil {
			rules, err = r.tagRules(ctx)
		}
		if err != nil {
			return err
		}
		rels, err := r.newestReleases(ctx, ReleaseOpen, ReleaseScheduled)
		if err != nil {
			return err
		}
		for _, rel := range rels {
			if rel.By == s.by.URN {
				out.Items = append(out.Items, rel.told(out.Seen)...)
			} else if rel.needs(rules) > 0 || slices.Contains(rel.Ask, s.by.URN) {
				ok, err := r.mightApprove(ctx, rel, s.by)
				if err != nil {
					return err
				} else if ok {
					might = append(might, rel)
				}
			}
		}
		done, err := r.newestReleases(ctx, ReleaseDone)
		if err != nil {
			return err
		}
		for _, rel := range done {
			if rel.By == s.by.URN {
				out.Items = append(out.Items, rel.told(out.Seen)...)
			}
		}
		mentions, end, err := s.mentions(ctx, r, after, limit+1)
		out.Items, horizon = append(out.Items, mentions...), end
		return err
	})
	once := s.service.remembering()
	for _, rel := range might {
		var people []approver
		if err == nil {
			people, err = once.approvers(ctx, rel.Authors, s.by)
		}
		if err == nil && people[0].mayApprove(rel, rel.independent(rules)) == nil {
			out.Items = append(out.Items, InboxItem{Kind: InboxApprove, At: rel.UpdatedAt, Release: rel.ID, By: rel.By})
		}
	}
	if err != nil {
		return Inbox{}, err
	}
	slices.SortFunc(out.Items, func(a, b InboxItem) int { return a.position().compare(b.position()) })
	out.Items = slices.DeleteFunc(out.Items, func(i InboxItem) bool {
		p := i.position()
		return after != nil && p.compare(*after) <= 0 || horizon != nil && p.compare(*horizon) > 0
	})
	if len(out.Items) > limit {
		out.Items = out.Items[:limit]
		last := out.Items[limit-1].position()
		horizon = &last
	}
	if horizon != nil {
		out.Next = cursor(name, horizon.at, horizon.text)
	}
	return out, nil
}

// inboxPosition is the position of an item in an inbox: by time, newest first, and then by a text.
type inboxPosition struct {
	at   int64
	text string
}

func (p inboxPosition) compare(o inboxPosition) int {
	return cmp.Or(cmp.Compare(o.at, p.at), cmp.Compare(o.text, p.text))
}

// position returns the position of an item. Mentions are in the order of their keys.
func (i InboxItem) position() inboxPosition {
	if i.Kind == InboxMention {
		n, _ := strconv.ParseInt(i.Comment, 10, 64)
		return inboxPosition{i.At, "mention " + keyval.Part(i.AppID) + " " + keyval.Number(n)}
	}
	return inboxPosition{i.At, string(i.Kind) + " " + i.Release}
}

// newestReleases returns the newest releases in one of these states, but of those that are done only the ones with
// conflicts: an inbox tells of no others, and decoding the moves of all of them takes long.
func (r *reader) newestReleases(ctx context.Context, states ...ReleaseState) (list []release, err error) {
	for _, state := range states {
		n := 0
		for e, err := range r.Releases(ctx, string(state), "", 0, mostOpenReleases) {
			if n++; err == nil && n > mostOpenReleases {
				break
			}
			var part struct {
				Release struct {
					Conflicts []struct{} `json:"conflicts"`
				}
			}
			if err == nil && state == ReleaseDone {
				err = keyval.Decode(e, &part)
			}
			if err != nil {
				return nil, err
			}
			if state == ReleaseDone && len(part.Release.Conflicts) == 0 {
				continue
			}
			rel, err := decodeRelease(e)
			if err != nil {
				return nil, err
			}
			list = append(list, rel)
		}
	}
	slices.SortFunc(list, func(a, b release) int { return cmp.Compare(b.Number, a.Number) })
	return list[:min(len(list), mostOpenReleases)], nil
}

// told returns what has become of a release since its maker has seen the inbox. One that is done has conflicts if it
// could not be ended.
func (r release) told(seen int64) (items []InboxItem) {
	if failed := cmp.Or(r.FailedAt, r.UpdatedAt); len(r.Conflicts) > 0 && failed > seen {
		items = append(items, InboxItem{Kind: InboxFailed, At: failed, Release: r.ID})
	}
	if n := len(r.Approvals); n > 0 && r.State != ReleaseDone && r.Approvals[n-1].At > seen {
		items = append(items,
			InboxItem{Kind: InboxApproved, At: r.Approvals[n-1].At, Release: r.ID, By: r.Approvals[n-1].By})
	}
	return items
}

// mentions returns up to most mentions of the caller that come after a position. end is the position of the last one
// that was looked at, if there may be more.
func (s *Session) mentions(
	ctx context.Context, r *reader, after *inboxPosition, most int,
) (items []InboxItem, end *inboxPosition, err error) {
	v := viewer{r: r, by: s.by, heads: map[string]appHead{}}
	before := int64(0)
	if after != nil {
		before = after.at + 1
	}
	looked := 0
	for m, err := range r.Mentioned(ctx, s.by.URN, before, most) {
		if err != nil {
			return nil, nil, err
		}
		item := InboxItem{Kind: InboxMention, At: m.At, AppID: m.App, Comment: strconv.FormatInt(m.Comment, 10)}
		at := item.position()
		if after != nil && at.compare(*after) <= 0 {
			continue
		}
		h, err := v.head(ctx, m.App)
		if err != nil {
			return nil, nil, err
		}
		if h.ID != "" && mayRead(s.by, h) {
			c, err := r.Comment(ctx, m.App, m.Comment)
			if err != nil {
				return nil, nil, err
			}
			i := slices.IndexFunc(c.Mentions, func(n records.Mention) bool { return n.URN == s.by.URN })
			if i >= 0 && c.Mentions[i].By != s.by.URN {
				item.By = c.Mentions[i].By
				items = append(items, item)
			}
		}
		if looked++; len(items) == most || looked == maxScanned {
			return items, &at, nil
		}
	}
	return items, nil, nil
}

// SeeInbox notes that the caller has seen what happened up to a time, in milliseconds since the epoch: what failed and
// what was approved until then is not in the inbox any more. What waits for an answer stays until it is given. A time
// before the one that is noted changes nothing, and one to come counts as now. It returns ErrForbidden for the key of a
// program, and ErrInvalid unless the time is positive.
func (s *Session) SeeInbox(ctx context.Context, until int64) error {
	if err := s.person("an inbox"); err != nil {
		return err
	}
	if until <= 0 {
		return fault.Invalid("/until", "want a time in milliseconds since 1970")
	}
	return s.service.store.update(ctx, func(tx *writer) error {
		seen, err := tx.Seen(ctx, s.by.URN)
		if until = min(until, s.service.millis()); err != nil || until <= seen {
			return err
		}
		return tx.PutSeen(ctx, s.by.URN, until)
	})
}

// person returns an error for a caller that is no person. what is for people.
func (s *Session) person(what string) error {
	err := s.check()
	if err == nil && s.by.Key != "" {
		err = fault.Forbidden("%s is for people, and not for the keys of programs", what)
	}
	return err
}
