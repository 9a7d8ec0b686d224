package storagetest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
)

type (
	appRule = rule[appsvc.Store]
	head    = appsvc.Head
	reader  = appsvc.Reader
	tx      = appsvc.Tx
)

// ctx is the context of calls that are not cancelled.
var ctx = context.Background()

// owner owns the apps of the fixtures, which are in site1 of the network.
const (
	network = "urn:vitrine:example.test"
	owner   = network + ":user=owner"
	editor  = network + ":user=editor"
	site1   = network + ":site=1"
)

// newHead returns the head of the version with this number of an app. Versions of different numbers have different times.
func newHead(id string, number int) head {
	return head{
		Meta: appsvc.Meta{
			ID: id, Version: vitrine.NewVersion(number), Owner: owner,
			CreatedAt: 1000, UpdatedAt: 1000 + int64(number), UpdatedBy: editor,
		},
		Groups:     []string{site1},
		Components: []string{"clock", "map"},
	}
}

// bodyOf returns a body that fits the head. Each has a different title, and text that a JSON encoder would write in
// another way, so that a driver that encodes it again fails.
func bodyOf(h head, title string) appsvc.Body {
	quoted, groups := must(json.Marshal(title)), must(json.Marshal(h.Groups))
	return fmt.Appendf(nil, `{"title":%s,"owner":{"urn":%q},"groups":%s,"elements":[{"id":"0","component":{"name":"map"},`+
		`"config":{"b":1.10,"a":9007199254740993,"\u0061":"\/<>","version":%s}}]}`, quoted, h.Owner, groups, h.Version)
}

// must returns v, and panics if there is an error. It is for calls that cannot fail.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// titled returns the version with this head and the body that bodyOf makes for it.
func titled(h head, title string) appsvc.App { return appsvc.App{Meta: h.Meta, Body: bodyOf(h, title)} }

// update runs fn in an Update that must succeed.
func update(t *testing.T, s appsvc.Store, fn func(w tx) error) {
	t.Helper()
	if err := s.Update(ctx, fn); err != nil {
		t.Fatalf("Update: %v", err)
	}
}

// add stores a version in an Update of its own.
func add(t *testing.T, s appsvc.Store, h head, title string) {
	t.Helper()
	update(t, s, func(w tx) error { return w.AddVersion(ctx, h, bodyOf(h, title)) })
}

// read returns what fn reads in a View that must succeed.
func read[T any](t *testing.T, s appsvc.Store, fn func(r reader) (T, error)) T {
	t.Helper()
	v, err := tryRead(s, fn)
	if err != nil {
		t.Fatalf("View: %v", err)
	}
	return v
}

// tryRead returns what fn reads in a View, and the error of the View.
func tryRead[T any](s appsvc.Store, fn func(r reader) (T, error)) (v T, err error) {
	err = s.View(ctx, func(r reader) error {
		v, err = fn(r)
		return err
	})
	return v, err
}

// Functions for read and tryRead. Each reads one thing, or a whole list, from a Reader.

func headOf(id string) func(reader) (head, error) {
	return func(r reader) (head, error) { return r.Head(ctx, id) }
}

func appOf(id string, v vitrine.Version) func(reader) (appsvc.App, error) {
	return func(r reader) (appsvc.App, error) { return r.App(ctx, id, v) }
}

func versions(q appsvc.VersionQuery) func(reader) ([]appsvc.App, error) {
	return func(r reader) ([]appsvc.App, error) { return collect(r.Versions(ctx, q)) }
}

func restorations(q appsvc.VersionQuery) func(reader) ([]appsvc.Restoration, error) {
	return func(r reader) ([]appsvc.Restoration, error) { return collect(r.Restorations(ctx, q)) }
}

func apps(q appsvc.AppQuery) func(reader) ([]appsvc.App, error) {
	return func(r reader) ([]appsvc.App, error) { return collect(r.Apps(ctx, q)) }
}

func tags(q appsvc.TagQuery) func(reader) ([]appsvc.Tag, error) {
	return func(r reader) ([]appsvc.Tag, error) { return collect(r.Tags(ctx, q)) }
}

func moves(q appsvc.TagMoveQuery) func(reader) ([]appsvc.TagMoveRecord, error) {
	return func(r reader) ([]appsvc.TagMoveRecord, error) { return collect(r.TagMoves(ctx, q)) }
}

func tagNames(appID string) func(reader) ([]string, error) {
	return func(r reader) ([]string, error) { return collect(r.TagNames(ctx, appID)) }
}

func components(q appsvc.ComponentQuery) func(reader) ([]appsvc.Component, error) {
	return func(r reader) ([]appsvc.Component, error) { return collect(r.Components(ctx, q)) }
}

func answerOf(by, key string) func(reader) (appsvc.Answer, error) {
	return func(r reader) (appsvc.Answer, error) { return r.Answer(ctx, by, key) }
}

// Comparisons. A nil list is equal to an empty one, since a driver may return either. Bodies, manifests and results are
// compared byte by byte.

// checkError fails unless err is want or wraps it. A nil want means that there must be no error. call and args name the
// call in the style of fmt.Sprintf.
func checkError(t *testing.T, err, want error, call string, args ...any) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: error %v, want %v", fmt.Sprintf(call, args...), err, want)
	}
}

func checkHead(t *testing.T, got, want head) {
	t.Helper()
	if !equalHeads(got, want) {
		t.Errorf("head:\n got %+v\nwant %+v", got, want)
	}
}

func checkApps(t *testing.T, got, want []appsvc.App) {
	t.Helper()
	if !slices.EqualFunc(got, want, equalApps) {
		t.Errorf("apps:\n got %s\nwant %s", describe(got), describe(want))
	}
}

func checkEqual[T comparable](t *testing.T, what string, got, want []T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got %+v\nwant %+v", what, got, want)
	}
}

func checkComponents(t *testing.T, got, want []appsvc.Component) {
	t.Helper()
	if !slices.EqualFunc(got, want, equalComponents) {
		t.Errorf("components:\n got %d %q\nwant %d %q", len(got), got, len(want), want)
	}
}

func equalHeads(a, b head) bool {
	return a.Meta == b.Meta && slices.Equal(a.Groups, b.Groups) && slices.Equal(a.Components, b.Components)
}

func equalApps(a, b appsvc.App) bool { return a.Meta == b.Meta && bytes.Equal(a.Body, b.Body) }

func equalComponents(a, b appsvc.Component) bool {
	return a.ID == b.ID && a.Name == b.Name && a.Version == b.Version && a.Main == b.Main && bytes.Equal(a.Manifest, b.Manifest)
}

func equalAnswers(a, b appsvc.Answer) bool {
	return a.By == b.By && a.Key == b.Key && a.Expires == b.Expires &&
		bytes.Equal(a.Request, b.Request) && bytes.Equal(a.Result, b.Result)
}

// describe returns a short text for the message of a failure, which tells two apps apart.
func describe(list []appsvc.App) string {
	var out []string
	for _, a := range list {
		out = append(out, fmt.Sprintf("%q version %s at %d/%d, body %.80q of %d bytes", a.ID, a.Version, a.CreatedAt, a.UpdatedAt, a.Body, len(a.Body)))
	}
	return fmt.Sprintf("%d %q", len(list), out)
}
