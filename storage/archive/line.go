package archive

import (
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/reviews"
)

// format is the version of the format, which the first line names.
const format = 2

// line is a line of an archive. Exactly one of its members is set; Vitrine, the version of the format, is set in the
// first line only. The types of the members are the format: a name in them must never change. For each there is a
// function that makes it from a row of a store (newTag) and one that makes the row (stored).
type line struct {
	number int64 // of the line in the archive

	Vitrine    int         `json:"vitrine,omitzero"`
	Component  *component  `json:"component,omitzero"`
	Version    *version    `json:"version,omitzero"`
	Tag        *tag        `json:"tag,omitzero"`
	Move       *move       `json:"move,omitzero"`
	Answer     *answer     `json:"answer,omitzero"`
	Library    *library    `json:"library,omitzero"`
	Folder     *folder     `json:"folder,omitzero"`
	Asset      *asset      `json:"asset,omitzero"`
	Collection *collection `json:"collection,omitzero"`
	Review     *review     `json:"review,omitzero"`
	End        *end        `json:"end,omitzero"`
}

// number is a version as archives write it: as a JSON number, whatever JSON vitrine.Version has elsewhere.
type number struct{ vitrine.Version }

func (n number) MarshalJSON() ([]byte, error) { return strconv.AppendInt(nil, n.Number(), 10), nil }

func (n *number) UnmarshalJSON(text []byte) (err error) {
	n.Version, err = vitrine.ParseVersion(string(text))
	return err
}

// what names the thing of the line, for an error.
func (l line) what() string {
	switch {
	case l.Component != nil:
		return fmt.Sprintf("component %q", l.Component.Name)
	case l.Version != nil:
		return fmt.Sprintf("version %s of app %q", l.Version.Version.Version, l.Version.App)
	case l.Tag != nil:
		return fmt.Sprintf("tag %q of app %q", l.Tag.Name, l.Tag.App)
	case l.Move != nil:
		return fmt.Sprintf("move %d of tag %q of app %q", l.Move.Number, l.Move.Tag, l.Move.App)
	case l.Answer != nil:
		return fmt.Sprintf("answer %q of %q", l.Answer.Key, l.Answer.By)
	case l.Library != nil:
		return fmt.Sprintf("library %q of %q", l.Library.ID, l.Library.Network)
	case l.Folder != nil:
		return fmt.Sprintf("folder %q", l.Folder.ID)
	case l.Asset != nil:
		return fmt.Sprintf("asset %d", l.Asset.Ordinal)
	case l.Collection != nil:
		return fmt.Sprintf("collection %q of %q", l.Collection.ID, l.Collection.Source)
	case l.Review != nil:
		return fmt.Sprintf("review %q", l.Review.ID)
	}
	return "the line"
}

// component is a version of a component.
type component struct {
	ID       string         `json:"id"`
	Name     string         `json:"name"`
	Version  string         `json:"version"`
	Main     string         `json:"main"`
	Manifest jsontext.Value `json:"manifest"`
}

func newComponent(c appsvc.Component) *component {
	return &component{c.ID, c.Name, c.Version, c.Main, c.Manifest}
}

func (c component) stored() appsvc.Component {
	return appsvc.Component{ID: c.ID, Name: c.Name, Version: c.Version, Main: c.Main, Manifest: c.Manifest}
}

// version is a version of an app. Owner and CreatedAt are those of the app, and so the same in all of its versions.
type version struct {
	App       string `json:"app"`
	Version   number `json:"version"`
	Owner     string `json:"owner"`
	CreatedAt int64  `json:"createdAt"`
	UpdatedAt int64  `json:"updatedAt"`
	UpdatedBy string `json:"updatedBy"`
	// RestoredFrom is nil for versions that were not restored.
	RestoredFrom *number        `json:"restoredFrom,omitzero"`
	Body         jsontext.Value `json:"body"`
}

// newVersion returns the line of a version; from is the version that it was restored from, the zero Version if none.
func newVersion(a appsvc.App, from vitrine.Version) *version {
	v := &version{App: a.ID, Version: number{a.Version}, Owner: a.Owner, CreatedAt: a.CreatedAt, UpdatedAt: a.UpdatedAt,
		UpdatedBy: a.UpdatedBy, Body: jsontext.Value(a.Body)}
	if !from.IsZero() {
		v.RestoredFrom = &number{from}
	}
	return v
}

func (v version) stored() appsvc.App {
	meta := appsvc.Meta{ID: v.App, Version: v.Version.Version, Owner: v.Owner, CreatedAt: v.CreatedAt, UpdatedAt: v.UpdatedAt, UpdatedBy: v.UpdatedBy}
	return appsvc.App{Meta: meta, Body: appsvc.Body(v.Body)}
}

// restoration returns where the content of the version comes from; ok is false if it was not restored.
func (v version) restoration() (r appsvc.Restoration, ok bool) {
	if v.RestoredFrom == nil {
		return r, false
	}
	return appsvc.Restoration{AppID: v.App, Version: v.Version.Version, From: v.RestoredFrom.Version}, true
}

// tag is where a tag of an app points now.
type tag struct {
	App     string `json:"app"`
	Name    string `json:"name"`
	Version number `json:"version"`
}

func newTag(t appsvc.Tag) *tag { return &tag{t.AppID, t.Name, number{t.AppVersion}} }
func (t tag) stored() appsvc.Tag {
	return appsvc.Tag{AppID: t.App, Name: t.Name, AppVersion: t.Version.Version}
}

