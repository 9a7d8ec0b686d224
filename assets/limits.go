package assets

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/vitrine-go/vitrine/internal/fault"
)

// Limits bound what one request to a Service may ask for or store, so that no request can take memory or time out of
// proportion. A zero field means the default, which is the number at the end of its comment, and New panics for a
// negative number. Characters are Unicode code points. A request over a limit is ErrInvalid unless the comment names
// another error.
//
// Limits may be lowered while a library has more. What is stored can still be read, reduced and
// replaced by as much, but it cannot grow. Only a library whose id is longer than Limits.Name cannot
// be used.
//
// # Content and limits
//
//   - The members via, rights and attributes are in an asset's JSON only if the asset has any.
//   - Optional members of content may be null. Of what services write for nothing, "" for an address or an object is
//     taken too. Both are left out, and so is an object that has nothing else. A size may be digits in a text, the
//     version of an attachment may be the number 1.0 or missing, and a type that is not one of oEmbed becomes link.
//   - Labels, tags, generator ids, attribute keys and library ids have 1 to 128 characters, foreign
//     ids 1 to 1,024, attribute values 0 to 1,024, subjects of permissions 1 to 512.
//   - A search has up to 2,000 bytes of text in 64 words, three lists of up to 16 tags, 16 attributes, 16 generators to
//     leave out, and 8 facets of up to 1,000 values. A list of folders has up to 100 ids and 100 paths. An asset is
//     found by the first 1,000 hosts that it has links to.
//   - An asset has up to 100 tags and 1,000 attributes and is in up to 1,000 folders. A list of
//     attributes to add, set or remove has up to 1,000. A folder has up to 1,000 permissions of its
//     own, and all folders of a library together 100,000; more is [vitrine.ErrTooLarge].
//   - The content of an asset has at most 256 KiB as it is sent; longer content is [vitrine.ErrTooLarge].
//   - A file has up to 64 MiB, and the files of a network have up to 10 GB together. Bytes of uploads that have failed
//     do not count.
//   - The assets that one request stores have up to 200,000 terms together; a larger request is
//     [vitrine.ErrInvalid].
//   - A request has up to 1,000 items of assets, folders or permissions, or 5,000 ids of assets to
//     assign or to label, its lists together. A library has up to 10,000 folders, counting deleted
//     ones. A search finds an asset by the first 20,000 words of its text.
//   - A caller makes one large change at a time, of more than 256 items or 1 MiB of content. Others
//     of the same caller wait for it.
//   - Attributes returns values up to Limits.ResponseBytes; a key with more is [vitrine.ErrInvalid].
type Limits struct {
	Page int // items of a page; 500
	// PageBytes is the size in bytes of a page: it ends before the item that would bring it above this, unless that is
	// the first. 4 MiB.
	PageBytes int
	// ResponseBytes is the longest response to a change of more than one item, and to a request for the values of a
	// key. 16 MiB.
	ResponseBytes int

	// Items is the number of items of a request that changes assets, folders or permissions: of assets
	// to add and ids to remove, of folders to create, update and delete, or of permissions to create
	// and remove, together. 1,000.
	Items int
	// AssetIDs is the number of ids of a request that assigns assets, together, or changes attributes. 5,000.
	AssetIDs int

	Name int // characters of a label, a generator id, a tag, an attribute's key and a library's id; 128
	Text int // characters of a foreign id and of an attribute's value; 1,024
	// characters of the id and of the name of a user or role that a permission names, and of a group's URN; 512
	Subject int

	Content      int // bytes of an asset's content as it is sent; longer is ErrTooLarge; 256 KiB
	Tags         int // tags of an asset; 100
	Attributes   int // attributes of an asset, and in one list of a change of attributes; 1,000
	AssetFolders int // folders that an asset may be in; 1,000
	// Terms is the number of index entries that one request may store: the different words, adjacent short words, tags,
	// folders and attributes of each asset that it adds or replaces, and the folders or attributes of each that it
	// assigns or labels. Other writes wait while they are stored. 200,000.
	Terms int
	// SearchedWords is the number of words of a text by which a search finds the asset: the first ones
	// of its content, and likewise of each of its author's names. A longer text is stored as a whole.
	// 20,000.
	SearchedWords int

	Folders     int // folders of a library, deleted ones included; 10,000
	Permissions int // permissions of a folder itself, without those that it inherits; 1,000
	// AllPermissions is the number of permissions of the folders of a library, deleted ones included,
	// added up. Every request works on all of them. More is ErrTooLarge. 100,000.
	AllPermissions int
	Depth          int // levels of folders; 64
	IDs            int // ids, and likewise paths, that a list of folders asks for; 100

	File  int   // bytes of a file; more is ErrTooLarge; 64 MiB
	Files int64 // bytes of all files of a network, with the renditions of pictures; more is ErrUnprocessable; 10 GB
	// Decoding is how many bytes the pictures take together that are decoded at a time, to make their renditions. A
	// picture that needs more has none. 256 MiB. With package httpapi it should be at most Limits.Memory there, from
	// which uploads take it.
	Decoding int

	Query            int // bytes of the text of a search, which is cut; 2,000
	Words            int // words of the text of a search, which is cut; 64
	SearchTags       int // tags that a search asks for, in each of its lists; 16
	SearchAttributes int // attributes that a search asks for; 16
	Facets           int // facets that a search asks for; 8
	FacetValues      int // values of a facet that a search asks for; 1,000
	// SearchTime is how long a search may take, without the time for reading the folders of the
	// library after a change; one that takes longer is ErrBusy; 2 s.
	SearchTime time.Duration
}

