package assets

import (
	"context"
	"slices"
	"strings"
)

// oldTerms is the error of a search in a library that still has terms of releases before v0.1.0,
// which begin with these letters. Search handles the error: it calls renewTerms, which replaces the
// terms, and searches again.
//
// Stores from before v0.1.0 have long words and long attributes as digests alone, so neither a
// prefix of the word nor the key of the attribute finds them. They also have no terms for the keys
// of attributes, which the facet of keys counts. Most searches do not need the missing terms. The
// first search that does replaces the old ones. That may take longer than Limits.SearchTime; then
// the search is ErrBusy, and the next one goes on.
type oldTerms []string

// Error names the kinds of the old terms. Only errors.As looks at the error, since Search handles
// it.
func (o oldTerms) Error() string {
	return "the library has terms of an earlier release: " + strings.Join(o, ", ")
}

// checkTerms returns oldTerms if the search could miss assets because they have terms of releases
// before v0.1.0. whole and prefixes are the words of its text. It needs one query, and none for a
// search that all releases answer alike.
func (req *request) checkTerms(in SearchRequest, whole, prefixes []string) error {
	// Which old terms would hide an asset from this search: of long words, of long attributes, and
	// those of assets whose keys cannot be counted.
	var old oldTerms
	if len(prefixes) > 0 || slices.ContainsFunc(whole, func(w string) bool { return len(w) >= MaxTerm }) {
		old = append(old, string(rune(oldLongWord)))
	}
	counted := slices.ContainsFunc(in.Facets, func(f string) bool { return f == "attribute" || strings.HasPrefix(f, "attribute:") })
	if counted || len(in.Attributes) > 0 {
		old = append(old, string(rune(oldLongAttribute)))
	}
	if counted {
		old = append(old, string(rune(oldAttribute)))
	}
	if len(old) == 0 {
		return nil
	}
	for _, err := range req.r.Assets(req.ctx, AssetQuery{Prefixes: []AnyOf{AnyOf(old)}, Limit: 1}) {
		if err != nil {
			return err
		}
		return old
	}
	return nil
}

// renewedAtOnce is the number of assets whose terms one update replaces. Other writes of the
// library wait for no more than that.
const renewedAtOnce = 100

// renewTerms replaces the index entries of all assets of the library that have one of the old terms. It
// commits in batches. When it is interrupted, the next call continues, since the assets of the
// committed batches have no old terms any more.
func (s *Service) renewTerms(ctx context.Context, lib Library, old oldTerms) error {
	for more := true; more; {
		err := s.store.Update(ctx, lib, func(tx Tx) error {
			var records []Record
			for r, err := range tx.Assets(ctx, AssetQuery{Prefixes: []AnyOf{AnyOf(old)}, Limit: renewedAtOnce}) {
				if err != nil {
					return err
				}
				records = append(records, r)
			}
			// Assets that are written have no old term any more, so the next batch begins after them.
			more = len(records) == renewedAtOnce
			for _, r := range records {
				x, err := IndexOf(r, s.limits)
				if err != nil {
					return err
				}
				if err := tx.PutAsset(ctx, r, x); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
