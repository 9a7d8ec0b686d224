package assets

// pageRange is the part of a library that a page is taken from. A cursor is the encrypted ordinal
// of an asset, so a page before or after it is a range of ordinals. It stays valid when the asset
// is removed.
type pageRange struct {
	after, before int64 // ordinals, exclusive; 0 = no bound
	ascending     bool
	limit         int // assets at most
}

// pageRange returns the range of assets that the search asks for with its cursors, its order and
// its limit. It returns ErrInvalid if a cursor is not of this library or the limit is out of range.
func (req *request) pageRange(in SearchRequest) (pageRange, error) {
	limit, err := req.pageLimit(in.Limit, 50)
	c := pageRange{ascending: in.ascending(), limit: limit}
	if err != nil {
		return c, err
	}
	for _, p := range []struct {
		field, cursor string
		bound         *int64
	}{{"since", in.Since, &c.after}, {"until", in.Until, &c.before}} {
		if p.cursor == "" {
			continue
		}
		ordinal, ok := req.seal.decrypt(sealedCursor, p.cursor)
		if !ok {
			return c, invalid(p.field, "is not a cursor of this library")
		}
		*p.bound = ordinal
	}
	return c, nil
}