// move is a move of a tag.
type move struct {
	App    string  `json:"app"`
	Tag    string  `json:"tag"`
	Number int64   `json:"number"`
	At     int64   `json:"at"`
	By     string  `json:"by"`
	From   *number `json:"from"` // null = there was no tag
	To     *number `json:"to"`   // null = the tag was deleted
}

func newMove(m appsvc.TagMoveRecord) *move {
	return &move{m.AppID, m.Name, m.Number, m.At, m.By, orNull(m.From), orNull(m.To)}
}

func (m move) stored() appsvc.TagMoveRecord {
	return appsvc.TagMoveRecord{AppID: m.App, Name: m.Tag, Number: m.Number,
		TagMove: appsvc.TagMove{At: m.At, By: m.By, From: m.From.orNone(), To: m.To.orNone()}}
}

// orNull returns nil for the zero Version.
func orNull(v vitrine.Version) *number {
	if v.IsZero() {
		return nil
	}
	return &number{v}
}

// orNone returns the zero Version for nil.
func (n *number) orNone() vitrine.Version {
	if n == nil {
		return vitrine.Version{}
	}
	return n.Version
}

// answer is the stored result of a write with an idempotency key.
type answer struct {
	By      string `json:"by"`
	Key     string `json:"key"`
	Request []byte `json:"request"`
	Result  []byte `json:"result"`
	Expires int64  `json:"expires"`
}

func newAnswer(a appsvc.Answer) *answer { return &answer{a.By, a.Key, a.Request, a.Result, a.Expires} }
func (a answer) stored() appsvc.Answer {
	return appsvc.Answer{By: a.By, Key: a.Key, Request: a.Request, Result: a.Result, Expires: a.Expires}
}

// library is a library with its State. Its folders and assets are in the lines that follow.
type library struct {
	Network string     `json:"network"`
	ID      string     `json:"id"`
	Key     assets.Key `json:"key"`
	Last    int64      `json:"last"`
	At      int64      `json:"at"`
	Count   int64      `json:"count"`
	Tree    int64      `json:"tree"`
}

func newLibrary(l assets.Library, s assets.State) *library {
	return &library{l.Network, l.ID, s.Key, s.Last, s.At, s.Count, s.Tree}
}

func (l library) name() assets.Library { return assets.Library{Network: l.Network, ID: l.ID} }
func (l library) state() assets.State {
	return assets.State{Key: l.Key, Last: l.Last, At: l.At, Count: l.Count, Tree: l.Tree}
}

// folder is a folder of the library in the line above.
type folder struct {
	ID          string              `json:"id"`
	Parent      string              `json:"parent"`
	Label       string              `json:"label"`
	Inherit     bool                `json:"inherit"`
	Deleted     bool                `json:"deleted"`
	Permissions []assets.Permission `json:"permissions"`
}

func newFolder(f assets.FolderRecord) *folder {
	return &folder{f.ID, f.Parent, f.Label, f.Inherit, f.Deleted, f.Permissions}
}

func (f folder) stored() assets.FolderRecord {
	return assets.FolderRecord{ID: f.ID, Parent: f.Parent, Label: f.Label, Inherit: f.Inherit, Deleted: f.Deleted, Permissions: f.Permissions}
}

// asset is an asset of the library in the line above. Its index entries are not stored, since Import computes them.
type asset struct {
	Ordinal   int64          `json:"ordinal"`
	Origin    assets.Origin  `json:"origin"`
	CreatedAt int64          `json:"createdAt"`
	UpdatedAt int64          `json:"updatedAt"`
	Folders   []string       `json:"folders"`
	Body      jsontext.Value `json:"body"`
}

func newAsset(r assets.Record) *asset {
	return &asset{r.Ordinal, r.Origin, r.CreatedAt, r.UpdatedAt, r.Folders, jsontext.Value(r.Body)}
}

func (a asset) stored() assets.Record {
	return assets.Record{Ordinal: a.Ordinal, Origin: a.Origin, CreatedAt: a.CreatedAt, UpdatedAt: a.UpdatedAt, Folders: a.Folders, Body: assets.Body(a.Body)}
}

// collection is a collection of reviews, without the reviews, which are in the lines that follow.
type collection struct {
	Network *string        `json:"network"` // nil is refused: a collection without a network
	Source  string         `json:"source"`
	ID      string         `json:"id"`
	Tally   []byte         `json:"tally"`
	Fields  jsontext.Value `json:"fields"`
}

func newCollection(network string, c reviews.Collection) *collection {
	return &collection{&network, c.Source, c.ID, c.Tally, c.Fields}
}

func (c collection) key() reviews.Key { return reviews.Key{Source: c.Source, ID: c.ID} }
func (c collection) stored() reviews.Collection {
	return reviews.Collection{Key: c.key(), Fields: c.Fields, Tally: c.Tally}
}

// review is a review of the collection in the line above. Its time is read from Data.
type review struct {
	ID   string         `json:"id"`
	Data jsontext.Value `json:"data"`
}

func newReview(r reviews.Review) *review { return &review{r.ID, r.Data} }

// stored returns the row. If Data is malformed, the row has the time 0; the auditor refuses such a line.
func (r review) stored() reviews.Review {
	row, err := reviews.StoredReview(r.ID, r.Data)
	if err != nil {
		return reviews.Review{ID: r.ID, Data: r.Data}
	}
	return row
}

// end is the last line. By it Open notices that an archive was truncated or changed.
type end struct {
	Lines  int64  `json:"lines"`  // before this one
	SHA256 string `json:"sha256"` // of them with their line ends, in hexadecimal
}