// withDefaults returns the limits with the default in place of each zero field.
func (l Limits) withDefaults() Limits {
	for _, d := range []struct {
		field *int
		value int
	}{
		{&l.Page, 500}, {&l.Name, 128}, {&l.Subject, 512}, {&l.Text, 1024}, {&l.Tags, 100},
		{&l.Attributes, 1000}, {&l.AssetFolders, 1000}, {&l.Content, 256 << 10},
		{&l.Permissions, 1000}, {&l.Depth, 64}, {&l.Query, 2000}, {&l.Words, 64}, {&l.Terms, 200_000},
		{&l.PageBytes, 4 << 20}, {&l.ResponseBytes, 16 << 20},
		{&l.SearchTags, 16}, {&l.SearchAttributes, 16}, {&l.Facets, 8}, {&l.FacetValues, 1000}, {&l.IDs, 100},
		{&l.Items, 1000}, {&l.AssetIDs, 5000}, {&l.SearchedWords, 20_000}, {&l.Folders, 10_000},
		{&l.AllPermissions, 100_000}, {&l.File, 64 << 20}, {&l.Decoding, 256 << 20},
	} {
		if *d.field == 0 {
			*d.field = d.value
		}
	}
	if l.Files == 0 {
		l.Files = 10_000_000_000
	}
	if l.SearchTime == 0 {
		l.SearchTime = 2 * time.Second
	}
	return l
}

// withinLimit reports whether a change may leave n of something that limit bounds and of which there
// were before, which is 0 for something new. If there were more than limit, which was lowered since,
// the change may leave as many.
func withinLimit(n, before, limit int) bool { return n <= max(limit, before) }

// checkResponse returns ErrInvalid if the response to a change has this number of items and is longer
// than Limits.ResponseBytes. A change of one item is always allowed, since it cannot be sent in parts.
func (s *Service) checkResponse(items, bytes int) error {
	if items > 1 && bytes > s.limits.ResponseBytes {
		return fault.Invalid("", "the response to the request would have more than %d bytes: send it in parts",
			s.limits.ResponseBytes)
	}
	return nil
}

// checkName returns ErrInvalid unless s is a name, such as a label, a tag or an id: a text of 1 to
// limit characters without control characters. at is the pointer to s. Names are not normalized: two that look alike
// may differ.
func checkName(at, s string, limit int) error {
	if s == "" {
		return fault.Invalid(at, "must not be empty")
	}
	if err := checkText(at, s, limit); err != nil {
		return err
	}
	if strings.ContainsFunc(s, unicode.IsControl) {
		return fault.Invalid(at, "must not have control characters")
	}
	return nil
}

// checkText returns ErrInvalid unless s is a text: valid UTF-8 of at most limit characters, which are Unicode code
// points, without U+0000, which PostgreSQL cannot store. at is the pointer to s.
func checkText(at, s string, limit int) error {
	if !utf8.ValidString(s) || strings.Contains(s, "\x00") {
		return fault.Invalid(at, "must be UTF-8 without U+0000")
	}
	// Characters are counted and not bytes, so that a limit is the same in all scripts.
	if n := utf8.RuneCountInString(s); n > limit {
		return fault.Invalid(at, "has %d characters, at most %d are allowed", n, limit)
	}
	return nil
}
