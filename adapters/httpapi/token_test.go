package httpapi_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/appsvc"
)

func TestSignedTokensComeBack(t *testing.T) {
	w := newWorld(t)
	for _, p := range []httpapi.Principal{editor, siteOne, stranger,
		{URN: "urn:vitrine:é:user=ü", Roles: []string{"a", "b"}, Groups: []string{"urn:vitrine:x"}, Moderates: []string{"urn:vitrine:x"}}} {
		for range 2 { // the second time from memory
			got, err := w.tokens.Authenticate(t.Context(), w.token(p))
			if err != nil || !reflect.DeepEqual(got, p) {
				t.Errorf("signed %+v, got %+v, %v", p, got, err)
			}
		}
	}
}

// forge signs claims as somebody else might; more, name and value by turns, goes into the header.
func forge(t *testing.T, method jwt.SigningMethod, key any, claims string, more ...any) string {
	t.Helper()
	token := jwt.New(method)
	for i := 0; i < len(more); i += 2 {
		token.Header[more[i].(string)] = more[i+1]
	}
	head, err := token.SigningString()
	if err != nil {
		t.Fatal(err)
	}
	head, _, _ = strings.Cut(head, ".")
	text := head + "." + base64.RawURLEncoding.EncodeToString([]byte(claims))
	signature, err := method.Sign(text, key)
	if err != nil {
		t.Fatal(err)
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature)
}

func TestBadTokensAreAll401AndAlike(t *testing.T) {
	w := newWorld(t)
	now := w.clock.Now().Unix()
	claims := func(more string) string {
		return fmt.Sprintf(`{"sub":"%s","moderates":["%s"],"components":true,"exp":%d%s}`, editor.URN, network, now+3600, more)
	}
	hs256 := func(claims string) string { return forge(t, jwt.SigningMethodHS256, testKey, claims) }
	good := hs256(claims(""))
	w.send("GET", "/apps/", "", header("Authorization", "svctoken "+good)).want(200)
	w.send("GET", "/apps/", "", header("Authorization", "svctoken "+hs256(claims(`,"iss":"x","aud":["y"],"iat":1,"nbf":1,"jti":7`)))).want(200)

	w.send("GET", "/apps/", "", header("Authorization", "svctoken "+forge(t, jwt.SigningMethodHS256, testKey, claims(""), "kid", "x"))).want(200)

	bad := map[string]string{
		"an extension":         forge(t, jwt.SigningMethodHS256, testKey, claims(""), "crit", []string{"x"}, "x", true),
		"extensions of none":   forge(t, jwt.SigningMethodHS256, testKey, claims(""), "crit", nil),
		"algorithm none":       forge(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, claims("")),
		"algorithm HS512":      forge(t, jwt.SigningMethodHS512, testKey, claims("")),
		"algorithm HS384":      forge(t, jwt.SigningMethodHS384, testKey, claims("")),
		"another key":          forge(t, jwt.SigningMethodHS256, []byte("another key, also 32 bytes long."), claims("")),
		"no signature":         good[:strings.LastIndex(good, ".")+1],
		"a changed signature":  good[:len(good)-2] + "AA",
		"a changed payload":    strings.Replace(good, ".", ".e", 1),
		"spare bits at end":    spareBits(good),
		"padding":              good + "=",
		"four parts":           good + ".x",
		"one part":             "x",
		"dots":                 "..",
		"100 KB":               strings.Repeat("x", 100<<10),
		"100 KB of a good one": hs256(claims(`,"x":"` + strings.Repeat("x", 100<<10) + `"`)),
		"expired":              hs256(fmt.Sprintf(`{"sub":%q,"exp":%d}`, editor.URN, now)),
		"no exp":               hs256(fmt.Sprintf(`{"sub":%q}`, editor.URN)),
		"exp null":             hs256(fmt.Sprintf(`{"sub":%q,"exp":null}`, editor.URN)),
		"exp a string":         hs256(fmt.Sprintf(`{"sub":%q,"exp":"%d"}`, editor.URN, now+60)),
		"exp below zero":       hs256(fmt.Sprintf(`{"sub":%q,"exp":-1e300}`, editor.URN)),
		"future nbf":           hs256(claims(fmt.Sprintf(`,"nbf":%d`, now+60))),
		"nbf a string":         hs256(claims(`,"nbf":"0"`)),
		"no sub":               hs256(fmt.Sprintf(`{"exp":%d}`, now+60)),
		"empty sub":            hs256(fmt.Sprintf(`{"sub":"","exp":%d}`, now+60)),
		"sub a number":         hs256(fmt.Sprintf(`{"sub":7,"exp":%d}`, now+60)),
		"sub null":             hs256(fmt.Sprintf(`{"sub":null,"exp":%d}`, now+60)),
		"sub with a line end":  hs256(fmt.Sprintf(`{"sub":"a\nb","exp":%d}`, now+60)),
		"moderates a string":   hs256(fmt.Sprintf(`{"sub":"x","exp":%d,"moderates":"urn"}`, now+60)),
		"moderates of numbers": hs256(fmt.Sprintf(`{"sub":"x","exp":%d,"moderates":[1]}`, now+60)),
		"moderates null":       hs256(fmt.Sprintf(`{"sub":"x","exp":%d,"moderates":null}`, now+60)),
		"roles an object":      hs256(fmt.Sprintf(`{"sub":"x","exp":%d,"roles":{}}`, now+60)),
		"groups of null":       hs256(fmt.Sprintf(`{"sub":"x","exp":%d,"groups":[null]}`, now+60)),
		"components a string":  hs256(fmt.Sprintf(`{"sub":"x","exp":%d,"components":"true"}`, now+60)),
		"components a number":  hs256(fmt.Sprintf(`{"sub":"x","exp":%d,"components":1}`, now+60)),
		"a claim twice":        hs256(claims(`,"sub":"urn:vitrine:x:user=y"`)),
		"claims an array":      hs256(`[]`),
		"claims null":          hs256(`null`),
		"claims no JSON":       hs256(`{"sub":`),
	}
	var first string
	for name, token := range bad {
		t.Run(name, func(t *testing.T) {
			for range 2 {
				inHeader := w.send("GET", "/apps/", "", header("Authorization", "svctoken "+token)).want(401)
				inQuery := w.send("GET", "/apps/?svctoken="+url.QueryEscape(token), "").want(401)
				if first == "" {
					first = inHeader.body
				}
				if inHeader.body != first || inQuery.body != first {
					t.Errorf("%s and %s, others %s", inHeader.body, inQuery.body, first)
				}
			}
		})
	}
}

