package assetstore

import "slices"

// FolderRecord is a stored folder. It names its parent and not its path, so moving a folder changes
// one record. A folder is never removed from the store, so that it can be restored.
//
// A driver stores and returns all fields as they are, and gives them no meaning.
type FolderRecord struct {
	ID          string       // unique in the library
	Parent      string       // id of the folder that it is in; "" = top level
	Label       string       // any text without control characters; not unique
	Inherit     bool         // the permissions of the parent apply here too
	Deleted     bool         // the folder itself was deleted; folders below it are hidden with it and keep their own mark
	Permissions []Permission // those of the folder itself, in the order in which they were granted
}

// Clone returns a copy that shares nothing with f.
func (f FolderRecord) Clone() FolderRecord {
	f.Permissions = slices.Clone(f.Permissions)
	for i, p := range f.Permissions {
		f.Permissions[i] = p.Clone()
	}
	return f
}
