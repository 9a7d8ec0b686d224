package reviews

import (
	"context"
	"io"
	"iter"

	"github.com/vitrine-go/vitrine"
)

// Session is a Service for one caller. The client of a remote service (adapters/client) has the same methods, so a
// program can declare an interface with those that it calls, and use either. Networks, Admit and the like are methods
// of the Service alone. A Session is safe for concurrent use and needs no closing.
type Session struct {
	service *Service
	by      vitrine.Caller
}

// As returns a Session of the caller. It checks nothing: each method of the Session does.
func (s *Service) As(by vitrine.Caller) *Session { return &Session{s.made(), by} }

// Import reads a file as Check does, and stores what is accepted in the network, in transactions of about 1 MiB. A
// review is identified by its network, the source and the id of its collection, and its own id. It is created, updated
// if its content differs from the stored one, or left unchanged. The members of a collection, such as its title, are
// replaced by those of the file, unless the collection has an error or all of its reviews in the file are rejected. An
// import deletes nothing.
//
// After an import that was killed, or has returned an error, repeat it with the whole file: what it has stored is then
// unchanged. Two imports may run at the same time in one network. Each transaction compares its reviews with what is
// stored at that moment, so counts stay right, and the later transaction decides a review that both files have. Delete
// may run at the same time too.
//
// With DryRun, Import reads the store and writes nothing. Created, Updated and Unchanged of the report say what an
// import would do at this moment.
//
// Import returns ErrForbidden unless the caller moderates the network as a whole or is an operator. It returns
// ErrInvalid without a File, and without a Network if the caller moderates several networks or is an operator. It also
// returns the error of reading the file, of the store or of ctx. Problems go into the report: if every line of the file
// is rejected, Import returns nil. With an error the report says what was done before it, and that stays stored.
func (s *Session) Import(ctx context.Context, in ImportRequest) (Report, error) {
	return s.service.Import(ctx, s.by, in)
}

// Export writes all collections of the network to w in the import format, one on each line, from one snapshot.
// Collections and reviews are in the order in which they were first imported, except that a parent comes before its
// replies. Importing the file into another store creates the same records there, and importing it into this one changes
// nothing. A line has all reviews of its collection, so it may be longer than an import accepts by default;
// Options.MaxLine of the import decides. The file has every member, including imported_email, which no other method
// returns. A network without reviews gives an empty file. The network "" stands for the only one that the caller
// moderates.
//
// Export returns ErrForbidden unless the caller moderates the network as a whole or is an operator. It returns
// ErrInvalid without w, and without a network if the caller moderates several networks or is an operator, and ErrBusy
// if the store loses the snapshot, for example because the connection to its server breaks. It also returns the errors
// of the store, of ctx and of w. After an error, w may have a part of the file, which may end inside a line.
func (s *Session) Export(ctx context.Context, network string, w io.Writer) error {
	return s.service.Export(ctx, s.by, network, w)
}

// Delete permanently erases reviews, or collections with their reviews. Counts and means are updated in the same
// transaction. Erased reviews come back only if they are imported again. A collection whose last review is erased by
// Review, Author or Email stays, without reviews. A reply to an erased review becomes a reply to the parent of that
// review; without a parent, it stops being a reply.
//
// Delete uses several transactions if there is much to erase. After an error, the committed ones stay and are counted,
// and the same request can be repeated. Author and Email are compared with every review of the Collection, the Source
// or the network, which takes time in proportion to their number. A review that is imported meanwhile may be missed.
//
// When Delete returns nil, no file of the store contains a byte of what was erased, nor of its earlier versions. (In
// PostgreSQL, vacuum removes these bytes.) Only the sources and ids of collections stay in the feed of changes. It
// returns ErrCopies if everything is erased but copies remain in a file: in SQLite, if a reader uses its log for a
// minute. Repeating the request removes them, though it finds nothing else to erase.
//
// Delete returns ErrForbidden unless the caller moderates the network as a whole or is an operator, and ErrNotFound if
// there is nothing to erase: no such Collection or Review, a Source without collections, an Author or an Email without
// reviews, an empty network. It returns ErrInvalid if the request has no Network, does not say what to erase, or has
// members that exclude each other, and if several sources have the Collection and the request names none of them.
func (s *Session) Delete(ctx context.Context, in DeleteRequest) (Deleted, error) {
	return s.service.Delete(ctx, s.by, in)
}

