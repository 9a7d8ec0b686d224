package client

import (
	"encoding/json"

	"github.com/vitrine-go/vitrine/assets"
)

// The bodies of changes. They distinguish a member that is left out from one that is empty.

// sentAssets is the body of POST …/assets.
type sentAssets struct {
	Add    []sentAsset `json:"add"`
	Remove []string    `json:"remove"`
}

// sentAsset is an asset to add. It has the fields of assets.NewAsset.
type sentAsset struct {
	ID        string           `json:"id"`
	Generator assets.Generator `json:"generator"`
	Content   json.RawMessage  `json:"content,omitzero"`
	Folders   []string         `json:"folders"`
	SafeTags  []string         `json:"safe_tags,omitzero"` // nil leaves them as they are
	Via       *int64           `json:"via,omitzero"`
	Rights    *int64           `json:"rights,omitzero"`
}

// newAssets returns a request of package assets as the body that is sent.
func newAssets(in assets.ChangeAssetsRequest) sentAssets {
	out := sentAssets{Remove: in.Remove}
	for _, a := range in.Add {
		out.Add = append(out.Add, sentAsset(a))
	}
	return out
}

// sentFolders is the body of POST …/folders.
type sentFolders struct {
	Create []sentFolder   `json:"create"`
	Update []folderChange `json:"update"`
	Delete []string       `json:"delete"`
	Remove []string       `json:"remove"`
	Purge  []string       `json:"purge,omitzero"`
}

// sentFolder is a folder to create. It has the fields of assets.NewFolder.
type sentFolder struct {
	Label       string              `json:"label"`
	Path        string              `json:"path,omitzero"`
	Inherit     *bool               `json:"inherit,omitzero"`
	Permissions []assets.Permission `json:"permissions"`
}

// folderChange is a change of a folder. It has the fields of assets.FolderChange; nil leaves a member as it is.
type folderChange struct {
	ID      string  `json:"id"`
	Label   *string `json:"label,omitzero"`
	Path    *string `json:"path,omitzero"`
	Inherit *bool   `json:"inherit,omitzero"`
	Deleted *bool   `json:"deleted,omitzero"`
}

// folderChanges returns a request of package assets as the body that is sent.
func folderChanges(in assets.ChangeFoldersRequest) sentFolders {
	out := sentFolders{Delete: in.Delete, Remove: in.Remove, Purge: in.Purge}
	for _, f := range in.Create {
		out.Create = append(out.Create, sentFolder(f))
	}
	for _, f := range in.Update {
		out.Update = append(out.Update, folderChange(f))
	}
	return out
}
