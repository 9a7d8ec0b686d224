package assets

import "github.com/vitrine-go/vitrine/assets/assetstore"

// What a library holds, as users and drivers both name it. The fields are documented in assetstore.
type (
	// Library names an asset library of a network: its Network and its ID.
	Library = assetstore.Library
	// Permission grants an Operation on a folder to exactly one User, Role or Group.
	Permission = assetstore.Permission
	// Operation is what a permission allows: View, Edit or Manage, each including those before it.
	Operation = assetstore.Operation
	// Subject is a user or a role: its ID, which alone decides, and its Name.
	Subject = assetstore.Subject
	// Attribute labels an asset with a Key and a Value.
	Attribute = assetstore.Attribute
)

// The operations on a folder, from the least to the most.
const (
	View   = assetstore.View   // see the folder and what is in it
	Edit   = assetstore.Edit   // change what is in it: assets and subfolders
	Manage = assetstore.Manage // change the folder itself and its permissions
)

// What a storage driver implements, and the rows and queries that it is given: see assetstore. Programs that only use a
// Service need none of these.
type (
	Store        = assetstore.Store
	Reader       = assetstore.Reader
	Tx           = assetstore.Tx
	State        = assetstore.State
	Key          = assetstore.Key
	Record       = assetstore.Record
	Origin       = assetstore.Origin
	Body         = assetstore.Body
	FolderRecord = assetstore.FolderRecord
	Index        = assetstore.Index
	AnyOf        = assetstore.AnyOf
	AssetQuery   = assetstore.AssetQuery
	TermCount    = assetstore.TermCount
	FeedEntry    = assetstore.FeedEntry
	FeedPosition = assetstore.FeedPosition
	FeedState    = assetstore.FeedState
)

// Bounds of what drivers store.
const (
	MaxOrdinal = assetstore.MaxOrdinal // of the ordinals of a library
	MaxTerm    = assetstore.MaxTerm    // bytes of a term
)
