package httpapi

import (
	stdjson "encoding/json"
	"net/http"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/vitrine-go/vitrine/assets"
)

// The bodies of the asset manager distinguish a member that is missing from one that is empty. null is refused, except for the
// role, the group and the user of a permission, which responses have as null too, and inside content.
//
// Each type ending in Body is the body of a request, or a part of one, as a client sends it. Its method change returns the
// request of package assets. The types of that package cannot be decoded directly: in them a zero value stands for "not
// given", and a required member that is missing would look like an empty one.

// optional is a member that may be left out, and is not null when it is there: a pointer alone would
// take null for left out.
type optional[T any] struct{ value *T }

// UnmarshalJSONFrom is called for a member that is there; the strict decoder has refused null before.
func (o *optional[T]) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	o.value = new(T)
	return json.UnmarshalDecode(dec, o.value)
}

// required returns the value of a member of the object at a pointer. It sets err, unless that is set,
// when the member is missing. So a body is read to its end in one expression, and the first mistake is the one that is
// reported.
func required[T any](err *error, o optional[T], at, name string) (v T) {
	if o.value != nil {
		return *o.value
	}
	if *err == nil {
		*err = refusePointer(http.StatusBadRequest, at+"/"+name, "member %q is missing", name)
	}
	return v
}

// item is the pointer to an item of a list.
func item(list string, i int) string { return list + "/" + strconv.Itoa(i) }

// assetsBody is the body of POST …/assets. A member without the type optional may be left out; an empty one means the
// same.
type assetsBody struct {
	Add    []newAssetBody `json:"add"`
	Remove []string       `json:"remove"`
}

// newAssetBody is an asset to add. id, generator and content are required. content keeps its text, since it is stored as it was
// sent; the service reads it, and says what is wrong in it.
type newAssetBody struct {
	ID        optional[string]        `json:"id"`
	Generator optional[generatorBody] `json:"generator"`
	Content   stdjson.RawMessage      `json:"content"`
	Folders   []string                `json:"folders"`
	SafeTags  []string                `json:"safe_tags"`
	Via       optional[int64]         `json:"via"`
	Rights    optional[int64]         `json:"rights"`
}

// generatorBody is the service that an asset comes from. Its other members are refused as unknown.
type generatorBody struct {
	ID optional[string] `json:"id"`
}

// change returns the body as a request of the service. Each change below does the same for its body. It returns a 400
// for the first required member that is missing, with the pointer of that member; all other rules are those of the
// service.
func (b assetsBody) change() (in assets.ChangeAssetsRequest, err error) {
	in.Add, in.Remove = make([]assets.NewAsset, len(b.Add)), b.Remove
	for i, a := range b.Add {
		at := item("/add", i)
		in.Add[i] = assets.NewAsset{
			ID: required(&err, a.ID, at, "id"), Content: a.Content, Folders: a.Folders, SafeTags: a.SafeTags,
			Via: a.Via.value, Rights: a.Rights.value,
		}
		generator := required(&err, a.Generator, at, "generator")
		in.Add[i].Generator.ID = required(&err, generator.ID, at+"/generator", "id")
	}
	return in, err
}

// foldersBody is the body of POST …/folders. Remove is another name of Delete.
type foldersBody struct {
	Create []newFolderBody `json:"create"`
	Update []folderBody    `json:"update"`
	Delete []string        `json:"delete"`
	Remove []string        `json:"remove"`
	Purge  []string        `json:"purge"`
}

// newFolderBody is a folder to create. label is required; without path the folder is created at the top level, and without
// inherit it inherits.
type newFolderBody struct {
	Label       optional[string] `json:"label"`
	Path        optional[string] `json:"path"`
	Inherit     optional[bool]   `json:"inherit"`
	Permissions []permissionBody `json:"permissions"`
}

// folderBody is a change of one folder. A member that is left out stays as it is.
type folderBody struct {
	ID      optional[string] `json:"id"`
	Label   optional[string] `json:"label"`
	Path    optional[string] `json:"path"`
	Inherit optional[bool]   `json:"inherit"`
	Deleted optional[bool]   `json:"deleted"`
}

