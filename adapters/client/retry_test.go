package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/client"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/reviews"
)

// script is a transport that answers from a list, whose last item it repeats.
type script struct {
	lines []line
	asked []*http.Request
	at    []time.Time
}

// line is an answer, or a failure.
type line struct {
	status int
	body   string
	header string // one, as it is written
	err    error
}

func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	l := s.lines[min(len(s.asked), len(s.lines)-1)]
	s.asked, s.at = append(s.asked, r), append(s.at, time.Now())
	if r.Body != nil {
		_, _ = io.Copy(io.Discard, r.Body)
		r.Body.Close()
	}
	if l.err != nil {
		return nil, l.err
	}
	return &http.Response{StatusCode: l.status, Header: headers(l.header),
		Body: io.NopCloser(strings.NewReader(l.body)), Request: r}, nil
}

func headers(text string) http.Header {
	h := http.Header{}
	if name, value, given := strings.Cut(text, ": "); given {
		h.Set(name, value)
	}
	return h
}

// scripted returns a client that is answered from a list.
func scripted(t *testing.T, change func(*client.Config), lines ...line) (*client.Client, *script) {
	t.Helper()
	s := &script{lines: lines}
	c := client.Config{URL: "https://api.example.test/v4/", Token: client.Static("secret"), Transport: s}
	if change != nil {
		change(&c)
	}
	return ok(client.New(c))(t), s
}

const anApp = `{"id":"a","version":"3","createdAt":1,"updatedAt":2,"updatedBy":{"urn":"u"},"title":"t",` +
	`"owner":{"urn":"o"},"groups":[],"elements":[]}`

var (
	broken = line{err: errors.New("connection reset")}
	noDial = line{err: &net.OpError{Op: "dial", Err: errors.New("refused")}}
	busy   = line{503, `{"error":"the store is not available at the moment: try again","code":"unavailable"}`,
		"Retry-After: 1", nil}
	unknown = line{503, `{"error":"it is not known whether the write was kept: look","code":"unknown_outcome"}`,
		"Retry-After: 1", nil}
	gateway = line{502, `<html>`, "", nil}
	done    = line{200, `{"apps":[` + anApp + `]}`, "", nil}
	tagged  = line{201, `{"tags":[{"appId":"a","name":"x","appVersion":"0"}]}`, "", nil}
	gone    = line{204, ``, "", nil}
)

// The calls of the tests, by what kind of request they are.
var calls = map[string]func(context.Context, *client.Client) error{
	"read": func(ctx context.Context, c *client.Client) error { _, err := c.Apps.App(ctx, "a"); return err },
	"create": func(ctx context.Context, c *client.Client) error {
		_, err := c.Apps.CreateApp(ctx, appsvc.CreateAppRequest{Title: "x"})
		return err
	},
	"put": func(ctx context.Context, c *client.Client) error {
		_, err := c.Apps.PutTag(ctx, appsvc.PutTagRequest{AppID: "a", Name: "x", Version: vitrine.NewVersion(0)})
		return err
	},
	"delete": func(ctx context.Context, c *client.Client) error {
		return c.Apps.DeleteTag(ctx, appsvc.DeleteTagRequest{AppID: "a", Name: "x"})
	},
	"patch": func(ctx context.Context, c *client.Client) error {
		_, err := c.Apps.Patch(ctx, "a", strings.NewReader(`[]`))
		return err
	},
	"check": func(ctx context.Context, c *client.Client) error {
		_, err := c.Apps.CheckComponent(ctx, appsvc.CheckComponentRequest{Name: "poll", Manifest: []byte(`{}`)})
		return err
	},
	"assets": func(ctx context.Context, c *client.Client) error {
		_, err := c.Assets.ChangeFolders(ctx, assets.Library{Network: "n", ID: "l"}, assets.ChangeFoldersRequest{})
		return err
	},
	"import": func(ctx context.Context, c *client.Client) error {
		_, err := c.Reviews.Import(ctx, reviews.ImportRequest{Network: "n", File: strings.NewReader("x")})
		return err
	},
}

