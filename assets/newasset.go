package assets

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/vitrine-go/vitrine/internal/fault"
)

// NewAsset is an asset to add. Generator, ID and Content are required. Generator and ID together
// identify the asset: adding another NewAsset with the same two replaces the content of the asset,
// and does not add a second one.
type NewAsset struct {
	ID        string    `json:"id"`        // the foreign id: that of the content in the service it comes from
	Generator Generator `json:"generator"` // the service it comes from
	// Content is a JSON object, such as {"content": "Hello", "lang": "en"}.
	// Its members id, generator and published are replaced by the service.
	Content json.RawMessage `json:"content,omitzero"`
	Folders []string        `json:"folders"` // ids of folders to put it into; it stays in those that it is in

	// If one of these is nil, an asset that is there already keeps what it has, and a new one has
	// none. The service gives no meaning to the numbers.
	SafeTags []string `json:"safe_tags,omitzero"` // its tags
	Via      *int64   `json:"via,omitzero"`       // how it was added
	Rights   *int64   `json:"rights,omitzero"`    // status of the rights request

	// CreatedAt is when the content was first published: from the year 1 to a day from now, in whole milliseconds. If
	// it is nil, an asset that is there already keeps its own, and a new one has the time of adding.
	CreatedAt *time.Time `json:"createdAt,omitempty"` // a zero time is one
	// Attributes are added to those that the asset has.
	Attributes []Attribute `json:"attributes,omitzero"`

	faults jsonFaults // of the text that it was read from
	stored bool       // the content was read from the store: it may have null where an earlier release has kept it
}

// Generator is the service that a content originates from, such as a social network.
type Generator struct {
	ID string `json:"id"`
}

// draft is a NewAsset that was checked and prepared before the transaction, as far as that needs no
// store. So other writes do not wait while its content is parsed and its text is split into words.
type draft struct {
	NewAsset
	at       string    // pointer to it in the request
	sent     []string  // ids of its folders as the request has them, with repeats
	unfiled  bool      // its first mention in the request names no folder
	mentions []mention // one for each item of the request that adds the asset
	origin   origin
	content  []byte      // as it is stored, except for its end, which needs createdAt; see contentHead
	text     []string    // terms of its text
	file     *fileRecord // nil for an asset without a file
	faulty   bool        // a fault of it is known, so it is not stored
}

// mention is one item of a request that adds an asset, with the folders that it names. A request
// may mention an asset twice.
type mention struct {
	at      string // pointer
	folders []string
}

// draft checks and prepares the asset. at is the pointer to it in the request. Its faults are added to all: ErrTooLarge
// if the content is longer than Limits.Content, ErrForbidden if only an upload may add it, and ErrInvalid if anything
// else is malformed or breaks a limit. Whether the folders exist is checked in the transaction.
func (in NewAsset) draft(at string, lim Limits, now time.Time, all *fault.List) (draft, error) {
	d := draft{NewAsset: in, at: at, unfiled: len(in.Folders) == 0, origin: originOf(in.Generator.ID, in.ID)}
	d.SafeTags = unique(in.SafeTags)
	d.sent, d.Folders = in.Folders, unique(in.Folders)
	d.mentions = []mention{{at, d.Folders}}
	before := len(*all)
	for _, e := range in.faults {
		_ = all.Add(fault.At(at, e))
	}
	if in.Generator.ID == filesGenerator {
		_ = all.Add(fault.At(at+"/generator/id", fault.Forbidden(
			"the generator %q is for assets with a file, which only an upload adds", filesGenerator)))
	}
	_ = all.Add(checkName(at+"/id", in.ID, lim.Text))
	_ = all.Add(checkName(at+"/generator/id", in.Generator.ID, lim.Name))
	checkAttributes(at+"/attributes", in.Attributes, lim, all)
	checkTags(at+"/safe_tags", in.SafeTags, lim, all)
	// The content is checked and put into the form in which it is stored, and its texts are split
	// into words.
	if err := checkContentSize(in.Content, at+"/content", lim); err != nil {
		_ = all.Add(err)
	} else {
		d.content = contentHead(in, at+"/content", before, all)
	}
	_ = all.Add(in.checkCreated(at, now))
	if d.faulty = len(*all) > before; d.faulty {
		return d, nil
	}
	// without published, which nobody searches
	var err error
	d.text, err = searchable(append(slices.Clip(d.content), '}'), lim.SearchedWords, newRules)
	return d, err
}

