package assetstore

import "slices"

// FolderRecord is a stored folder. It names its parent and not its path, so moving a folder changes one record.
type FolderRecord struct {
	ID          string
	Parent      string // id of the folder it is in; "" = top level
	Label       string
	Inherit     bool // the permissions of the parent apply here too
	Deleted     bool // the folder itself was deleted; the folders below it keep their own mark and are hidden with it
	Permissions []Permission
}

// Clone returns a copy that shares nothing with f.
func (f FolderRecord) Clone() FolderRecord {
	f.Permissions = slices.Clone(f.Permissions)
	for i, p := range f.Permissions {
		f.Permissions[i] = p.Clone()
	}
	return f
}