func TestRequestsAreSentAgainOnlyWhereThatDoesNoHarm(t *testing.T) {
	for _, test := range []struct {
		name  string
		call  string
		lines []line
		sent  int
		kind  error // nil for success
	}{
		{"a read after a broken connection", "read", []line{broken, broken, done}, 3, nil},
		{"a read of a busy service", "read", []line{busy, gateway, done}, 3, nil},
		{"a read, as often as it may", "read", []line{busy}, 4, vitrine.ErrBusy},
		{"a removal", "delete", []line{broken, unknown, gone}, 3, nil},
		{"a tag", "put", []line{broken, busy, tagged}, 3, nil},
		{"a removal of which nothing is known", "delete", []line{unknown}, 4, vitrine.ErrUnknown},
		{"a creation that never arrives", "create", []line{broken}, 4, vitrine.ErrUnknown},
		{"a creation that may have arrived once", "create", []line{broken, noDial}, 4, vitrine.ErrUnknown},
		{"a creation that may have arrived, of a service that is busy then", "create", []line{broken, busy}, 4,
			vitrine.ErrUnknown},
		{"a creation that may have arrived, and is refused", "create",
			[]line{broken, {422, `{"error":"no","code":"limit"}`, "", nil}}, 2, vitrine.ErrUnprocessable},
		{"a creation that may have arrived, with a token that has expired since", "create",
			[]line{broken, {401, `{"error":"no","code":"unauthorized"}`, "", nil}}, 2, vitrine.ErrUnknown},
		{"a creation that may have arrived, in groups that the caller may no longer use", "create",
			[]line{broken, {403, `{"error":"no","code":"forbidden"}`, "", nil}}, 2, vitrine.ErrUnknown},
		{"a removal that may have arrived, from an app that the caller no longer sees", "delete",
			[]line{broken, {404, `{"error":"no","code":"not_found"}`, "", nil}}, 2, vitrine.ErrUnknown},
		{"a patch that a proxy fails with", "patch", []line{{500, `<html>`, "", nil}}, 1, vitrine.ErrUnknown},
		{"a patch that a proxy fails with, with a status of its own", "patch", []line{{520, `<html>`, "", nil}}, 1,
			vitrine.ErrUnknown},
		{"a patch that a proxy has lost, as its JSON says", "patch", []line{{524, `{"error":"timeout"}`, "", nil}}, 1,
			vitrine.ErrUnknown},
		{"a patch behind a proxy that is busy", "patch", []line{{503, `<html>`, "", nil}}, 1, vitrine.ErrUnknown},
		{"a patch of a service that fails", "patch",
			[]line{{500, `{"error":"internal error","code":"internal"}`, "", nil}}, 1, nil},
		{"a creation that may have arrived, behind a login page", "create", []line{broken, {200, `<html>`, "", nil}}, 2,
			vitrine.ErrUnknown},
		{"a creation that something else has answered", "create", []line{{200, `{}`, "", nil}}, 1, vitrine.ErrUnknown},
		{"a removal behind a login page", "delete", []line{{200, `<html>`, "", nil}}, 1, vitrine.ErrUnknown},
		{"a tag that something else has answered", "put", []line{{200, `{}`, "", nil}}, 1, vitrine.ErrUnknown},
		{"a patch behind a login page", "patch", []line{{200, `<html>`, "", nil}}, 1, vitrine.ErrUnknown},
		{"a patch that something else has answered", "patch", []line{{200, `{}`, "", nil}}, 1, vitrine.ErrUnknown},
		{"a patch with a long answer", "patch", []line{{200, strings.Repeat(" ", 5000), "", nil}}, 1,
			vitrine.ErrUnknown},
		{"a creation that may have arrived, of a service that fails then", "create",
			[]line{broken, {500, `{"error":"internal error","code":"internal"}`, "", nil}}, 2, vitrine.ErrUnknown},
		{"a creation that may have arrived, behind a proxy that refuses it then", "create",
			[]line{broken, {404, `<html>`, "", nil}}, 2, vitrine.ErrUnknown},
		{"a creation that may have arrived, of a service that is full", "create",
			[]line{broken, {507, `{"error":"full","code":"full"}`, "", nil}}, 2, vitrine.ErrFull},
		{"a check that never arrives", "check", []line{broken}, 4, broken.err},
		{"a creation that somebody on the way has lost", "create", []line{gateway}, 4, vitrine.ErrUnknown},
		{"a creation that cannot arrive", "create", []line{noDial}, 4, noDial.err},
		{"a removal of a busy service", "delete", []line{busy}, 4, vitrine.ErrBusy},
		{"a patch", "patch", []line{broken, done}, 1, vitrine.ErrUnknown},
		{"a patch of a busy service", "patch", []line{busy, done}, 1, vitrine.ErrBusy},
		{"a patch of which nothing is known", "patch", []line{unknown, done}, 1, vitrine.ErrUnknown},
		{"a patch that could not be sent", "patch", []line{noDial, done}, 1, noDial.err},
		{"a change in a library", "assets", []line{broken, done}, 1, vitrine.ErrUnknown},
		{"an import", "import", []line{broken, done}, 1, vitrine.ErrUnknown},
		{"a read that is refused", "read", []line{{404, `{"error":"not found","code":"not_found"}`, "", nil}, done}, 1,
			vitrine.ErrNotFound},
		{"a read of a service that fails", "read",
			[]line{{500, `{"error":"internal error","code":"internal"}`, "", nil}, done}, 1, nil},
		{"a write of a service that is full", "put", []line{{507, `{"error":"full","code":"full"}`, "", nil}, tagged},
			1, vitrine.ErrFull},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, s := scripted(t, func(c *client.Config) { c.AnswerBytes = 4000 }, test.lines...)
				err := calls[test.call](t.Context(), c)
				if len(s.asked) != test.sent {
					t.Errorf("sent %d times, want %d", len(s.asked), test.sent)
				}
				if last := test.lines[min(test.sent, len(test.lines))-1]; test.kind == nil &&
					(err == nil) != (last.status < 300) {
					t.Errorf("the error is %v", err)
				}
				if test.kind != nil {
					wantError(t, test.name, err, test.kind)
				}
				if test.kind != vitrine.ErrUnknown && errors.Is(err, vitrine.ErrUnknown) {
					t.Errorf("nothing is unknown, and yet: %v", err)
				}
			})
		})
	}
}

