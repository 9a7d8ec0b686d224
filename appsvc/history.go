package appsvc

import (
	"context"
	"iter"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc/internal/jsontree"
	"github.com/vitrine-go/vitrine/appsvc/internal/records"
	"github.com/vitrine-go/vitrine/internal/paging"
)

// A page of the history compares each of its versions with the previous one, so the work for a page is that of many
// diffs. It is limited in three ways: bodies are read one after the other, with two in memory at a time; the steps of
// all comparisons together are limited; and each body is parsed only once, mostly by comparing it with its neighbour,
// from which it differs little.

// HistoryEntry describes a version of an app: who made it, when, and what changed. It has no content, so that a page of
// the history stays small however large the app is. Changes help people to find a version; Diff returns the whole
// difference.
//
// # History
//
// ListHistory says of each version of an app who made it and when, which version Restore took its content from, which
// tags point to it now, and what has changed since the version before: up to 20 operations of a JSON Patch, without
// their values, and up to 1,024 bytes of them. ChangesTruncated says that more has changed. A page has no content of
// versions, so it stays small. The steps of comparing versions are counted and limited: for one comparison to about 50
// ms of work, and for all comparisons of a page to about 50 ms for each 50 entries that Limit asks for. An entry whose
// comparison exceeds either limit has no Changes, and its ChangesTruncated is set. Once the steps of the page are used
// up, the same is true of all further entries, except version 0, which is not compared.
//
// Diff returns the difference between any two versions as a JSON Patch. Patch accepts it while the first of the two is
// the latest version, unless the caller may not make this change, the patch or the app that it makes exceeds a limit,
// validating the configs costs too much, a component was deleted, or a component was deleted and created again and a
// config breaks its present configSchema. A diff is meant for people, so each thing that has changed is one operation:
//
//   - Elements are matched by their keys, so an element that was inserted, removed or moved is one operation, and each
//     field of it that has changed besides is one.
//   - Configs are compared member by member, and lists in configs item by item. Strings are replaced whole.
//   - An element that differs only in the order of members, or in its manifest because its component was deleted and
//     created again, is unchanged.
//
// If the patch would have more operations than Patch allows, or take too much work to apply or too many steps to find,
// its operations are coarser: they replace whole configs, all groups, or all elements. Elements keep their keys then,
// too.
//
// Steps are counted, and no clock is used, so equal versions have equal diffs on every machine.
type HistoryEntry struct {
	Version   vitrine.Version `json:"version"`
	UpdatedAt int64           `json:"updatedAt"` // milliseconds since the epoch
	UpdatedBy string          `json:"updatedBy"` // URN of the user who made the version
	// the name of the user's API key, if an agent made the version; "" = none
	Agent string `json:"agent,omitzero"`
	// the version whose content Restore stored again; the zero Version = made by a patch, or version 0
	RestoredFrom vitrine.Version `json:"restoredFrom"`
	Note         string          `json:"note,omitzero"` // "" = none
	Tags         []string        `json:"tags"`          // names of the tags that point to the version now, sorted

	// Changes are the operations of the Diff from the version before, without the version test and without values:
	// at most 20, which take at most 1,024 bytes as JSON. Version 0 has none.
	Changes []HistoryChange `json:"changes"`
	// ChangesTruncated is true if Changes is incomplete. It is empty then if comparing the versions would exceed the
	// limit of steps for one version, or for each 50 requested entries: about 50 ms of work.
	ChangesTruncated bool `json:"changesTruncated"`
}

// HistoryChange is an operation of a JSON Patch without its value, such as {"op":"replace","path":"/apps/0/title"}.
type HistoryChange struct {
	Op   string `json:"op"`             // add, remove, replace or move
	From string `json:"from,omitempty"` // JSON pointer of what was moved
	Path string `json:"path"`           // JSON pointer into the new version or, for remove, into the old one
}

