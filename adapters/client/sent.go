package client

import (
	"encoding/json"

	"github.com/vitrine-go/vitrine/assets"
)

// The bodies of changes. They distinguish a member that is left out from one that is empty.

type sentAssets struct {
	Add    []sentAsset `json:"add"`
	Remove []string    `json:"remove"`
}

type sentAsset struct {
	ID        string           `json:"id"`
	Generator assets.Generator `json:"generator"`
	Content   json.RawMessage  `json:"content,omitzero"`
	Folders   []string         `json:"folders"`
	SafeTags  []string         `json:"safe_tags,omitzero"` // nil leaves them as they are
	Via       *int64           `json:"via,omitzero"`
	Rights    *int64           `json:"rights,omitzero"`
}

func newAssets(in assets.ChangeAssetsRequest) sentAssets {
	out := sentAssets{Remove: in.Remove}
	for _, a := range in.Add {
		out.Add = append(out.Add, sentAsset(a))
	}
	return out
}

type sentFolders struct {
	Create []sentFolder   `json:"create"`
	Update []folderChange `json:"update"`
	Delete []string       `json:"delete"`
	Remove []string       `json:"remove"`
}

type sentFolder struct {
	Label       string              `json:"label"`
	Path        string              `json:"path,omitzero"`
	Inherit     *bool               `json:"inherit,omitzero"`
	Permissions []assets.Permission `json:"permissions"`
}

type folderChange struct {
	ID      string  `json:"id"`
	Label   *string `json:"label,omitzero"`
	Path    *string `json:"path,omitzero"`
	Inherit *bool   `json:"inherit,omitzero"`
	Deleted *bool   `json:"deleted,omitzero"`
}

func folderChanges(in assets.ChangeFoldersRequest) sentFolders {
	out := sentFolders{Delete: in.Delete, Remove: in.Remove}
	for _, f := range in.Create {
		out.Create = append(out.Create, sentFolder(f))
	}
	for _, f := range in.Update {
		out.Update = append(out.Update, folderChange(f))
	}
	return out
}
