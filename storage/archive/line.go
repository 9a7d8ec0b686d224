package archive

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/reviews"
)

// format is the version of the format, in the first line.
const format = 1

// line is a line of an archive: one of its members is there.
type line struct {
	Vitrine    int         `json:"vitrine,omitzero"`
	Component  *component  `json:"component,omitzero"`
	Version    *version    `json:"version,omitzero"`
	Tag        *tag        `json:"tag,omitzero"`
	Answer     *answer     `json:"answer,omitzero"`
	Library    *library    `json:"library,omitzero"`
	Folder     *folder     `json:"folder,omitzero"`
	Asset      *asset      `json:"asset,omitzero"`
	Collection *collection `json:"collection,omitzero"`
	Review     *review     `json:"review,omitzero"`
	End        *end        `json:"end,omitzero"`
}

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

type version struct {
	App       string         `json:"app"`
	Version   appsvc.Version `json:"version"`
	Owner     string         `json:"owner"`
	CreatedAt int64          `json:"createdAt"`
	UpdatedAt int64          `json:"updatedAt"`
	UpdatedBy string         `json:"updatedBy"`
	Body      jsontext.Value `json:"body"`
}

func newVersion(a appsvc.App) *version {
	return &version{a.ID, a.Version, a.Owner, a.CreatedAt, a.UpdatedAt, a.UpdatedBy, jsontext.Value(a.Body)}
}

func (v version) stored() appsvc.App {
	meta := appsvc.Meta{ID: v.App, Version: v.Version, Owner: v.Owner, CreatedAt: v.CreatedAt, UpdatedAt: v.UpdatedAt, UpdatedBy: v.UpdatedBy}
	return appsvc.App{Meta: meta, Body: appsvc.Body(v.Body)}
}

type tag struct {
	App     string         `json:"app"`
	Name    string         `json:"name"`
	Version appsvc.Version `json:"version"`
}

func newTag(t appsvc.Tag) *tag { return &tag{t.AppID, t.Name, t.AppVersion} }
func (t tag) stored() appsvc.Tag {
	return appsvc.Tag{AppID: t.App, Name: t.Name, AppVersion: t.Version}
}

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

type collection struct {
	Source string         `json:"source"`
	ID     string         `json:"id"`
	Tally  []byte         `json:"tally"`
	Fields jsontext.Value `json:"fields"`
}

func newCollection(c reviews.Collection) *collection {
	return &collection{c.Source, c.ID, c.Tally, c.Fields}
}

func (c collection) key() reviews.Key { return reviews.Key{Source: c.Source, ID: c.ID} }
func (c collection) stored() reviews.Collection {
	return reviews.Collection{Key: c.key(), Fields: c.Fields, Tally: c.Tally}
}

type review struct {
	ID   string         `json:"id"`
	Data jsontext.Value `json:"data"`
}

func newReview(r reviews.Review) *review { return &review{r.ID, r.Data} }
func (r review) stored() reviews.Review  { return reviews.Review{ID: r.ID, Data: r.Data} }

// end is the last line.
type end struct {
	Lines  int64  `json:"lines"`  // before this one
	SHA256 string `json:"sha256"` // of them with their line ends, in hexadecimal
}