// change returns the body as a request of the service. delete and remove are passed on as they are; the service treats them
// alike.
func (b foldersBody) change() (in assets.ChangeFoldersRequest, err error) {
	in.Delete, in.Remove, in.Purge = b.Delete, b.Remove, b.Purge
	for i, f := range b.Create {
		at := item("/create", i)
		in.Create = append(in.Create, assets.NewFolder{
			Label: required(&err, f.Label, at, "label"), Path: f.place(&err, at+"/path"), Inherit: f.Inherit.value,
			Permissions: permissionsOf(&err, f.Permissions, at+"/permissions"),
		})
	}
	for i, f := range b.Update {
		in.Update = append(in.Update, assets.FolderChange{
			ID:    required(&err, f.ID, item("/update", i), "id"),
			Label: f.Label.value, Path: f.Path.value, Inherit: f.Inherit.value, Deleted: f.Deleted.value,
		})
	}
	return in, err
}

// place returns the path to create the folder in: that of the top level when none is given. It sets err, unless
// that is set, when the path is empty.
func (f newFolderBody) place(err *error, at string) string {
	if f.Path.value == nil {
		return ""
	}
	if *f.Path.value == "" && *err == nil {
		*err = refusePointer(http.StatusBadRequest, at, "must not be empty: want / or /<id>/<id>")
	}
	return *f.Path.value
}

// permissionsBody is the body of POST …/folder/{folder}/permissions.
type permissionsBody struct {
	Create []permissionBody `json:"create"`
	Remove []permissionBody `json:"remove"`
}

// permissionBody is a permission as a client sends it. Exactly one of Role, Group and User is set; the others may be
// null.
type permissionBody struct {
	ID        string                     `json:"id"`
	RType     string                     `json:"rType"`
	Operation optional[assets.Operation] `json:"operation"`
	RID       string                     `json:"rId"`
	Role      *subjectBody               `json:"role"`
	Group     *string                    `json:"group"`
	User      *subjectBody               `json:"user"`
}

// subjectBody is a role or a user. The name is for people and grants nothing.
type subjectBody struct {
	ID   optional[string] `json:"id"`
	Name string           `json:"name"`
}

// change returns the body as a request of the service. A permission to remove that has an id is known by it, and
// nothing else of it is read.
func (b permissionsBody) change() (in assets.ChangePermissionsRequest, err error) {
	in.Create = permissionsOf(&err, b.Create, "/create")
	for i, p := range b.Remove {
		if p.ID != "" { // that says which, and nothing else is looked at
			in.Remove = append(in.Remove, assets.Permission{ID: p.ID})
			continue
		}
		in.Remove = append(in.Remove, p.permission(&err, item("/remove", i)))
	}
	return in, err
}

// permissionsOf returns the permissions of a list at a pointer, and sets err as required does.
func permissionsOf(err *error, list []permissionBody, at string) (out []assets.Permission) {
	for i, p := range list {
		out = append(out, p.permission(err, item(at, i)))
	}
	return out
}

// permission returns the permission at a pointer, and sets err as required does.
func (p permissionBody) permission(err *error, at string) assets.Permission {
	return assets.Permission{
		ID: p.ID, RType: p.RType, Operation: required(err, p.Operation, at, "operation"), RID: p.RID,
		Role: p.Role.subject(err, at+"/role"), Group: p.Group, User: p.User.subject(err, at+"/user"),
	}
}

// subject returns the subject at a pointer, nil for null and for none, and sets err as required does.
func (s *subjectBody) subject(err *error, at string) *assets.Subject {
	if s == nil {
		return nil
	}
	return &assets.Subject{ID: required(err, s.ID, at, "id"), Name: s.Name}
}

// attributesBody is the body of POST …/attributes.
type attributesBody struct {
	Assets optional[[]string] `json:"assets"`
	Add    []attributeBody    `json:"add"`
	Set    []attributeBody    `json:"set"`
	Remove []attributeBody    `json:"remove"`
}

// attributeBody is an attribute, whose value may be empty but not left out.
type attributeBody struct {
	Key   optional[string] `json:"key"`
	Value optional[string] `json:"value"`
}

// change returns the body as a request of the service.
func (b attributesBody) change() (in assets.ChangeAttributesRequest, err error) {
	in.Assets = required(&err, b.Assets, "", "assets")
	in.Add = attributesOf(&err, b.Add, "/add")
	in.Set = attributesOf(&err, b.Set, "/set")
	in.Remove = attributesOf(&err, b.Remove, "/remove")
	return in, err
}

// attributesOf returns the attributes of a list at a pointer, and sets err as required does.
func attributesOf(err *error, list []attributeBody, at string) (out []assets.Attribute) {
	for i, a := range list {
		at := item(at, i)
		out = append(out, assets.Attribute{Key: required(err, a.Key, at, "key"), Value: required(err, a.Value, at, "value")})
	}
	return out
}