// The service checks the rights of a caller before it looks for an earlier attempt.
func TestAChangeIsUnknownThoughTheCallerHasNoRightsAnyMore(t *testing.T) {
	s := newServer(t)
	by := editor
	lose := false
	c := s.client(editor, func(c *client.Config) {
		c.Token = func(context.Context) (string, error) { return s.token(by), nil }
		next := c.Transport
		c.Transport = roundTripper(func(r *http.Request) (*http.Response, error) {
			answer, err := next.RoundTrip(r)
			if err != nil || !lose {
				return answer, err
			}
			lose = false
			by.Moderates = nil
			answer.Body.Close()
			return nil, broken.err
		})
	})
	app := ok(s.client(siteOne, nil).Apps.CreateApp(t.Context(),
		appsvc.CreateAppRequest{Title: "x", Groups: []string{site}}))(t)
	lose = true
	_, err := c.Apps.PutTag(t.Context(),
		appsvc.PutTagRequest{AppID: app.ID, Name: "live", Version: vitrine.NewVersion(0)})
	if wantError(t, "repeated without rights", err, vitrine.ErrUnknown); !errors.Is(err, vitrine.ErrNotFound) {
		t.Errorf("want the refusal too: %v", err)
	}
	by = editor
	ok(c.Apps.Tag(t.Context(), appsvc.TagRequest{AppID: app.ID, Name: "live"}))(t)
}

// All attempts carry one key, and each call its own.
func TestRepeatsCarryOneKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s := scripted(t, nil, broken, gone, broken, gone, gone)
		for _, key := range []string{"", "", "mine"} {
			must(t, c.Apps.DeleteTag(t.Context(), appsvc.DeleteTagRequest{AppID: "a", Name: "x", IdempotencyKey: key}))
		}
		var keys []string
		for _, r := range s.asked {
			keys = append(keys, r.Header.Get("Idempotency-Key"))
		}
		if len(keys) != 5 || keys[0] != keys[1] || keys[2] != keys[3] || keys[0] == keys[2] || len(keys[0]) < 20 ||
			keys[4] != "mine" {
			t.Errorf("%q", keys)
		}
		c, s = scripted(t, nil, done)
		must(t, calls["patch"](t.Context(), c))
		if _, given := s.asked[0].Header["Idempotency-Key"]; given {
			t.Error("a patch takes no key")
		}
	})
}

