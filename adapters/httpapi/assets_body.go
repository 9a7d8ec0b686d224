package httpapi

import (
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/vitrine-go/vitrine/assets"
)

// optional is a member that may be left out, and is not null when it is there: a pointer alone would
// take null for left out.
type optional[T any] struct{ value *T }

// UnmarshalJSONFrom is called for a member that is there; the strict decoder has refused null before.
func (o *optional[T]) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	o.value = new(T)
	return json.UnmarshalDecode(dec, o.value)
}

func errMissing(at, name string) error {
	return refuse(http.StatusBadRequest, "/%s: member %q is missing", at, name)
}

// foldersBody is the body of A5.
type foldersBody struct {
	Create []assets.NewFolder `json:"create"`
	Update []folderBody       `json:"update"`
	Delete []string           `json:"delete"`
	Remove []string           `json:"remove"`
}

type folderBody struct {
	ID      optional[string] `json:"id"`
	Label   optional[string] `json:"label"`
	Path    optional[string] `json:"path"`
	Inherit optional[bool]   `json:"inherit"`
	Deleted optional[bool]   `json:"deleted"`
}

func (b foldersBody) change() (assets.ChangeFolders, error) {
	in := assets.ChangeFolders{Create: b.Create, Delete: b.Delete, Remove: b.Remove}
	for i, f := range b.Update {
		if f.ID.value == nil {
			return in, errMissing(fmt.Sprintf("update/%d/id", i), "id")
		}
		in.Update = append(in.Update, assets.FolderChange{
			ID: *f.ID.value, Label: f.Label.value, Path: f.Path.value, Inherit: f.Inherit.value, Deleted: f.Deleted.value,
		})
	}
	return in, nil
}

// attributesBody is the body of A11.
type attributesBody struct {
	Assets []string        `json:"assets"`
	Add    []attributeBody `json:"add"`
	Set    []attributeBody `json:"set"`
	Remove []attributeBody `json:"remove"`
}

// attributeBody is an attribute, whose value may be empty but not left out.
type attributeBody struct {
	Key   optional[string] `json:"key"`
	Value optional[string] `json:"value"`
}

func (b attributesBody) change() (in assets.ChangeAttributes, err error) {
	if b.Assets == nil { // the strict decoder leaves nil only what is not there
		return in, errMissing("assets", "assets")
	}
	in.Assets = b.Assets
	for _, list := range []struct {
		name string
		from []attributeBody
		to   *[]assets.Attribute
	}{{"add", b.Add, &in.Add}, {"set", b.Set, &in.Set}, {"remove", b.Remove, &in.Remove}} {
		for i, a := range list.from {
			at := fmt.Sprintf("%s/%d", list.name, i)
			if a.Key.value == nil {
				return in, errMissing(at+"/key", "key")
			}
			if a.Value.value == nil {
				return in, errMissing(at+"/value", "value")
			}
			*list.to = append(*list.to, assets.Attribute{Key: *a.Key.value, Value: *a.Value.value})
		}
	}
	return in, nil
}
