package assets

// The statuses of assets in the result of a request that treats each asset by itself. The numbers
// are those of HTTP statuses with the same meaning.
const (
	StatusOK        = 200 // the asset is now as the request asks
	StatusInvalid   = 400 // the asset would exceed a limit
	StatusForbidden = 403 // the caller sees it and may not change it
	StatusNotFound  = 404 // the caller sees no such asset
)

// ItemStatus is the status of one asset: StatusOK, StatusInvalid, StatusForbidden or
// StatusNotFound.
type ItemStatus struct {
	ID     string `json:"id"`
	Status int    `json:"status"`
}

// eachAsset calls fn for each asset of ids that the caller sees, and returns the status of each id,
// in the order of ids. fn returns the status of its asset. An id that is there several times has
// the same status each time, and fn is called once for it. An error of fn ends the request.
func (req *request) eachAsset(ids []string, fn func(Record) (int, error)) ([]ItemStatus, error) {
	// done has the statuses of the ids before, so that a repeated one is not changed twice.
	out := make([]ItemStatus, len(ids))
	done := make(map[string]int, len(ids))
	for i, id := range ids {
		if err := req.readAhead(ids, i); err != nil {
			return nil, err
		}
		status, known := done[id]
		if !known {
			r, err := req.find(id)
			status = StatusNotFound
			if err == nil && r != nil {
				status, err = fn(*r)
			}
			if err != nil {
				return nil, err
			}
			done[id] = status
		}
		out[i] = ItemStatus{id, status}
	}
	return out, nil
}
