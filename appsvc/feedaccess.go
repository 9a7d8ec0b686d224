package appsvc

import (
	"context"
	"errors"

	"github.com/vitrine-go/vitrine"
)

// viewer decides which changes a caller sees, by the rights that it has in one snapshot. It reads the head of each app once,
// however many entries the app has on the page. It is made for one page, so that each page is judged by the rights of its time.
type viewer struct {
	r     *reader
	by    vitrine.Caller
	heads map[string]*Head // of the apps that were asked for; nil = absent
}

// sees returns the change as an event for the caller. ok is false if the caller does not see it. The first case that fits
// applies:
//
//   - A change of a component is seen by everybody.
//   - A change of an app that the store does not have is not seen.
//   - A change of an app that the caller may read now is seen as it is.
//   - A change that took the app out of a group which the caller moderates or reads is AppLeft, with the id of the app and the
//     time alone.
//   - Any other change is not seen.
func (v *viewer) sees(ctx context.Context, change record) (event Event, ok bool, err error) {
	if change.AppID == "" {
		return change.Event, true, nil
	}
	head, known := v.heads[change.AppID]
	if !known {
		h, err := v.r.head(ctx, change.AppID)
		switch {
		case err == nil:
			head = &h
		case !errors.Is(err, vitrine.ErrNotFound):
			return Event{}, false, err
		}
		v.heads[change.AppID] = head
	}
	switch {
	case head == nil:
		return Event{}, false, nil
	case mayRead(v.by, *head):
		return change.Event, true, nil
	case readsOneOf(v.by, change.left):
		return Event{Type: AppLeft, At: change.At, AppID: change.AppID}, true, nil
	}
	return Event{}, false, nil
}