// ListCollections returns a page of the collections of the network, by source and then by id, both in byte order. A
// page may end before the limit if its rows are large. Every import keeps counts and means up to date, so no review is
// read for them. A network without reviews has an empty page.
//
// Each page is a snapshot of its own. A collection that is stored between two pages is on a later page if it belongs
// after the cursor; no collection is on two pages.
//
// ListCollections returns ErrForbidden unless the caller moderates the network as a whole or is an operator, and
// ErrInvalid if Limit is out of range, or if After is not a cursor of this list or points into another Source.
func (s *Session) ListCollections(
	ctx context.Context, in ListCollectionsRequest,
) (vitrine.Page[CollectionRecord], error) {
	return s.service.ListCollections(ctx, s.by, in)
}

// AllCollections yields the collections of the network, by source and then by id, beginning after the cursor After. It
// calls ListCollections for each page, of Limit items; an error of that is the last pair.
func (s *Session) AllCollections(ctx context.Context, in ListCollectionsRequest) iter.Seq2[CollectionRecord, error] {
	return s.service.AllCollections(ctx, s.by, in)
}

// ListReviews returns a page of the reviews of a collection, the latest first, and those of the same microsecond by id.
// A page may end before the limit if its reviews are large. Each page is a snapshot of its own, so a review whose time
// is changed between two pages may be on both of them, or on none.
//
// ListReviews returns ErrNotFound if the network has no such collection, and ErrForbidden unless the caller moderates
// the network as a whole or is an operator. It returns ErrInvalid if the request leaves Source out and several sources
// have the id, if Limit is out of range, or if After is not a cursor of the reviews of this collection.
func (s *Session) ListReviews(ctx context.Context, in ListReviewsRequest) (vitrine.Page[ReviewRecord], error) {
	return s.service.ListReviews(ctx, s.by, in)
}

// Show returns a page of a collection, for everybody who visits a web page. It is the only method for callers with
// TagsOnly: they need PublicReviews, and the network as a whole in Reads. Moderators of the network and operators may
// call it too.
//
// It returns ErrForbidden for any other caller, ErrNotFound if the network has no such collection, and ErrInvalid if
// the request leaves Source out and several sources have the id, if Limit is out of range, or if After is not a cursor
// of the reviews of this collection.
func (s *Session) Show(ctx context.Context, in ListReviewsRequest) (Shown, error) {
	return s.service.Show(ctx, s.by, in)
}

// Changes returns a page of the feed of changes of a network, in the order in which the changes were committed. It does
// not wait for changes: at the end of the feed, it returns an empty page. Whoever goes on from Next misses no change
// and meets none twice. A page also ends before the entry that would bring it above Limits.PageBytes.
//
// Changes returns ErrForbidden unless the caller moderates the network as a whole or is an operator. It returns
// ErrInvalid if After is not a cursor of this feed, if Limit is out of range, and without a Network if the caller
// moderates several networks or is an operator. It returns ErrGone if entries after the cursor were removed, or if the
// feed has another identity, as in a copy of the store. A follower that gets ErrGone asks with vitrine.Now for a
// cursor, reads all that it needs, and goes on from the cursor.
func (s *Session) Changes(ctx context.Context, in ChangesRequest) (vitrine.ChangesPage[Event], error) {
	return s.service.Changes(ctx, s.by, in)
}

// Follow yields the entries of the feed as Changes returns them, and waits for more. It ends with an error as its last
// pair: one of Changes, or that of ctx when ctx is done. To resume, pass the Cursor of the last event that was handled
// as After.
func (s *Session) Follow(ctx context.Context, in ChangesRequest) iter.Seq2[Event, error] {
	return s.service.Follow(ctx, s.by, in)
}

// AllReviews yields the reviews of a collection, the latest first, beginning after the cursor After. It calls
// ListReviews for each page, of Limit items; an error of that is the last pair.
func (s *Session) AllReviews(ctx context.Context, in ListReviewsRequest) iter.Seq2[ReviewRecord, error] {
	return s.service.AllReviews(ctx, s.by, in)
}
