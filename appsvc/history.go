package appsvc

import (
	"context"
	"encoding/json"
	"iter"
	"slices"

	"github.com/vitrine-go/vitrine/appsvc/internal/jsondiff"
	"github.com/vitrine-go/vitrine/internal/memlimit"
	"github.com/vitrine-go/vitrine/internal/paging"
)

// HistoryEntry says how a version of an app came about: who made it, when, and what changed. It has no content, so that
// a page of the history stays small however large the app is. Changes are for people who look for the version in which
// something happened; Diff has the whole difference.
type HistoryEntry struct {
	Version      Version
	UpdatedAt    int64    // milliseconds since the epoch
	UpdatedBy    string   // URN of the user who made the version
	RestoredFrom Version  // the version whose content Restore stored again; the zero Version = made by a patch, or version 0
	Tags         []string // names of the tags that point to the version now, sorted

	// Changes are the operations of the Diff from the version before, without the version test and without values:
	// at most 20, which take at most 1,024 bytes as JSON. Version 0 has none.
	Changes []HistoryChange
	// ChangesTruncated says that there are more changes, or that the comparison was left out since the page took
	// too long.
	ChangesTruncated bool
}

// HistoryChange is an operation of a JSON Patch without its value, such as {"op":"replace","path":"/apps/0/title"}.
type HistoryChange struct {
	Op   string `json:"op"`             // add, remove, replace or move
	From string `json:"from,omitempty"` // JSON pointer of what was moved
	Path string `json:"path"`           // JSON pointer; of what was not removed, into the new version
}

// Bounds of the changes of a version, and of the work for a page. The steps are counted and not measured by a clock, so
// equal histories have equal changes on every machine.
const (
	historyChanges = 20
	historyBytes   = 1 << 10
	historySteps   = 25_000_000 // of comparisons: about 50 ms
	historyPages   = 4          // a page reads bodies of so many times PageBytes
)

// wireEntry is the JSON of a HistoryEntry.
type wireEntry struct {
	Version   Version `json:"version"`
	UpdatedAt int64   `json:"updatedAt"`
	UpdatedBy struct {
		URN string `json:"urn"`
	} `json:"updatedBy"`
	RestoredFrom     *Version        `json:"restoredFrom"`
	Tags             []string        `json:"tags"`
	Changes          []HistoryChange `json:"changes"`
	ChangesTruncated bool            `json:"changesTruncated"`
}