// spareBits returns the token with other unused bits in its last character: the same signature
// for a careless decoder.
func spareBits(token string) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	last := strings.IndexByte(alphabet, token[len(token)-1])
	return token[:len(token)-1] + string(alphabet[last^1])
}

func TestATokenIsGivenExactlyOnce(t *testing.T) {
	w := newWorld(t)
	token := w.token(editor)
	for name, c := range map[string]struct {
		query   string
		headers []string
		want    int
	}{
		"header":                     {"", []string{"svctoken " + token}, 200},
		"scheme in another case":     {"", []string{"SvcToken " + token}, 200},
		"spaces around":              {"", []string{"svctoken   " + token + " "}, 200},
		"query":                      {"svctoken=" + token, nil, 200},
		"query beside others":        {"a=b&svctoken=" + token + "&c", nil, 200},
		"header and query":           {"svctoken=" + token, []string{"svctoken " + token}, 401},
		"another scheme and query":   {"svctoken=" + token, []string{"Basic dTpw"}, 401},
		"empty header and query":     {"svctoken=" + token, []string{""}, 401},
		"two headers":                {"", []string{"svctoken " + token, "svctoken " + token}, 401},
		"two in the query":           {"svctoken=" + token + "&svctoken=" + token, nil, 401},
		"one of two empty":           {"svctoken=" + token + "&svctoken=", nil, 401},
		"header with an empty query": {"svctoken=", []string{"svctoken " + token}, 401},
		"empty query":                {"svctoken=", nil, 401},
		"broken query":               {"svctoken=" + token + "%zz", nil, 401},
		"header and a broken query":  {"svctoken=%zz", []string{"svctoken " + token}, 401},
		"a good and a broken query":  {"svctoken=" + token + "&svctoken=" + token + ";", nil, 401},
		"parameter in another case":  {"SVCTOKEN=" + token, nil, 401},
		"header without a token":     {"", []string{"svctoken "}, 401},
		"header without a space":     {"", []string{"svctoken" + token}, 401},
		"token without a scheme":     {"", []string{token}, 401},
		"Bearer":                     {"", []string{"Bearer " + token}, 401},
		"two tokens in one header":   {"", []string{"svctoken " + token + " " + token}, 401},
		"two schemes in one header":  {"", []string{"svctoken " + token + ", svctoken " + token}, 401},
		"no token":                   {"", nil, 401},
	} {
		t.Run(name, func(t *testing.T) {
			var options []option
			for _, h := range c.headers {
				options = append(options, header("Authorization", h))
			}
			w.send("GET", "/apps/?"+c.query, "", options...).want(c.want)
		})
	}
}