// Bounds of the changes of a version, and of the work for a page. The steps are counted and not measured by a clock, so
// equal histories have equal changes on every machine.
const (
	historyChanges = 20         // operations of one version
	historyBytes   = 1 << 10    // of these operations, as JSON
	historySteps   = 25_000_000 // of one comparison, and of all for each 50 versions that are asked for: about 50 ms
	// a page ends when the bodies that were read for it, except the newest, have this many times Limits.PageBytes
	historyPages = 16
)

// MarshalJSON writes {"version":…,"updatedAt":…,"updatedBy":{"urn":…},"agent":…,"restoredFrom":…,"note":…,"tags":[…],
// "changes":[…],"changesTruncated":…}; a zero RestoredFrom is null, and an empty agent or note is left out.
func (e HistoryEntry) MarshalJSON() ([]byte, error) {
	type members HistoryEntry
	return json.Marshal(struct {
		Version   vitrine.Version `json:"version"`
		UpdatedAt int64           `json:"updatedAt"`
		UpdatedBy user            `json:"updatedBy"`
		members
	}{e.Version, e.UpdatedAt, user{e.UpdatedBy}, members(e)})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (e *HistoryEntry) UnmarshalJSON(text []byte) error {
	type members HistoryEntry
	return json.Unmarshal(text, (*members)(e), usersAsURNs)
}

// ListHistoryRequest asks for the history of an app, newest version first.
type ListHistoryRequest struct {
	AppID  string
	Before vitrine.Version // only lower versions; the zero Version or Latest = from the newest on
	After  string          // Next of the page before; "" = the first page
	Limit  int             // 1 to 500; 0 = 50
}

// Below returns the lower one of Before and After, as ListVersionsRequest.Below does.
func (in ListHistoryRequest) Below() (vitrine.Version, error) {
	return ListVersionsRequest{Before: in.Before, After: in.After}.Below()
}

// ListHistory returns a page of the history of an app: who made each version and when, which version it was restored
// from, which tags point to it, and what changed. It returns no content, so the page is small even if the app is large.
// The page ends before the limit when the bodies that were read for it, except the newest, have 16 times
// Limits.PageBytes, by default 64 MiB.
//
// It returns ErrNotFound if there is no such app, and ErrInvalid if Limit is out of range or After is not a cursor of
// this list.
func (s *Session) ListHistory(ctx context.Context, in ListHistoryRequest) (vitrine.Page[HistoryEntry], error) {
	s = s.calls("ListHistory")
	return list(ctx, s, in.Limit, 50, func(r *reader, limit int) (page vitrine.Page[HistoryEntry], err error) {
		before, err := in.Below()
		if err == nil {
			_, err = readableHead(ctx, r, s.by, in.AppID)
		}
		if err != nil {
			return page, err
		}
		return s.historyPage(ctx, r, in.AppID, before, limit)
	})
}

// AllHistory yields the history of an app, newest version first, page by page. in.Limit is how many entries are read at
// a time. It ends with the first error, which comes in the last pair.
func (s *Session) AllHistory(ctx context.Context, in ListHistoryRequest) iter.Seq2[HistoryEntry, error] {
	return paging.All(&in.After, func() (vitrine.Page[HistoryEntry], error) { return s.ListHistory(ctx, in) })
}

// historyPage returns up to limit entries of versions below before. Each version is compared with the previous one, so
// one version more than entries is read. The page also ends when the bodies that were read, except the newest, have
// historyPages times PageBytes. Two bodies are in memory at a time.
//
// A page with Next ends with an entry whose changes are known. The version that it was compared with, which was read
// last, is the first one of the next page, and is read again then.
func (s *Session) historyPage(
	ctx context.Context, r *reader, app string, before vitrine.Version, limit int,
) (vitrine.Page[HistoryEntry], error) {
	tags, err := tagNames(ctx, r, app)
	if err != nil {
		return vitrine.Page[HistoryEntry]{}, err
	}
	restored, err := r.Restorations(ctx, app, before, limit+1)
	if err != nil {
		return vitrine.Page[HistoryEntry]{}, err
	}
	notes, err := r.Notes(ctx, app, before, limit+1)
	if err != nil {
		return vitrine.Page[HistoryEntry]{}, err
	}
	var page vitrine.Page[HistoryEntry]
	c := changeLog{limits: s.service.limits, left: historySteps * ((limit + 49) / 50)}
	bytes, largest := 0, 0
	// The newest version begins the log. Each later one completes the entry of the version after it, and adds its own.
	for app, err := range r.versionsBelow(ctx, app, before, limit+1) {
		if err != nil {
			return vitrine.Page[HistoryEntry]{}, err
		}
		if size := len(app.Body); size > largest { // for two bodies and their differences
			if err := s.mayTake(3 * size); err != nil {
				return vitrine.Page[HistoryEntry]{}, err
			}
			largest = size
		}
		if n := len(page.Items); n > 0 {
			last := &page.Items[n-1]
			if last.Changes, last.ChangesTruncated, err = c.since(app.Body); err != nil {
				return vitrine.Page[HistoryEntry]{}, err
			}
			if bytes += len(app.Body); n == limit || bytes >= historyPages*s.service.limits.PageBytes {
				page.Next = last.Version.String()
				return page, nil
			}
		} else if err := c.begin(app.Body); err != nil {
			return vitrine.Page[HistoryEntry]{}, err
		}
		page.Items = append(page.Items, HistoryEntry{
			Version: app.Version, UpdatedAt: app.UpdatedAt, UpdatedBy: app.UpdatedBy, Agent: app.agent,
			RestoredFrom: restored[app.Version], Note: notes[app.Version], Tags: tags[app.Version],
		})
	}
	return page, nil
}

// tagNames returns the names of the tags that point to each version of an app, sorted. It reads all tags of the app, of
// which there are at most Limits.Tags.
func tagNames(ctx context.Context, r *reader, id string) (map[vitrine.Version][]string, error) {
	out := map[vitrine.Version][]string{}
	for t, err := range r.tags(ctx, records.TagsAfter(id, "", 0)) {
		if err != nil {
			return nil, err
		}
		out[t.AppVersion] = append(out[t.AppVersion], t.Name)
	}
	return out, nil
}

// changeLog compares each version with the previous one, from the newest to the oldest. Each version is parsed once: it
// is first the older one of a comparison, and then the newer one of the next. historyPage creates one for a page, calls
// begin with the newest body, and then since with each older one.
type changeLog struct {
	limits Limits
	left   int   // the remaining steps of the page; 0 = none
	newer  draft // the version that is compared next
}

// begin sets the newest version.
func (c *changeLog) begin(body Body) (err error) {
	c.newer, err = body.draft()
	return err
}

// since returns the changes from the version with this body to c.newer, which is the next newer version, and sets
// c.newer for the next call. truncated is true if changes are missing: because of the limits of an entry, or because
// the comparison had too many steps. Then there are none. When the page has no steps left, all further calls return
// none without a comparison.
func (c *changeLog) since(body Body) (changes []HistoryChange, truncated bool, err error) {
	if c.left <= 0 {
		return nil, true, nil
	}
	older, err := body.draft()
	if err != nil {
		return nil, false, err
	}
	most := min(c.left, historySteps) // this also limits the memory of one comparison
	differ := jsontree.Differ{Steps: most - len(body)}
	ops, err := c.limits.diff(older, c.newer, &differ)
	c.newer = older
	c.left -= most - differ.Steps
	if err != nil || differ.Steps < 0 {
		return nil, true, err
	}
	// The operations that fit, in their order, without values. Size counts a comma after each, and the last one has
	// none.
	size := len("[]")
	for _, op := range ops {
		op.Value = nil
		if size += jsontree.Size(op); len(changes) == historyChanges || size-1 > historyBytes {
			return slices.Clip(changes), true, nil
		}
		changes = append(changes, HistoryChange{op.Op, op.From, op.Path})
	}
	return changes, false, nil
}
