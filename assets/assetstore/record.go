package assetstore

// Record is a stored asset: its keys, times and body.
type Record struct {
	Ordinal   int64    // 1 to MaxOrdinal, ascending in the order in which assets were added
	Origin    Origin   // no two assets of a library have the same
	CreatedAt int64    // time of adding, milliseconds since the epoch
	UpdatedAt int64    // time of the last change of its content; never lower than CreatedAt
	Folders   []string // ids of its folders, in the order in which it was put into them
	Body      Body
}

// MaxOrdinal bounds the ordinals of a library.
const MaxOrdinal = 1<<40 - 1

// Origin identifies an asset in the service that it comes from: a digest of its generator and its id there.
type Origin [16]byte

// Body is the content of an asset as one compact JSON object, exactly as a response has it: the members content and
// safe_tags and, if the asset has them, via, rights and attributes.
type Body []byte

// Attribute labels an asset with a key and a value.
type Attribute struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}
