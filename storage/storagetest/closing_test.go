package storagetest

import (
	"context"
	"iter"
	"slices"
	"testing"

	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets/assetstore"
	"github.com/vitrine-go/vitrine/reviews/reviewstore"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// brokenCloser is a good store with other stores of apps, assets or reviews; nil is no other.
type brokenCloser struct {
	Closer
	apps    appsvc.Store
	assets  assetstore.Store
	reviews reviewstore.Store
}

func (c brokenCloser) Apps() appsvc.Store {
	if c.apps != nil {
		return c.apps
	}
	return c.Closer.Apps()
}

func (c brokenCloser) Assets() assetstore.Store {
	if c.assets != nil {
		return c.assets
	}
	return c.Closer.Assets()
}

func (c brokenCloser) Reviews() reviewstore.Store {
	if c.reviews != nil {
		return c.reviews
	}
	return c.Closer.Reviews()
}

// openView is a store of apps in which a View that reads nothing succeeds after Close too.
type openView struct{ appsvc.Store }

func (s openView) View(ctx context.Context, fn func(appsvc.Reader) error) error {
	return fn(lateView{Store: s.Store})
}

// lateView begins a View with its first read.
type lateView struct {
	appsvc.Reader
	appsvc.Store
}

func (r lateView) Head(ctx context.Context, id string) (head, error) {
	return tryRead(r.Store, headOf(id))
}

// openLibraries is a store of assets whose Libraries does not notice Close.
type openLibraries struct{ assetstore.Store }

func (openLibraries) Libraries(context.Context) iter.Seq2[assetstore.Library, error] {
	return func(func(assetstore.Library, error) bool) {}
}

// stubbornNetworks is a store of reviews whose Networks yields an error twice.
type stubbornNetworks struct{ reviewstore.Store }

func (s stubbornNetworks) Networks(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for name, err := range s.Store.Networks(ctx) {
			if !yield(name, err) || err != nil && !yield(name, err) {
				return
			}
		}
	}
}

// unknownNetworks is a store of reviews in which networks that were never written can be read after Close.
type unknownNetworks struct {
	reviewstore.Store
	empty reviewstore.Store
}

func (s unknownNetworks) View(ctx context.Context, network string, fn func(reviewstore.Reader) error) error {
	if network == "n" {
		return s.Store.View(ctx, network, fn)
	}
	return s.empty.View(ctx, network, fn)
}

// Each fault is found by its rule, and by no other one of the three.
func TestAStoreThatDoesNotNoticeCloseIsFound(t *testing.T) {
	const ofApps, ofAssets, ofReviews = 0, 1, 2 // in closingRules
	faults := []struct {
		fault string
		rule  int
		store func(good *memory.DB) brokenCloser
	}{
		{"apps go on", ofApps, func(*memory.DB) brokenCloser { return brokenCloser{apps: memory.New().Apps()} }},
		{"a View of apps begins with its first read", ofApps, func(good *memory.DB) brokenCloser { return brokenCloser{apps: openView{good.Apps()}} }},
		{"assets go on", ofAssets, func(*memory.DB) brokenCloser { return brokenCloser{assets: memory.New().Assets()} }},
		{"Libraries yields nothing", ofAssets, func(good *memory.DB) brokenCloser { return brokenCloser{assets: openLibraries{good.Assets()}} }},
		{"reviews go on", ofReviews, func(*memory.DB) brokenCloser { return brokenCloser{reviews: memory.New().Reviews()} }},
		{"Networks yields the error twice", ofReviews, func(good *memory.DB) brokenCloser { return brokenCloser{reviews: stubbornNetworks{good.Reviews()}} }},
		{"a network that was never written is empty", ofReviews, func(good *memory.DB) brokenCloser {
			return brokenCloser{reviews: unknownNetworks{good.Reviews(), memory.New().Reviews()}}
		}},
	}
	for _, f := range faults {
		var found []int
		for n, r := range closingRules[:3] {
			good := memory.New()
			broken := f.store(good)
			broken.Closer = good
			var probe testing.T
			done := make(chan struct{})
			go func() { // a Fatal of the probe ends its goroutine
				defer close(done)
				r.check(&probe, broken)
			}()
			<-done
			if probe.Failed() {
				found = append(found, n)
			}
		}
		if !slices.Equal(found, []int{f.rule}) {
			t.Errorf("%s: the rules %v fail, want %d: %s", f.fault, found, f.rule, closingRules[f.rule].words)
		}
	}
}
