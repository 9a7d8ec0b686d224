package appsvc

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc/internal/records"
	"github.com/vitrine-go/vitrine/internal/fault"
	"github.com/vitrine-go/vitrine/storage"
)

// The limits of previews.
const (
	mostPreviews    = 100 // of an app
	mostPreviewDays = 30
)

// previewSecret is how the secret of a preview begins, so that people and scanners of files recognise one.
const previewSecret = "sh_"

// aPreview is what keys of programs may not make, list and revoke.
const aPreview = "a link to show"

// Preview is a link that shows an app to people without an account, until it expires. In JSON it is
//
//	{"id", "version", "release", "note", "by": {"urn"}, "createdAt", "expires", "ended", "url"}
//
// with times in milliseconds since the epoch, and null for a version or a release where there is none. The member ended
// is there only if it is true, and url only in the response to CreatePreview.
//
// # Previews
//
// Persons who may change an app make, list and revoke its previews; a person is a caller without Caller.Key. The secret
// of a preview is told once, when it is made, and the store has its hash. Service.Shown takes the secret, and returns
// the app as pages get it: one version, the latest one at that time, or the one to which a release would move a tag of
// the app.
//
// A preview ends when it expires or is revoked. It shows nothing while its maker may not change the app, or may not see
// the release; while the app is deleted; and once the release was run or cancelled. Options.Rights says what the maker
// may do now. If it does not know the maker, the rights count that the maker had when the preview was made.
//
// Archives have no previews.
type Preview struct {
	ID      string `json:"id"`
	Version string `json:"version"` // a number, or latest for whichever is the latest one; "" = that of Release
	// id of a release: the first of its moves of the app that leads to a version says which is shown; "" = none
	Release   string `json:"release"`
	Note      string `json:"note"` // for those who list it, and not for those who see the app
	By        string `json:"by"`   // URN of the person who made it
	CreatedAt int64  `json:"createdAt"`
	Expires   int64  `json:"expires"`
	Ended     bool   `json:"ended,omitzero"` // it shows nothing at the moment

	Secret string `json:"-"`            // only set by CreatePreview
	URL    string `json:"url,omitzero"` // of the page that shows it, with the secret; only set by a server
}

// MarshalJSON writes the members that the comment of Preview lists.
func (p Preview) MarshalJSON() ([]byte, error) {
	type members Preview
	return json.Marshal(struct {
		members
		Version *string `json:"version"`
		Release *string `json:"release"`
		By      user    `json:"by"`
	}{members(p), orNull(p.Version), orNull(p.Release), user{p.By}})
}

// UnmarshalJSON reads what MarshalJSON writes, and sets Secret to that of URL.
func (p *Preview) UnmarshalJSON(text []byte) error {
	type members Preview
	err := json.Unmarshal(text, (*members)(p), usersAsURNs)
	_, p.Secret, _ = strings.Cut(p.URL, "#")
	return err
}

// shownPreview returns a stored preview as responses have it.
func shownPreview(p records.Preview) Preview {
	out := Preview{ID: p.ID, Release: p.Release, Note: p.Note, By: p.By.URN, CreatedAt: p.Created, Expires: p.Expires}
	if p.Release == "" {
		out.Version = versionOf(p).String()
	}
	return out
}

// versionOf returns the version of a preview without a release.
func versionOf(p records.Preview) vitrine.Version {
	if p.Version < 0 {
		return vitrine.Latest
	}
	return vitrine.NewVersion(p.Version)
}

// CreatePreviewRequest is a new preview.
type CreatePreviewRequest struct {
	AppID   string `json:"-"`
	Version string `json:"version,omitzero"` // a number of a version of the app, or latest; "" with Release
	Release string `json:"release,omitzero"` // id of a release that is open or scheduled; "" with Version
	Days    int    `json:"days"`             // 1 to 30, until it expires
	Note    string `json:"note,omitzero"`    // up to 1,024 characters
}

