package reviews

import (
	"context"
	"io"
	"iter"

	"github.com/vitrine-go/vitrine"
)

// Session is a Service for one caller. The client of a remote service (adapters/client) has the same methods, so a program
// can declare an interface with those that it calls, and use either. Networks, Admit and the like are methods
// of the Service alone. A Session is safe for concurrent use and needs no closing.
type Session struct {
	service *Service
	by      vitrine.Caller
}

// As returns a Session of the caller. It checks nothing: each method of the Session does.
func (s *Service) As(by vitrine.Caller) *Session { return &Session{s.made(), by} }

// Import is Service.Import for the caller of the session.
func (s *Session) Import(ctx context.Context, in ImportRequest) (Report, error) {
	return s.service.Import(ctx, s.by, in)
}

// Export is Service.Export for the caller of the session.
func (s *Session) Export(ctx context.Context, network string, w io.Writer) error {
	return s.service.Export(ctx, s.by, network, w)
}

// Delete is Service.Delete for the caller of the session.
func (s *Session) Delete(ctx context.Context, in DeleteRequest) (Deleted, error) {
	return s.service.Delete(ctx, s.by, in)
}

// ListCollections is Service.ListCollections for the caller of the session.
func (s *Session) ListCollections(ctx context.Context, in ListCollectionsRequest) (vitrine.Page[CollectionRecord], error) {
	return s.service.ListCollections(ctx, s.by, in)
}

// AllCollections is Service.AllCollections for the caller of the session.
func (s *Session) AllCollections(ctx context.Context, in ListCollectionsRequest) iter.Seq2[CollectionRecord, error] {
	return s.service.AllCollections(ctx, s.by, in)
}

// ListReviews is Service.ListReviews for the caller of the session.
func (s *Session) ListReviews(ctx context.Context, in ListReviewsRequest) (vitrine.Page[ReviewRecord], error) {
	return s.service.ListReviews(ctx, s.by, in)
}

// Show is Service.Show for the caller of the session.
func (s *Session) Show(ctx context.Context, in ListReviewsRequest) (Shown, error) {
	return s.service.Show(ctx, s.by, in)
}

// Changes is Service.Changes for the caller of the session.
func (s *Session) Changes(ctx context.Context, in ChangesRequest) (vitrine.ChangesPage[Event], error) {
	return s.service.Changes(ctx, s.by, in)
}

// Follow is Service.Follow for the caller of the session.
func (s *Session) Follow(ctx context.Context, in ChangesRequest) iter.Seq2[Event, error] {
	return s.service.Follow(ctx, s.by, in)
}

// AllReviews is Service.AllReviews for the caller of the session.
func (s *Session) AllReviews(ctx context.Context, in ListReviewsRequest) iter.Seq2[ReviewRecord, error] {
	return s.service.AllReviews(ctx, s.by, in)
}
