package reviews

import (
	"context"
	"iter"
)

// Session is what a Service does for one caller, near and far: the client of a remote service
// (adapters/client) has the same methods, so a program can be written for both. Single collections and the names of
// networks are read from the Service alone, and only it erases.
type Session struct {
	service *Service
	by      Caller
}

// As returns the service as this caller may use it.
func (s *Service) As(by Caller) *Session { return &Session{s, by} }

// Import is Service.Import for the caller of the session.
func (s *Session) Import(ctx context.Context, in ImportRequest) (Report, error) {
	return s.service.Import(ctx, s.by, in)
}

// Export is Service.Export for the caller of the session.
func (s *Session) Export(ctx context.Context, in ExportRequest) error {
	return s.service.Export(ctx, s.by, in)
}

// ListCollections is Service.ListCollections for the caller of the session.
func (s *Session) ListCollections(ctx context.Context, in ListCollectionsRequest) (Page[CollectionRecord], error) {
	return s.service.ListCollections(ctx, s.by, in)
}

// AllCollections is Service.AllCollections for the caller of the session.
func (s *Session) AllCollections(ctx context.Context, in ListCollectionsRequest) iter.Seq2[CollectionRecord, error] {
	return s.service.AllCollections(ctx, s.by, in)
}

// ListReviews is Service.ListReviews for the caller of the session.
func (s *Session) ListReviews(ctx context.Context, in ListReviewsRequest) (Page[ReviewRecord], error) {
	return s.service.ListReviews(ctx, s.by, in)
}

// AllReviews is Service.AllReviews for the caller of the session.
func (s *Session) AllReviews(ctx context.Context, in ListReviewsRequest) iter.Seq2[ReviewRecord, error] {
	return s.service.AllReviews(ctx, s.by, in)
}