func TestWaitsGrowAndHeedTheService(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		date := time.Now().Add(7 * time.Second).UTC().Format(http.TimeFormat)
		for _, test := range []struct {
			name     string
			retry    string
			max      time.Duration
			sent     int
			from, to time.Duration // before the second attempt
		}{
			{"until when it says", date, 0, 4, 6 * time.Second, 7 * time.Second},
			{"by itself", "", 0, 4, 100 * time.Millisecond, 150 * time.Millisecond},
			{"as long as it says", "3", 0, 4, 3 * time.Second, 3 * time.Second},
			{"not as long as it says", "11", 0, 1, 0, 0},
			{"no longer than it may", "", time.Millisecond, 4, time.Millisecond, time.Millisecond},
			{"what it says makes no sense", "soon", 0, 4, 100 * time.Millisecond, 150 * time.Millisecond},
		} {
			c, s := scripted(t, func(c *client.Config) {
				c.MaxWait = test.max
			}, line{503, `{"error":"busy"}`, "Retry-After: " + test.retry, nil})
			wantError(t, test.name, calls["read"](t.Context(), c), vitrine.ErrBusy)
			if len(s.at) != test.sent {
				t.Errorf("%s: sent %d times", test.name, len(s.at))
			}
			if test.sent > 1 {
				if waited := s.at[1].Sub(s.at[0]); waited < test.from || waited > test.to {
					t.Errorf("%s: waited %s", test.name, waited)
				}
			}
			if test.sent > 3 && test.retry == "" && test.max == 0 && s.at[3].Sub(s.at[2]) < 2*test.from {
				t.Errorf("%s: the waits are %s", test.name, s.at[3].Sub(s.at[2]))
			}
		}
	})
}

func TestTheContextBoundsTheWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()
		c, s := scripted(t, nil, busy)
		begin := time.Now()
		wantError(t, "no time for a third wait", calls["read"](ctx, c), vitrine.ErrBusy)
		if len(s.asked) != 3 || time.Since(begin) > 2200*time.Millisecond {
			t.Errorf("sent %d times in %s", len(s.asked), time.Since(begin))
		}
		ctx, cancel = context.WithCancel(t.Context())
		time.AfterFunc(500*time.Millisecond, cancel)
		begin = time.Now()
		wantError(t, "ended while waiting", calls["read"](ctx, c), vitrine.ErrBusy)
		if time.Since(begin) != 500*time.Millisecond {
			t.Errorf("after %s", time.Since(begin))
		}
		c, _ = scripted(t, nil, broken)
		wantError(t, "ended before", calls["read"](ctx, c), context.Canceled)
	})
}

func TestOneAttemptIsOne(t *testing.T) {
	c, s := scripted(t, func(c *client.Config) { c.Attempts = 1 }, busy)
	wantError(t, "one attempt", calls["read"](t.Context(), c), vitrine.ErrBusy)
	if len(s.asked) != 1 {
		t.Errorf("sent %d times", len(s.asked))
	}
}

func TestErrorsSayWhatWasAskedAndByWhomItWasRefused(t *testing.T) {
	c, _ := scripted(t, nil, line{409, `{"error":"conflict: it moved"}`, "X-Request-Id: 17", nil})
	err := calls["patch"](t.Context(), c)
	var e *client.Error
	if !errors.As(err, &e) || e.Status != 409 || e.Message != "conflict: it moved" || e.RequestID != "17" ||
		e.Method != "PATCH" || e.Path != "/v4/apps/a" {
		t.Fatalf("%#v", err)
	}
	if err.Error() != "PATCH /v4/apps/a: 409: conflict: it moved" {
		t.Error(err)
	}
	for status, kind := range map[int]error{400: vitrine.ErrInvalid, 401: client.ErrToken, 403: vitrine.ErrForbidden,
		404: vitrine.ErrNotFound,
		413: vitrine.ErrTooLarge, 422: vitrine.ErrUnprocessable, 507: vitrine.ErrFull} {
		c, _ := scripted(t, nil, line{status, `{"error":"no"}`, "", nil})
		wantError(t, fmt.Sprint(status), calls["patch"](t.Context(), c), kind)
	}
	c, _ = scripted(t, nil, line{520, "<html>", "", nil})
	if err := calls["read"](t.Context(), c); err == nil ||
		err.Error() != "GET /v4/apps/a: 520: a status without a name, in a response that is not from this service" {
		t.Error(err)
	}
	// Responses that are not from the service wrap no sentinel.
	for _, l := range []line{{404, "<html>not here", "", nil}, {302, "", "Location: https://evil.example.test/", nil},
		{304, "", "", nil}, {404, `{"error":""}`, "", nil}} {
		c, s := scripted(t, nil, l)
		err := calls["read"](t.Context(), c)
		if !errors.As(err, &e) || e.Status != l.status || errors.Is(err, vitrine.ErrNotFound) || len(s.asked) != 1 {
			t.Errorf("%d: %v", l.status, err)
		}
	}
}