func TestTokensExpireWhileTheyAreRemembered(t *testing.T) {
	w := newWorld(t)
	token := w.token(editor)
	w.send("GET", "/apps/?svctoken="+token, "").want(200)
	w.clock.add(time.Hour - time.Millisecond)
	w.send("GET", "/apps/?svctoken="+token, "").want(200)
	w.clock.add(time.Millisecond)
	w.send("GET", "/apps/?svctoken="+token, "").want(401)
}

func TestFewTokensAreRemembered(t *testing.T) {
	tokens, err := httpapi.NewTokens(testKey, &httpapi.TokenOptions{Cache: 2})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		text, err := tokens.Sign(httpapi.Principal{URN: fmt.Sprint("urn:vitrine:x:user=", i)}, time.Now().Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if p, err := tokens.Authenticate(t.Context(), text); err != nil || p.URN != fmt.Sprint("urn:vitrine:x:user=", i) {
				t.Fatalf("%d: %v, %v", i, p, err)
			}
		}
	}
}

func TestShortKeysAndBadSubjectsAreRefused(t *testing.T) {
	if _, err := httpapi.NewTokens(make([]byte, httpapi.MinKey-1), nil); err == nil {
		t.Error("a short key was taken")
	}
	tokens, err := httpapi.NewTokens(make([]byte, httpapi.MinKey), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, sub := range []string{"", "a b", "a\nb", strings.Repeat("x", 513)} {
		if _, err := tokens.Sign(httpapi.Principal{URN: sub}, time.Now()); err == nil {
			t.Errorf("signed for %q", sub)
		}
	}
}

// TestTheTokenStaysSecret sends a token that can be told apart and looks for it in all that comes
// out: answers of every kind, and the log.
func TestTheTokenStaysSecret(t *testing.T) {
	const canary = "canary-7f3a91"
	leak := func(_ context.Context, token string) (httpapi.Principal, error) {
		switch {
		case strings.HasSuffix(token, "-panic"):
			panic("cannot look up " + token)
		case strings.HasSuffix(token, "-bad"):
			return httpapi.Principal{}, errors.New("no such token: " + token)
		}
		return editor, nil
	}
	w := newWorld(t, func(c *httpapi.Config) { c.Authenticate = leak })
	broken := newWorld(t, func(c *httpapi.Config) {
		c.Authenticate, c.Apps = leak, appsvc.New(panickingStore{"GET /apps/?svctoken=" + canary}, nil)
	})
	for range 3 {
		w.send("POST", "/apps/?svctoken="+canary, `{"title":"x","groups":["urn:vitrine:example.test"]}`).want(201)
	}
	var replies []reply
	for _, path := range []string{"/apps/?limit=1&svctoken=", "/apps/?limit=x&svctoken=", "/apps/none?svctoken=", "/nothing?svctoken=",
		"/apps/?x=%zz&svctoken=", "/apps/versions/?appId=none&svctoken=", "/components/none?svctoken=", "/cors.html?svctoken=",
		"/openapi.json?svctoken=", "/healthz?svctoken=", "/apps//?svctoken=", "/apps?svctoken="} {
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"} {
			for _, token := range []string{canary, canary + "-bad", canary + "-panic", canary + "&svctoken=" + canary, canary + "%zz"} {
				replies = append(replies, w.send(method, path+token, "{}"), broken.send(method, path+token, "{}"))
			}
		}
	}
	for _, r := range replies {
		if strings.Contains(r.body+fmt.Sprint(r.header), canary) {
			t.Errorf("%s: %d %v %s", r.what, r.status, r.header, r.body)
		}
		if r.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: Cache-Control %q", r.what, r.header.Get("Cache-Control"))
		}
	}
	for _, log := range []string{w.log.String(), broken.log.String()} {
		if strings.Contains(log, canary) {
			t.Errorf("the log holds the token: %s", log)
		}
		if !strings.Contains(log, "panic") {
			t.Error("nothing was logged, so the test shows nothing")
		}
	}
}

func TestAnEmbedderMayBringItsOwnTokens(t *testing.T) {
	w := newWorld(t, func(c *httpapi.Config) {
		c.Authenticate = func(_ context.Context, token string) (httpapi.Principal, error) {
			if token == "nobody" {
				return httpapi.Principal{}, nil
			}
			return httpapi.Principal{URN: token}, nil
		}
	})
	w.send("GET", "/apps/", "", header("Authorization", "svctoken urn:vitrine:x:user=me")).want(200)
	w.send("GET", "/apps/?svctoken=nobody", "").want(401)
}
