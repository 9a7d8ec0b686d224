package httpapi_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// line is a line of the log about a refused request.
type line struct {
	Msg, Method, Path, Address, Caller, Reason string
	Status, Count                              int
}

// lines returns the log, which is JSON.
func (l *lockedBuffer) lines(t *testing.T) (all []line) {
	t.Helper()
	for text := range strings.Lines(l.String()) {
		var next line
		if err := json.Unmarshal([]byte(text), &next); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		all = append(all, next)
	}
	return all
}

// logsRefusals returns a handler, the log that it writes and the tokens that it takes.
func logsRefusals(t *testing.T) (http.Handler, *lockedBuffer, *httpapi.Tokens) {
	t.Helper()
	tokens, err := httpapi.NewTokens(testKey, nil)
	if err != nil {
		t.Fatal(err)
	}
	log := new(lockedBuffer)
	h, err := httpapi.New(httpapi.Config{Apps: appsvc.New(memory.New(), nil), Authenticate: tokens.Authenticate,
		Log: slog.New(slog.NewJSONHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	return h, log, tokens
}

func ask(h http.Handler, method, path, token, body string) int {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.RemoteAddr = "192.0.2.7:1234"
	r.Header.Set("Content-Type", "application/json")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, r)
	return answer.Code
}

// Authenticate that returns the plain error of a missing cookie is 503, and the log says what it returns instead.
func TestAPlainErrorOfAuthenticate(t *testing.T) {
	log := new(lockedBuffer)
	h, err := httpapi.New(httpapi.Config{Log: slog.New(slog.NewJSONHandler(log, nil)),
		Authenticate: func(*http.Request) (httpapi.Principal, error) { return httpapi.Principal{}, http.ErrNoCookie }})
	if err != nil {
		t.Fatal(err)
	}
	if status := ask(h, "GET", "/x/me", "", ""); status != 503 || !strings.Contains(log.String(), "Unauthenticated") {
		t.Errorf("%d, and the log has %s", status, log.String())
	}
}

// Authenticate that returns no user is 401, and neither the sentence nor the log speaks of a token.
func TestAPrincipalWithoutURN(t *testing.T) {
	log := new(lockedBuffer)
	h, err := httpapi.New(httpapi.Config{Log: slog.New(slog.NewJSONHandler(log, nil)),
		Authenticate: func(*http.Request) (httpapi.Principal, error) { return httpapi.Principal{}, nil }})
	if err != nil {
		t.Fatal(err)
	}
	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, httptest.NewRequest("GET", "/x/me", nil))
	all := log.lines(t)
	if answer.Code != 401 || !strings.Contains(answer.Body.String(), "found no user with valid URNs") ||
		len(all) != 1 || !strings.Contains(all[0].Reason, "Principal without a URN") {
		t.Errorf("%d %s, and the log has %+v", answer.Code, answer.Body, all)
	}
}

func TestRefusedCallersAreLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, log, tokens := logsRefusals(t)
		sign := func(p httpapi.Principal, life time.Duration) string {
			token, err := tokens.Sign(p, time.Now().Add(life))
			if err != nil {
				t.Fatal(err)
			}
			return token
		}
		expired, good := sign(editor, -time.Hour), sign(stranger, time.Hour)
		forged := good[:len(good)-4] + "AAAA"
		for _, c := range []struct {
			method, path, token, body string
			status                    int
			caller, reason            string
		}{
			{"GET", "/apps/", "", "", 401, "", "exactly one token"},
			{"GET", "/apps/" + forged, forged, "", 401, "", "signature is invalid"},
			{"GET", "/apps/?svctoken=" + forged, "", "", 401, "", "signature is invalid"},
			{"PATCH", "/apps/x", expired, "", 401, editor.URN, "it expired at"},
			{"POST", "/apps/", good, `{"title":"x","groups":["urn:vitrine:example.test"]}`, 403, stranger.URN,
				"urn:vitrine:example.test"},
		} {
			before := len(log.lines(t))
			if status := ask(h, c.method, c.path, c.token, c.body); status != c.status {
				t.Errorf("%s %s: status %d, want %d", c.method, c.path, status, c.status)
			}
			all := log.lines(t)
			if len(all) != before+1 {
				t.Fatalf("%s %s: %d lines", c.method, c.path, len(all)-before)
			}
			have := all[before]
			if have.Status != c.status || have.Method != c.method || have.Address != "192.0.2.7" ||
				have.Caller != c.caller || !strings.Contains(have.Reason, c.reason) ||
				!strings.HasPrefix(have.Path, "/apps/") {
				t.Errorf("%s %s: logged %+v, want %q and %q", c.method, c.path, have, c.caller, c.reason)
			}
		}
		ask(h, "GET", "/apps/", good, "")
		ask(h, "GET", "/apps/none", good, "")
		if n := len(log.lines(t)); n != 5 {
			t.Errorf("%d lines, want 5: a 200 and a 404 are no refusals", n)
		}
		for _, secret := range []string{expired, forged, good} {
			if strings.Contains(log.String(), secret) {
				t.Errorf("the log has a token: %s", log)
			}
		}
	})
}

func TestAtMostTenRefusalsASecondAreLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, log, _ := logsRefusals(t)
		flood := func(n int) {
			for range n {
				ask(h, "GET", "/apps/", "junk", "")
			}
			synctest.Wait()
		}
		counts := func() (refused int, more []int) {
			for _, l := range log.lines(t) {
				if l.Msg == "refused" {
					refused++
				} else {
					more = append(more, l.Count)
				}
			}
			return refused, more
		}
		expect := func(refused int, more ...int) {
			t.Helper()
			have, counted := counts()
			if have != refused || !slices.Equal(counted, more) {
				t.Errorf("%d lines and counts %v, want %d and %v", have, counted, refused, more)
			}
		}
		flood(10)
		expect(10)
		time.Sleep(2 * time.Second)
		expect(10)
		flood(11)
		expect(20)
		time.Sleep(999 * time.Millisecond)
		flood(30)
		expect(20)
		time.Sleep(time.Millisecond)
		synctest.Wait()
		expect(20, 31)
		flood(3)
		expect(23, 31)
		time.Sleep(time.Minute)
		expect(23, 31)
		flood(1)
		expect(24, 31)
	})
}
