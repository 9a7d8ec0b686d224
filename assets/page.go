package assets

// Page is one page of a list. To read the whole list, repeat the request with Next as its After
// until Next is empty, or use the iterator beside the method, such as AllFolders. A page may have
// fewer items than the limit of its request, and still not be the last one.
type Page[T any] struct {
	Items []T
	Next  string // After of the request for the next page; "" on the last page
}
