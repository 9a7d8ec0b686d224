package assets

import "github.com/vitrine-go/vitrine/assets/assetstore"

// The types that both users of a Service and storage drivers need. Package assetstore defines them
// and documents their fields.
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

// The types that only storage drivers need: the interfaces that a driver implements, the rows that
// it stores, and the queries that it answers. Package assetstore defines and documents them.
// Programs that only use a Service need none of these, except Store to name what they pass to New
// and Body to read the content of an Asset.
type (
	Store  = assetstore.Store  // opens transactions
	Reader = assetstore.Reader // the reading half of a transaction
	Tx     = assetstore.Tx     // a writing transaction

	State        = assetstore.State        // the row of a library
	Key          = assetstore.Key          // encrypts the ids of a library
	Record       = assetstore.Record       // a stored asset
	Origin       = assetstore.Origin       // identifies an asset in the service that it comes from
	Body         = assetstore.Body         // the content, tags and attributes of an asset, in JSON
	FolderRecord = assetstore.FolderRecord // a stored folder

	Index      = assetstore.Index      // the index entries of an asset
	AnyOf      = assetstore.AnyOf      // a set of terms, of which an asset must have one
	AssetQuery = assetstore.AssetQuery // asks for assets by their terms
	TermCount  = assetstore.TermCount  // how many assets have a term

	FeedEntry    = assetstore.FeedEntry    // a stored change
	FeedPosition = assetstore.FeedPosition // the place of a change in the feed of its library
	FeedState    = assetstore.FeedState    // the row of a feed
)

// Bounds of what drivers store.
const (
	MaxOrdinal = assetstore.MaxOrdinal // the highest ordinal of an asset
	MaxTerm    = assetstore.MaxTerm    // the length of the longest term, in bytes
)
