package assets

import (
	"context"
	"slices"
	"strings"
)

// oldTerms is the error of a search in a library that still has terms of an earlier release, which begin with these letters.
// Search handles it: it calls renew, which replaces the terms, and searches again.
//
// Stores of the first release have long words and long attributes as digests alone, by which no prefix and no key
// finds them, and have no terms for the keys of attributes, by which these are counted. The first searches that would
// need the new terms replace the old ones.
type oldTerms []string

func (o oldTerms) Error() string {
	return "the library has terms of an earlier release: " + strings.Join(o, ", ")
}

// checkTerms returns oldTerms if the search could miss assets because they have terms of an earlier release.
func (req *request) checkTerms(in SearchRequest, list, prefixes []string) error {
	var old oldTerms
	if len(prefixes) > 0 || slices.ContainsFunc(list, func(w string) bool { return len(w) >= MaxTerm }) {
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

// renewedAtOnce is the number of assets whose terms one update replaces.
const renewedAtOnce = 100

// renew replaces the index entries of all assets that have old terms. It commits in batches, so an interrupted renewal
// continues where it ended.
func (s *Service) renew(ctx context.Context, lib Library, old oldTerms) error {
	for more := true; more; {
		err := s.store.Update(ctx, lib, func(tx Tx) error {
			var records []Record
			for r, err := range tx.Assets(ctx, AssetQuery{Prefixes: []AnyOf{AnyOf(old)}, Limit: renewedAtOnce}) {
				if err != nil {
					return err
				}
				records = append(records, r)
			}
			more = len(records) == renewedAtOnce
			for _, r := range records {
				x, err := IndexOf(r)
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
