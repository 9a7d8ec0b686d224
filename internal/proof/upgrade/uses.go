package upgrade

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/vitrine-go/vitrine/appsvc"
)

// checkUses returns an error unless the store finds every app by each component that one of its versions has used. The
// first release had no index of older versions.
func checkUses(ctx context.Context, s appsvc.Store) error {
	return s.View(ctx, func(r appsvc.Reader) error {
		used := map[string][]string{}
		older := 0 // uses that the latest version does not show
		for id, err := range r.IDs(ctx) {
			if err != nil {
				return err
			}
			latest, err := r.Head(ctx, id)
			if err != nil {
				return err
			}
			ever := map[string]bool{}
			for version, err := range r.Versions(ctx, appsvc.VersionQuery{AppID: id}) {
				if err != nil {
					return err
				}
				h, err := version.Head()
				if err != nil {
					return err
				}
				for _, component := range h.Components {
					ever[component] = true
				}
			}
			for component := range ever {
				used[component] = append(used[component], id)
				if !slices.Contains(latest.Components, component) {
					older++
				}
			}
		}
		if older == 0 {
			return fmt.Errorf("no app of the first release has stopped using a component: the test shows little")
		}
		for _, component := range slices.Sorted(maps.Keys(used)) {
			found := map[string]bool{}
			for user, err := range r.Users(ctx, appsvc.UserQuery{Component: component, Groups: []string{"urn"}}) {
				if err != nil {
					return err
				}
				found[user.ID] = true
			}
			for _, id := range used[component] {
				if !found[id] {
					return fmt.Errorf("app %s has used the component %q and is not found by it", id, component)
				}
			}
		}
		return nil
	})
}