// MarshalJSON writes {"version":…,"updatedAt":…,"updatedBy":{"urn":…},"restoredFrom":…,"tags":[…],"changes":[…],
// "changesTruncated":…}; a zero RestoredFrom is null.
func (e HistoryEntry) MarshalJSON() ([]byte, error) {
	w := wireEntry{Version: e.Version, UpdatedAt: e.UpdatedAt, ChangesTruncated: e.ChangesTruncated}
	w.UpdatedBy.URN = e.UpdatedBy
	if !e.RestoredFrom.IsZero() {
		w.RestoredFrom = &e.RestoredFrom
	}
	w.Tags, w.Changes = append([]string{}, e.Tags...), append([]HistoryChange{}, e.Changes...)
	return json.Marshal(w)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (e *HistoryEntry) UnmarshalJSON(text []byte) error {
	var w wireEntry
	if err := json.Unmarshal(text, &w); err != nil {
		return err
	}
	*e = HistoryEntry{Version: w.Version, UpdatedAt: w.UpdatedAt, UpdatedBy: w.UpdatedBy.URN, Tags: w.Tags,
		Changes: w.Changes, ChangesTruncated: w.ChangesTruncated}
	if w.RestoredFrom != nil {
		e.RestoredFrom = *w.RestoredFrom
	}
	return nil
}

// ListHistoryRequest asks for the history of an app, newest version first.
type ListHistoryRequest struct {
	AppID  string
	Before Version // only lower versions; the zero Version = from the newest on
	After  string  // Next of the page before; "" = the first page
	Limit  int     // 1 to 100; 0 = 50
}

// Below returns the lower one of Before and After, as ListVersionsRequest.Below does.
func (in ListHistoryRequest) Below() (Version, error) {
	return ListVersionsRequest{Before: in.Before, After: in.After}.Below()
}

// ListHistory returns a page of the history of an app: who made each version and when, which version it was restored
// from, which tags point to it, and what changed. It returns no content, so it is small and quick also where the app
// is large. The page ends before the limit when the versions that it compares come to 64 MiB.
//
// It returns ErrNotFound if there is no such app, and ErrInvalid if Limit is out of range or After is not a cursor of
// this list.
func (s *Service) ListHistory(ctx context.Context, by Caller, in ListHistoryRequest) (Page[HistoryEntry], error) {
	if err := by.check(); err != nil {
		return Page[HistoryEntry]{}, err
	}
	limit, err := pageLimit(in.Limit, 50, min(s.limits.HistoryPage, s.limits.Page))
	if err != nil {
		return Page[HistoryEntry]{}, err
	}
	before, err := in.Below()
	if err != nil {
		return Page[HistoryEntry]{}, err
	}
	var out Page[HistoryEntry]
	err = s.store.View(ctx, func(r Reader) (err error) {
		if _, err := readable(ctx, r, by, in.AppID); err != nil {
			return err
		}
		out, err = s.historyPage(ctx, r, VersionQuery{AppID: in.AppID, Before: before, Limit: limit + 1})
		return err
	})
	return out, err
}

// AllHistory yields the history of an app, newest version first, page by page. in.Limit is how many entries are read at a
// time. It ends with the first error, which comes in the last pair.
func (s *Service) AllHistory(ctx context.Context, by Caller, in ListHistoryRequest) iter.Seq2[HistoryEntry, error] {
	return paging.All(in.After, func(after string) ([]HistoryEntry, string, error) {
		in.After = after
		page, err := s.ListHistory(ctx, by, in)
		return page.Items, page.Next, err
	})
}

// historyPage returns at most one entry less than q.Limit: a version is compared with the one before it, so one version more than
// entries is read. The page also ends when the bodies that were read have historyPages times PageBytes. It holds two bodies
// in memory at a time.
func (s *Service) historyPage(ctx context.Context, r Reader, q VersionQuery) (Page[HistoryEntry], error) {
	tags, err := tagNames(ctx, r, q.AppID)
	if err != nil {
		return Page[HistoryEntry]{}, err
	}
	restored, err := restorations(ctx, r, q)
	if err != nil {
		return Page[HistoryEntry]{}, err
	}
	var page Page[HistoryEntry]
	c := changeLog{limits: s.limits, budget: jsondiff.NewBudget(historySteps)}
	bytes, largest := 0, 0
	// The newest version begins the log. Each later one completes the entry of the version after it, and adds its own.
	for app, err := range r.Versions(ctx, q) {
		if err != nil {
			return Page[HistoryEntry]{}, err
		}
		if size := len(app.Body); size > largest { // for two bodies, and what is found in them
			if err := memlimit.Reserve(ctx, 3*(size-largest)); err != nil {
				return Page[HistoryEntry]{}, err
			}
			largest = size
		}
		if n := len(page.Items); n > 0 {
			last := &page.Items[n-1]
			if last.Changes, last.ChangesTruncated, err = c.since(app.Body); err != nil {
				return Page[HistoryEntry]{}, err
			}
			if bytes += len(app.Body); n == q.Limit-1 || bytes >= historyPages*s.limits.PageBytes {
				page.Next = last.Version.String()
				return page, nil
			}
		} else if err := c.begin(app.Body); err != nil {
			return Page[HistoryEntry]{}, err
		}
		page.Items = append(page.Items, HistoryEntry{
			Version: app.Version, UpdatedAt: app.UpdatedAt, UpdatedBy: app.UpdatedBy,
			RestoredFrom: restored[app.Version], Tags: tags[app.Version],
		})
	}
	return page, nil
}

// tagNames returns the names of the tags that point to each version of an app, sorted.
func tagNames(ctx context.Context, r Reader, id string) (map[Version][]string, error) {
	out := map[Version][]string{}
	for t, err := range r.Tags(ctx, TagQuery{AppID: id}) {
		if err != nil {
			return nil, err
		}
		out[t.AppVersion] = append(out[t.AppVersion], t.Name)
	}
	return out, nil
}

// restorations returns, for each version that q asks for and that Restore made, the version whose content it has.
func restorations(ctx context.Context, r Reader, q VersionQuery) (map[Version]Version, error) {
	out := map[Version]Version{}
	for rest, err := range r.Restorations(ctx, q) {
		if err != nil {
			return nil, err
		}
		out[rest.Version] = rest.From
	}
	return out, nil
}

// changeLog compares each version with the one before it, from the newest to the oldest. Each version is taken apart once:
// it is the older one of a comparison first, and then the newer one of the next comparison.
type changeLog struct {
	limits Limits
	budget *jsondiff.Budget
	newer  comparedVersion // the version that is compared next
}

// begin sets the newest version.
func (c *changeLog) begin(body Body) (err error) {
	c.newer, err = body.compared(comparedVersion{})
	return err
}

// since returns what has changed since the version with this body, and goes on to that version. When the budget is
// spent, it returns no changes.
func (c *changeLog) since(body Body) (changes []HistoryChange, truncated bool, err error) {
	if c.budget.Spent() {
		return nil, true, nil
	}
	older, err := body.compared(c.newer)
	if err != nil {
		return nil, false, err
	}
	c.budget.Spend(older.scanned)
	ops, err := c.limits.diff(older, c.newer, c.budget)
	c.newer = older
	if err != nil || c.budget.Spent() {
		return nil, true, err
	}
	size := len("[]")
	for _, op := range ops {
		op.Value = nil
		if size += jsondiff.Size(op); len(changes) == historyChanges || size-1 > historyBytes { // no comma behind the last
			return slices.Clip(changes), true, nil
		}
		changes = append(changes, HistoryChange{op.Kind, op.From, op.Path})
	}
	return changes, false, nil
}
