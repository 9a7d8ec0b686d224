package appsvc

import (
	"context"
	"errors"
	"slices"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc/internal/records"
	"github.com/vitrine-go/vitrine/internal/fault"
)

// TagsNamed returns the tag of this name of each of the apps, in the order of appIDs, each app once. It leaves out apps
// without such a tag and apps that the caller may not read, so it tells nothing about these. It returns ErrInvalid
// unless there are 1 to Limits.AppIDs ids, by default 100, and ErrNotFound if no tag can have the name.
func (s *Session) TagsNamed(ctx context.Context, name string, appIDs []string) ([]Tag, error) {
	s = s.calls("TagsNamed")
	if err := s.check(); err != nil {
		return nil, err
	}
	if len(appIDs) == 0 || len(appIDs) > s.service.limits.AppIDs {
		return nil, fault.Invalid("appId", "given %d times, want 1 to %d", len(appIDs), s.service.limits.AppIDs)
	}
	if !tagName.MatchString(name) {
		return nil, fault.NotFound("no tag can be named %q", name)
	}
	// One View reads the tags of all apps, so they are of one snapshot.
	return view(ctx, s, func(r *reader) (tags []Tag, err error) {
		keys := []string{records.RulesKey}
		for _, id := range appIDs {
			keys = append(keys, records.HeadKey(id), records.TagKey(id, name))
		}
		if err := r.Ahead(ctx, keys...); err != nil {
			return nil, err
		}
		rules, err := r.tagRules(ctx)
		if err != nil {
			return nil, err
		}
		for i, id := range appIDs {
			if slices.Contains(appIDs[:i], id) {
				continue
			}
			if _, err := readableHead(ctx, r, s.by, id); errors.Is(err, vitrine.ErrNotFound) {
				continue
			} else if err != nil {
				return nil, err
			}
			at, err := r.PointsTo(ctx, id, name)
			if err != nil {
				return nil, err
			}
			if !at.IsZero() {
				tags = append(tags, Tag{AppID: id, Name: name, AppVersion: at}.under(rules))
			}
		}
		return tags, nil
	})
}
