package client

import (
	"errors"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/vitrine-go/vitrine/assets"
)

// asset is an asset as it is answered. Its body keeps the bytes that were sent.
type asset struct{ assets.Asset }

// UnmarshalJSON is the inverse of assets.Asset.AppendJSON.
func (a *asset) UnmarshalJSON(text []byte) error {
	var head struct {
		ID      string         `json:"id"`
		Content jsontext.Value `json:"content"`
		Library struct {
			ID string `json:"id"`
		} `json:"library"`
		CreatedAt time.Time `json:"createdAt"`
		UpdatedAt time.Time `json:"updatedAt"`
		Folders   []folder  `json:"folders"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return err
	}
	if head.ID == "" || head.Content == nil {
		return errors.New("an asset lacks its id or its content")
	}
	a.Asset = assets.Asset{ID: head.ID, Library: head.Library.ID, CreatedAt: head.CreatedAt.UnixMilli(),
		UpdatedAt: head.UpdatedAt.UnixMilli(), Folders: foldersOf(head.Folders)}
	var err error
	a.Body, err = without(text, "id", "library", "createdAt", "updatedAt", "folders")
	return err
}

func assetsOf(list []asset) []assets.Asset {
	var out []assets.Asset
	for _, a := range list {
		out = append(out, a.Asset)
	}
	return out
}

// folder is a folder as it is answered.
type folder struct {
	ID          string              `json:"id"`
	Path        string              `json:"path"`
	Label       string              `json:"label"`
	Inherit     bool                `json:"inherit"`
	Deleted     bool                `json:"deleted"`
	Children    []string            `json:"children"`
	Permissions []assets.Permission `json:"permissions"`
}

func foldersOf(list []folder) []assets.Folder {
	var out []assets.Folder
	for _, f := range list {
		out = append(out, assets.Folder(f))
	}
	return out
}
