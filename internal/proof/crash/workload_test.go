//go:build proof

package crash

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"
	"sync"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/storage/sqlite"
)

const (
	// storeVariable makes the test program write to the store that it names.
	storeVariable = "VITRINE_POWERLOSS_STORE"
	workers       = 7   // the last one adds assets, each of the others changes an app
	updates       = 120 // updates of a worker
)

// work has all workers update the store, each writing a mark when an update is acknowledged. It
// opens the store twice, so that a log which is still there is used and one that is not is made.
func work(path string) error {
	for half := range 2 {
		db, err := sqlite.Open(path, nil)
		if err != nil {
			return err
		}
		errs := make([]error, workers)
		var wg sync.WaitGroup
		for w := range workers {
			wg.Go(func() {
				for n := half * updates / 2; n < (half+1)*updates/2 && errs[w] == nil; n++ {
					if errs[w] = update(db, w, n); errs[w] == nil {
						_, errs[w] = fmt.Fprintf(os.Stdout, "%d %d\n", w, n+1)
					}
				}
			})
		}
		wg.Wait()
		if err := errors.Join(append(errs, db.Close())...); err != nil {
			return err
		}
	}
	return nil
}

var moderator = vitrine.Caller{URN: urn + ":user=worker", Moderates: []string{urn}}

// service returns the app service of a worker, whose app has an id that is known before.
func service(db *sqlite.DB, w int) *appsvc.Service {
	return appsvc.New(db, &appsvc.Options{NewID: func() string { return appID(w) }})
}

func appID(w int) string { return fmt.Sprintf("app-%d", w) }

// tagged reports whether update n of an app moves its tag; the others add a version.
func tagged(n int) bool { return n%4 == 3 }

// latest returns the latest version of an app after n updates.
func latest(n int) int { return n - n/4 - 1 }

// title is the title of a version: long, and not like the one before.
func title(w, v int) string {
	t := fmt.Sprintf("app %d, version %d. ", w, v)
	for i := 0; len(t) < 900; i++ {
		t += fmt.Sprintf("%x ", (v+1)*(i+7)*2654435761%1000003)
	}
	return t
}

// update makes update n of a worker.
func update(db *sqlite.DB, w, n int) error {
	ctx := context.Background()
	if w == workers-1 {
		return addAssets(ctx, db, n)
	}
	svc, v := service(db, w), latest(n)
	switch {
	case n == 0:
		_, err := svc.As(moderator).CreateApp(ctx, appsvc.CreateAppRequest{Title: title(w, 0), Groups: []string{urn}})
		return err
	case tagged(n):
		_, err := svc.As(moderator).PutTag(ctx,
			appsvc.PutTagRequest{AppID: appID(w), Name: "production", Version: vitrine.NewVersion(v)})
		return err
	}
	patch := fmt.Sprintf(`[{"op":"test","path":"/apps/0/version","value":"%d"},{"op":"replace",`+
		`"path":"/apps/0/title","value":"%s"}]`, v, title(w, v+1))
	_, err := svc.As(moderator).Patch(ctx, appID(w), strings.NewReader(patch))
	return err
}

var (
	lib    = assets.Library{Network: network, ID: network}
	editor = vitrine.Caller{URN: moderator.URN, Moderates: moderator.Moderates}
)

// addAssets adds two assets in one update.
func addAssets(ctx context.Context, db *sqlite.DB, n int) error {
	var in assets.ChangeAssetsRequest
	for i := range 2 {
		in.Add = append(in.Add,
			assets.NewAsset{ID: fmt.Sprintf("%d-%d", n, i), Generator: assets.Generator{ID: "worker"},
				Content: fmt.Appendf(nil, `{"content":"every word%d %s"}`, n, strings.Repeat("text ", 50))})
	}
	_, err := assets.New(db, nil).As(editor).ChangeAssets(ctx, lib, in)
	return err
}

// verify returns an error unless the store holds at least the given number of updates of each
// worker, and none in part.
func verify(ctx context.Context, path string, acknowledged [workers]int) (err error) {
	db, err := sqlite.Open(path, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for w := range workers - 1 {
		if err := verifyApp(ctx, db, w, acknowledged[w]); err != nil {
			return fmt.Errorf("app %d, %d updates acknowledged: %w", w, acknowledged[w], err)
		}
	}
	found, err := assets.New(db, nil).As(editor).Search(ctx, lib, assets.SearchRequest{Query: "every", Limit: 500})
	if err != nil {
		return err
	}
	if n := len(found.Assets); n%2 != 0 || n < 2*acknowledged[workers-1] || int(found.Total) != n {
		return fmt.Errorf("%d assets are found and %d counted, %d acknowledged", n, found.Total,
			2*acknowledged[workers-1])
	}
	return nil
}

func verifyApp(ctx context.Context, db *sqlite.DB, w, acknowledged int) error {
	svc := service(db, w)
	list, _, err := listed(svc.As(moderator).ListVersions(ctx, appsvc.ListVersionsRequest{AppID: appID(w), Limit: 500}))
	if errors.Is(err, vitrine.ErrNotFound) && acknowledged == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	for i, a := range list {
		c, err := a.Body.Content()
		if err != nil {
			return err
		}
		if v := len(list) - 1 - i; int(a.Version.Number()) != v || c.Title != title(w, v) {
			return fmt.Errorf("version %d of %d is version %d, %.30q", v, len(list), a.Version, c.Title)
		}
	}
	tags, err := svc.As(moderator).ListTags(ctx, appsvc.ListTagsRequest{AppID: appID(w)})
	if err != nil {
		return err
	}
	told, err := replayApps(func(after string) (vitrine.ChangesPage[appsvc.Event], error) {
		return svc.As(moderator).Changes(ctx, appsvc.ChangesRequest{After: after, Limit: 500})
	})
	if err != nil {
		return err
	}
	have := map[string]int{}
	for _, t := range tags.Items {
		have[t.Name] = int(t.AppVersion.Number())
	}
	if f := told[appID(w)]; f == nil || f.Versions != len(list) || !maps.Equal(f.Tags, have) {
		return fmt.Errorf("%d versions and the tags %v are there, and the feed tells of %+v", len(list), have, f)
	}
	for n := acknowledged; n <= updates; n++ {
		if latest(n) == len(list)-1 && len(tags.Items) == min(n/4, 1) &&
			(n < 4 || int(tags.Items[0].AppVersion.Number()) == latest(n/4*4)) {
			return nil
		}
	}
	return fmt.Errorf("%d versions and the tags %v are there", len(list), tags.Items)
}

// listed takes a page apart, and reports whether another one follows.
func listed[T any](p vitrine.Page[T], err error) (items []T, more bool, _ error) {
	return p.Items, p.Next != "", err
}
