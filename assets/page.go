package assets

// Page is one page of a list.
type Page[T any] struct {
	Items []T
	Next  string // goes into After of the request for the next page; "" on the last page
}