// CreatePreview makes a link that shows an app. The caller must be a person who may change the app.
//
// It returns ErrInvalid unless the request has either Version or Release, and if Days or Note is out of range;
// ErrForbidden for the key of a program, and for a caller who may only read the app; ErrNotFound if there is no such
// app, version or release or the caller may not read it; ErrConflict with CodeWrongState for a release that was run or
// cancelled; and ErrUnprocessable if the release moves no tag of the app to a version, or with CodeLimit if the app has
// 100 previews that have not expired.
func (s *Session) CreatePreview(ctx context.Context, in CreatePreviewRequest) (Preview, error) {
	if err := s.person(aPreview); err != nil {
		return Preview{}, err
	}
	switch {
	case (in.Version == "") == (in.Release == ""):
		return Preview{}, fault.Invalid("/release", "want either this or /version")
	case in.Days < 1 || in.Days > mostPreviewDays:
		return Preview{}, fault.Invalid("/days", "want 1 to %d", mostPreviewDays)
	}
	if err := checkNote("/note", in.Note); err != nil {
		return Preview{}, err
	}
	version := vitrine.Latest
	if in.Version != "" && in.Version != version.String() {
		var err error
		if version, err = vitrine.ParseVersion(in.Version); err != nil {
			return Preview{}, fault.At("/version", err)
		}
	}
	id, err := s.service.newID()
	if err != nil {
		return Preview{}, err
	}
	random := s.service.newSecret()
	secret := previewSecret + base64.RawURLEncoding.EncodeToString(random[:])
	return update(ctx, s, func(tx *writer) (Preview, error) {
		now := s.service.now()
		p := records.Preview{App: in.AppID, ID: id, Hash: hashOf(secret), Version: version.Number(),
			Release: in.Release, Note: in.Note, By: s.by, Created: now.UnixMilli(),
			Expires: now.Add(time.Duration(in.Days) * 24 * time.Hour).UnixMilli()}
		if _, _, err := (person{callers: []vitrine.Caller{s.by}}).previews(ctx, tx.reader, p); err != nil {
			return Preview{}, err
		}
		all, err := tx.Previews(ctx, in.AppID)
		if err != nil {
			return Preview{}, err
		}
		over := slices.DeleteFunc(slices.Clone(all), func(p records.Preview) bool {
			return p.Expires > now.UnixMilli()
		})
		if n := len(all) - len(over); n >= mostPreviews {
			return Preview{}, fault.Unprocessable(vitrine.CodeLimit, "",
				"the app has %d links to show, as many as it may have: revoke some first", n)
		}
		if err := cmp.Or(tx.DeletePreviews(ctx, over...), tx.PutPreview(ctx, p)); err != nil {
			return Preview{}, err
		}
		out := shownPreview(p)
		out.Secret = secret
		return out, nil
	})
}

// hashOf returns the hash by which the secret of a preview is found.
func hashOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// previews returns the app and the version of it that a preview shows if this person is its maker, or an *Error that
// says why it shows none.
func (p person) previews(
	ctx context.Context, r *reader, of records.Preview,
) (h appHead, at vitrine.Version, err error) {
	if p.disabled {
		return h, at, fault.Forbidden("the person was disabled")
	}
	for _, by := range p.callers {
		if h, err = usableHead(ctx, r, by, of.App); err != nil {
			return h, at, err
		}
		if of.Release == "" {
			continue
		}
		rel, err := r.releaseFor(ctx, by, of.Release)
		if err == nil && rel.State != ReleaseOpen && rel.State != ReleaseScheduled {
			err = fault.Conflict(vitrine.CodeWrongState, rel.Version, "the release is %s", rel.State)
		}
		if err != nil {
			return h, at, fault.At("/release", err)
		}
		i := slices.IndexFunc(rel.Moves, func(m ReleaseMove) bool { return m.AppID == of.App && !m.To.at.IsZero() })
		if i < 0 {
			return h, at, fault.NotApplicable("/release", "the release moves no tag of the app to a version")
		}
		at = rel.Moves[i].To.at
	}
	if of.Release == "" {
		at = versionOf(of)
	}
	if at.Compare(h.Version) > 0 {
		return h, at, fault.At("/version", fault.NotFound("app %q has no version %q", of.App, at))
	}
	return h, at, nil
}

// ListPreviews returns the previews of an app that have not expired, newest first. It returns ErrNotFound and
// ErrForbidden as CreatePreview does.
func (s *Session) ListPreviews(ctx context.Context, appID string) ([]Preview, error) {
	s = s.calls("ListPreviews")
	if err := s.person(aPreview); err != nil {
		return nil, err
	}
	list, err := view(ctx, s, func(r *reader) ([]records.Preview, error) {
		if _, err := usableHead(ctx, r, s.by, appID); err != nil {
			return nil, err
		}
		return r.Previews(ctx, appID)
	})
	list = slices.DeleteFunc(list, func(p records.Preview) bool { return p.Expires <= s.service.millis() })
	slices.SortFunc(list, func(a, b records.Preview) int { return cmp.Compare(b.Created, a.Created) })
	out, makers, once := make([]Preview, len(list)), make([]person, len(list)), s.service.remembering()
	for i := range list {
		if err == nil {
			makers[i], err = once.person(ctx, list[i].By)
		}
	}
	if err != nil {
		return nil, err
	}
	return view(ctx, s, func(r *reader) ([]Preview, error) {
		for i, p := range list {
			out[i] = shownPreview(p)
			_, _, err := makers[i].previews(ctx, r, p)
			if _, out[i].Ended = errors.AsType[*vitrine.Error](err); err != nil && !out[i].Ended {
				return nil, err
			}
		}
		return out, nil
	})
}