// checkTags adds ErrInvalid to all unless an asset may have these tags: at most Limits.Tags names. at is the pointer to
// the list.
func checkTags(at string, tags []string, lim Limits, all *fault.List) {
	if len(tags) > lim.Tags {
		_ = all.Add(fault.Invalid(at, "has %d tags, at most %d are allowed", len(tags), lim.Tags))
		return
	}
	for i, tag := range tags {
		_ = all.Add(checkName(fmt.Sprintf("%s/%d", at, i), tag, lim.Name))
	}
}

// collapse joins the drafts of the same asset into one, at the place of the first, with the same
// result as storing them one after the other. So each asset is read and written once, and its
// change is one change in the feed.
func collapse(drafts []draft) []draft {
	out := make([]draft, 0, len(drafts))
	first := make(map[origin]int, len(drafts))
	for _, d := range drafts {
		if i, again := first[d.origin]; again {
			out[i] = out[i].then(d)
			continue
		}
		first[d.origin] = len(out)
		out = append(out, d)
	}
	for i := range out {
		out[i].Folders = unique(out[i].Folders)
	}
	return out
}

// then returns the draft after next, a later draft of the same asset, was applied to it. The
// content is that of next. Tags, via, rights and createdAt are those of next if it has them. The folders and
// the attributes are those of both, possibly with repeats.
func (d draft) then(next draft) draft {
	d.content, d.text, d.faulty = next.content, next.text, d.faulty || next.faulty
	d.Folders, d.mentions = append(d.Folders, next.Folders...), append(d.mentions, next.mentions...)
	if next.SafeTags != nil {
		d.SafeTags = next.SafeTags
	}
	if next.Via != nil {
		d.Via = next.Via
	}
	if next.Rights != nil {
		d.Rights = next.Rights
	}
	if next.CreatedAt != nil {
		d.CreatedAt = next.CreatedAt
	}
	d.Attributes = slices.Concat(d.Attributes, next.Attributes)
	return d
}

// checkCreated returns ErrInvalid if CreatedAt is before the year 1 or more than a day from now. at is the pointer to
// the asset.
func (in NewAsset) checkCreated(at string, now time.Time) error {
	if t := in.CreatedAt; t != nil && (t.UTC().Year() < 1 || t.After(now.Add(24*time.Hour))) {
		return fault.Invalid(at+"/createdAt", "want a time from the year 1 to a day from now")
	}
	return nil
}

// createdAt returns when the content was first published, or otherwise if the draft does not have the time.
func (d draft) createdAt(otherwise int64) int64 {
	if d.CreatedAt != nil {
		return d.CreatedAt.UnixMilli()
	}
	return otherwise
}

// checkAttributeCount returns ErrInvalid if the draft's asset would have n attributes, had before, and n
// is more than Limits.Attributes permits.
func (d draft) checkAttributeCount(n, before int, lim Limits) error {
	if !withinLimit(n, before, lim.Attributes) {
		return fault.Invalid(d.at+"/attributes",
			"the asset would have %d attributes, at most %d are allowed", n, lim.Attributes)
	}
	return nil
}

// checkFolderCount returns ErrInvalid if the draft's asset would be in n folders, was in before, and
// n is more than Limits.AssetFolders permits.
func (d draft) checkFolderCount(n, before int, lim Limits) error {
	if !withinLimit(n, before, lim.AssetFolders) {
		return fault.Invalid(d.at+"/folders",
			"the asset would be in %d folders, at most %d are allowed", n, lim.AssetFolders)
	}
	return nil
}

// applyTo replaces the content of an asset, and its tags, via and rights if the draft has them, and
// adds attributes. createdAt is when the content was first published, in milliseconds since the epoch; the
// content has it as its member published.
func (d draft) applyTo(p *parts, createdAt int64) {
	p.Content, p.generator = finishContent(d.content, createdAt), d.Generator.ID
	if d.SafeTags != nil {
		p.Tags = d.SafeTags
	}
	if d.Via != nil {
		p.Via = d.Via
	}
	if d.Rights != nil {
		p.Rights = d.Rights
	}
	p.Attributes = unique(slices.Concat(p.Attributes, d.Attributes))
}

// unique returns the list without repeats, in its order; nil stays nil.
func unique[T comparable](list []T) []T {
	if list == nil {
		return nil
	}
	seen := make(map[T]bool, len(list))
	out := make([]T, 0, len(list))
	for _, v := range list {
		if !seen[v] {
			seen[v] = true
			out = append(out, v)
		}
	}
	return out
}
