package assetstore

// Record is a stored asset. It has two keys, the Ordinal and the Origin; a driver finds an asset by
// either. It does not look into the Body.
type Record struct {
	Ordinal   int64    // 1 to MaxOrdinal, ascending in the order in which assets were added
	Origin    Origin   // no two assets of a library have the same
	CreatedAt int64    // time of adding, in milliseconds since the epoch; along the ordinals it never decreases
	UpdatedAt int64    // when ChangeAssets last changed it; never lower than CreatedAt
	Folders   []string // ids of its folders, each once, in the order in which it was put into them
	Body      Body
}

// MaxOrdinal is the highest ordinal that a library may have. It leaves room in 64 bits to store an
// ordinal together with a number of the library.
const MaxOrdinal = 1<<40 - 1

// Origin identifies an asset in the service that it comes from: a digest of its generator and its
// id there. It has a fixed size, whatever the length of the two.
type Origin [16]byte

// Body is what an asset says, as one compact JSON object, in the bytes that a response has:
//
//	{"content":{…},"safe_tags":["…"],"via":1,"rights":2,"attributes":[{"key":"…","value":"…"}]}
//
// The members via, rights and attributes are there only if the asset has them.
type Body []byte

// Attribute labels an asset with a key and a value. An asset may have several attributes with the
// same key, and none twice.
type Attribute struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}