// DeletePreview revokes a preview: from then on its link shows nothing. Every person who may change the app may do so.
// It returns ErrNotFound if there is no such app or preview or the caller may not read the app, and ErrForbidden as
// CreatePreview does.
func (s *Session) DeletePreview(ctx context.Context, appID, id string) error {
	if err := s.person(aPreview); err != nil {
		return err
	}
	return s.service.store.update(ctx, func(tx *writer) error {
		if _, err := usableHead(ctx, tx.reader, s.by, appID); err != nil {
			return err
		}
		list, err := tx.Previews(ctx, appID)
		i := slices.IndexFunc(list, func(p records.Preview) bool { return p.ID == id })
		if err == nil && i < 0 {
			err = fault.NotFound("the app has no link with this id")
		}
		if err != nil {
			return err
		}
		return tx.DeletePreviews(ctx, list[i])
	})
}

// Shown is an app as a preview shows it.
type Shown struct {
	App     Delivery // without a Tag and PublishedAt; its Err is nil
	Version string   // as in Preview
	Expires int64    // milliseconds since the epoch
}

// Shown returns the app that the preview with a secret shows, with texts in a language as Session.In does; "" stands
// for the base. It takes no Caller, and reads nothing else.
//
// It returns ErrInvalid with the Parameter lang for a malformed language; ErrNotFound, always with the same sentence,
// if there is no such preview or if it shows nothing any more; and ErrUnprocessable with CodeCost if the configs of the
// app with their defaults are too large.
func (s *Service) Shown(ctx context.Context, secret, lang string) (out Shown, err error) {
	session := s.As(vitrine.Caller{}).In(lang)
	if err := session.checkLanguage(); err != nil {
		return out, err
	}
	ended := fault.NotFound("there is no such link, or it has ended")
	find := func(r *reader) (records.Preview, error) {
		p, err := r.PreviewOf(ctx, hashOf(secret))
		if err == nil && p.Expires <= s.millis() { // as for none
			err = ended
		}
		return p, err
	}
	var seen records.Preview
	err = s.store.view(ctx, func(r *reader) (err error) {
		seen, err = find(r)
		return err
	})
	if err != nil {
		return out, err
	}
	maker, err := s.person(ctx, seen.By)
	if err != nil {
		return out, err
	}
	err = s.store.view(ctx, func(r *reader) error {
		p, err := find(r) // it may have been revoked since
		if err != nil {
			return err
		}
		h, at, err := maker.previews(ctx, r, p)
		if _, rejected := errors.AsType[*vitrine.Error](err); rejected {
			err = ended
		}
		if err != nil {
			return err
		}
		app, err := r.version(ctx, h, at)
		if err != nil {
			return err
		}
		out = Shown{Version: shownPreview(p).Version, Expires: p.Expires}
		out.App, err = session.deliveryAs(ctx, r, app, "")
		return err
	})
	return out, err
}

// AppendJSON appends {"app", "shows", "expires"}: the app as Delivery.AppendJSON does, and what the preview shows,
// which is version, latest or release.
func (s Shown) AppendJSON(dst []byte, root, base string) []byte {
	shows := "version"
	switch s.Version {
	case "":
		shows = "release"
	case vitrine.Latest.String():
		shows = "latest"
	}
	dst = s.App.AppendJSON(append(dst, `{"app":`...), root, base)
	dst = fmt.Appendf(dst, `,"shows":%q,"expires":`, shows)
	return append(strconv.AppendInt(dst, s.Expires, 10), '}')
}

// checkPreviews checks the previews of an app.
func (a *audit) checkPreviews(h appHead) {
	a.each(records.PreviewKind, 2, h.ID, func(_ []string, e storage.Entry) error {
		p, err := records.DecodePreview(e)
		if err != nil {
			return err
		}
		a.checkIndex([]storage.Entry{p.Index()})
		days := time.Duration(p.Expires-p.Created) * time.Millisecond / (24 * time.Hour)
		switch {
		case p.By.Check() != nil || p.By.Key != "" || p.By.TagsOnly:
			return errors.New("no person has made it")
		case len(p.Hash) != 2*sha256.Size || checkNote("", p.Note) != nil || days < 1 || days > mostPreviewDays:
			return errors.New("its secret, its note or its time is none that a service stores")
		case p.Version > h.Version.Number() || p.Release != "" && p.Version >= 0:
			return fmt.Errorf("shows version %d, and the latest is %d", p.Version, h.Version.Number())
		}
		return nil
	})
}
