package assets

import "time"

// Limits bound the requests to a Service. A zero field means the default, which is the number at the end of each comment.
type Limits struct {
	Page       int // items a page may have; 500
	Name       int // characters of a label, a generator id, a tag, an attribute's key, a library's id; 128
	Subject    int // characters of what a permission names; 512
	Text       int // characters of a foreign id and an attribute's value; 1,024
	Tags       int // of an asset; 100
	Attributes int // of an asset, and in one list of a change; 1,000
	// AssetFolders is the number of folders that an asset may be in; 1,000.
	AssetFolders int
	Content      int // bytes of an asset's content, as it is sent; 256 KiB
	Permissions  int // of one folder; 1,000
	Depth        int // levels of folders; 64
	Query        int // bytes of a search text; 512
	Words        int // of a search text; 16
	SearchTags   int // that a search asks for; 16
	// SearchAttributes is the number of attributes that a search asks for; 16.
	SearchAttributes int
	Facets           int // of a search; 8
	IDs              int // that a list of folders asks for, and likewise paths; 100
	// SearchTime is how long a search may take; 2 s. One that takes longer is ErrBusy.
	SearchTime time.Duration
	// Terms bounds the index entries that one request may store: the different words, tags, folders and attributes of
	// each asset, added up over its assets. Other writes wait while they are stored. 200,000.
	Terms int
	// PageBytes is the size at which a page ends, and the largest response to a change of assets, attributes or folders.
	// A response with a single item may be longer. 16 MiB.
	PageBytes int
}

func (l Limits) withDefaults() Limits {
	for _, d := range []struct {
		field *int
		value int
	}{
		{&l.Page, 500}, {&l.Name, 128}, {&l.Subject, 512}, {&l.Text, 1024}, {&l.Tags, 100},
		{&l.Attributes, 1000}, {&l.AssetFolders, 1000}, {&l.Content, 256 << 10},
		{&l.Permissions, 1000}, {&l.Depth, 64}, {&l.Query, 512}, {&l.Words, 16}, {&l.Terms, 200_000}, {&l.PageBytes, 16 << 20},
		{&l.SearchTags, 16}, {&l.SearchAttributes, 16}, {&l.Facets, 8}, {&l.IDs, 100},
	} {
		if *d.field == 0 {
			*d.field = d.value
		}
	}
	if l.SearchTime == 0 {
		l.SearchTime = 2 * time.Second
	}
	return l
}

// defaultPage is the number of items of a page when a request names none.
const defaultPage = 50

// pageLimit returns the number of items a page may have.
func (s *Service) pageLimit(asked int) (int, error) {
	switch {
	case asked == 0:
		return defaultPage, nil
	case asked < 0 || asked > s.limits.Page:
		return 0, invalid("limit", "want 1 to %d", s.limits.Page)
	}
	return asked, nil
}

// checkAnswer returns ErrInvalid if the response to a change is longer than Limits.PageBytes. A change of one item is always
// allowed, since it cannot be sent in parts.
func (s *Service) checkAnswer(items, bytes int) error {
	if items > 1 && bytes > s.limits.PageBytes {
		return invalid("", "the answer to the request would have more than %d bytes: send it in parts", s.limits.PageBytes)
	}
	return nil
}
