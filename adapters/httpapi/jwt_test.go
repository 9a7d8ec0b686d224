package httpapi_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/adapters/httpapi"
	"github.com/vitrine-go/vitrine/reviews"
	"github.com/vitrine-go/vitrine/storage/memory"
)

func TestSignedTokensComeBack(t *testing.T) {
	w := newWorld(t)
	for _, p := range []httpapi.Principal{editor, siteOne, stranger,
		{Caller: vitrine.Caller{URN: "urn:vitrine:é:user=ü", Roles: []string{"a", "b"},
			Groups: []string{"urn:vitrine:x"}, Moderates: []string{"urn:vitrine:x"}}}} {
		for range 2 { // the second time from memory
			got, err := w.tokens.Verify(w.token(p))
			p.Expires = got.Expires
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

func TestForgedTokensAreAll401AndAlike(t *testing.T) {
	w := newWorld(t)
	now := w.clock.Now().Unix()
	claims := func(more string) string {
		return fmt.Sprintf(`{"sub":"%s","moderates":["%s"],"components":true,"exp":%d%s}`, editor.URN, network,
			now+3600, more)
	}
	hs256 := func(claims string) string { return forge(t, jwt.SigningMethodHS256, testKey, claims) }
	good := hs256(claims(""))
	w.send("GET", "/apps/", "", header("Authorization", "svctoken "+good)).want(200)
	another := []byte("another key, also 32 bytes long.")
	bad := map[string]string{
		"an extension":         forge(t, jwt.SigningMethodHS256, testKey, claims(""), "crit", []string{"x"}, "x", true),
		"extensions of none":   forge(t, jwt.SigningMethodHS256, testKey, claims(""), "crit", nil),
		"algorithm none":       forge(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, claims("")),
		"algorithm HS512":      forge(t, jwt.SigningMethodHS512, testKey, claims("")),
		"algorithm HS384":      forge(t, jwt.SigningMethodHS384, testKey, claims("")),
		"another key":          forge(t, jwt.SigningMethodHS256, another, claims("")),
		"an unknown kid":       forge(t, jwt.SigningMethodHS256, testKey, claims(""), "kid", "x"),
		"an empty kid":         forge(t, jwt.SigningMethodHS256, testKey, claims(""), "kid", ""),
		"a kid of null":        forge(t, jwt.SigningMethodHS256, testKey, claims(""), "kid", nil),
		"a kid that is a list": forge(t, jwt.SigningMethodHS256, testKey, claims(""), "kid", []string{"x"}),
		"expired, another key": forge(t, jwt.SigningMethodHS256, another,
			fmt.Sprintf(`{"sub":%q,"exp":%d}`, editor.URN, now)),
		"no sub, another key":  forge(t, jwt.SigningMethodHS256, another, fmt.Sprintf(`{"exp":%d}`, now+60)),
		"no signature":         good[:strings.LastIndex(good, ".")+1],
		"a changed signature":  good[:len(good)-2] + "AA",
		"a changed payload":    strings.Replace(good, ".", ".e", 1),
		"spare bits at end":    spareBits(good),
		"padding":              good + "=",
		"four parts":           good + ".x",
		"one part":             "x",
		"dots":                 "..",
		"100 KB":               strings.Repeat("x", 100<<10),
		"100 KB of a good one": hs256(claims(`,"iss":"` + strings.Repeat("x", 100<<10) + `"`)),
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

// Whoever holds a token that is signed well is told what is wrong with it.
func TestATokenThatIsSignedWellSaysWhyItIsRefused(t *testing.T) {
	w := newWorld(t)
	now := w.clock.Now().Unix()
	send := func(claims string) reply {
		token := forge(t, jwt.SigningMethodHS256, testKey, claims)
		r := w.send("GET", "/apps/?svctoken="+token, "")
		if strings.Contains(r.body, token) {
			t.Errorf("the token stands in %s", r.body)
		}
		if r.status == 401 && r.header.Get("Www-Authenticate") != "svctoken" {
			t.Errorf("WWW-Authenticate is %q", r.header.Get("Www-Authenticate"))
		}
		return r
	}
	claims := func(more string) string { return fmt.Sprintf(`{"sub":%q,"exp":%d%s}`, editor.URN, now+60, more) }
	sub := func(text string) string { return fmt.Sprintf(`{"sub":%s,"exp":%d}`, text, now+60) }
	for _, good := range []string{"", `,"iss":"x","aud":["y"],"iat":1,"nbf":1,"jti":"7"`, `,"aud":"y","iat":1.5`,
		`,"moderates":[],"roles":[],"groups":[],"components":false`,
		fmt.Sprintf(`,"moderates":[%q,%q]`, network, network+":site=1")} {
		send(claims(good)).want(200)
	}
	for name, test := range map[string]struct{ claims, why string }{
		"expired": {fmt.Sprintf(`{"sub":%q,"exp":%d}`, editor.URN, now),
			"expired at 2023-11-14T22:13:20Z"},
		"no exp":               {fmt.Sprintf(`{"sub":%q}`, editor.URN), "claim exp"},
		"exp null":             {fmt.Sprintf(`{"sub":%q,"exp":null}`, editor.URN), "claim exp"},
		"exp a string":         {fmt.Sprintf(`{"sub":%q,"exp":"%d"}`, editor.URN, now+60), "claim exp"},
		"exp below zero":       {fmt.Sprintf(`{"sub":%q,"exp":-1e300}`, editor.URN), "expired"},
		"future nbf":           {claims(fmt.Sprintf(`,"nbf":%d`, now+60)), "good from 2023-11-14T22:14:20Z on"},
		"nbf a string":         {claims(`,"nbf":"0"`), "claim nbf"},
		"nbf null":             {claims(`,"nbf":null`), "claim nbf"},
		"iat a string":         {claims(`,"iat":"0"`), "claim iat"},
		"iss a number":         {claims(`,"iss":7`), "claim iss"},
		"jti a number":         {claims(`,"jti":7`), "claim jti"},
		"aud null":             {claims(`,"aud":null`), "claim aud"},
		"aud of numbers":       {claims(`,"aud":[7]`), "claim aud/0"},
		"no sub":               {fmt.Sprintf(`{"exp":%d}`, now+60), "claim sub"},
		"empty sub":            {sub(`""`), "claim sub"},
		"sub a number":         {sub(`7`), "claim sub"},
		"sub null":             {sub(`null`), "claim sub"},
		"sub with a line end":  {sub(`"urn:v:n:user=a\nb"`), "claim sub"},
		"sub no URN":           {sub(`"editor"`), "claim sub"},
		"sub a network":        {sub(`"urn:v:n"`), "claim sub"},
		"sub a site":           {sub(`"urn:v:n:site=1"`), "claim sub"},
		"sub in another case":  {claims(`,"Sub":"urn:v:n:user=a"`), "claim Sub"},
		"moderates a string":   {claims(`,"moderates":"urn:v:n"`), "claim moderates"},
		"moderates of numbers": {claims(`,"moderates":[1]`), "claim moderates/0"},
		"moderates null":       {claims(`,"moderates":null`), "claim moderates"},
		"moderates everything": {claims(`,"moderates":["urn"]`), "claim moderates/0"},
		"moderates a vendor":   {claims(`,"moderates":["urn:v:n","urn:v"]`), "claim moderates/1"},
		"moderates nothing":    {claims(`,"moderates":[""]`), "claim moderates/0"},
		"moderates a user":     {claims(`,"moderates":["urn:v:n:user=1"]`), "claim moderates/0"},
		"roles an object":      {claims(`,"roles":{}`), "claim roles"},
		"groups of null":       {claims(`,"groups":[null]`), "claim groups/0"},
		"components a string":  {claims(`,"components":"true"`), "claim components"},
		"components a number":  {claims(`,"components":1`), "claim components"},
		"components null":      {claims(`,"components":null`), "claim components"},
		"a misspelt claim":     {claims(`,"tag":["production"]`), "claim tag"},
		"tag":                  {claims(`,"tag":["production"]`), "claim tag"},
		"tags null":            {claims(`,"tags":null`), "claim tags"},
		"reads everything":     {claims(`,"reads":["urn"]`), "claim reads/0"},
		"reads null":           {claims(`,"reads":null`), "claim reads"},
		"tags of numbers":      {claims(`,"tags":[1]`), "claim tags/0"},
		"a claim twice":        {claims(`,"sub":"urn:vitrine:x:user=y"`), "claim sub"},
		"U+0000 in a role":     {claims(`,"roles":["\u0000"]`), "claim roles/0"},
		"claims an array":      {`[]`, "its claims"},
		"claims null":          {`null`, "its claims"},
	} {
		t.Run(name, func(t *testing.T) {
			for range 2 {
				r := send(test.claims).want(401)
				if !strings.Contains(r.body, test.why) {
					t.Errorf("%s: want %q in it", r.body, test.why)
				}
			}
		})
	}
}

func TestKeysCanBeChanged(t *testing.T) {
	first, second, third := []byte("the first key, 32 bytes long...."), []byte("the second key, 32 bytes long..."),
		[]byte("the third key, 32 bytes long....")
	tokens := func(keys ...[]byte) *httpapi.Tokens {
		tokens, err := httpapi.NewTokens(keys[0], &httpapi.TokenOptions{Verify: keys[1:]})
		if err != nil {
			t.Fatal(err)
		}
		return tokens
	}
	sign := func(by *httpapi.Tokens) string {
		text, err := by.Sign(stranger, time.Now().Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	unnamed := func(key []byte) string {
		return forge(t, jwt.SigningMethodHS256, key,
			fmt.Sprintf(`{"sub":%q,"exp":%d}`, stranger.URN, time.Now().Unix()+60))
	}
	before, between, after := tokens(first), tokens(second, first), tokens(second)
	for name, test := range map[string]struct {
		by    *httpapi.Tokens
		token string
		good  bool
	}{
		"the old key's, while both are there":      {between, sign(before), true},
		"the new key's":                            {between, sign(between), true},
		"the new key's, where it is the only one":  {after, sign(between), true},
		"the old key's, when it is gone":           {after, sign(before), false},
		"the new key's, before it was there":       {before, sign(between), false},
		"the old key's, without a kid":             {between, unnamed(first), true},
		"the new key's, without a kid":             {between, unnamed(second), true},
		"another key's, without a kid":             {between, unnamed(third), false},
		"the old key's with the name of the other": {between, renamed(t, sign(between), sign(before)), false},
	} {
		if p, err := test.by.Verify(test.token); (err == nil) != test.good || test.good && p.URN != stranger.URN {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
	_, err := after.Verify(sign(before))
	want := fmt.Sprintf("unauthenticated: token: the key file has no key with the id %q, which the token names: the "+
		"key was removed, or another service has signed the token", before.KeyIDs()[0])
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// renamed returns a token with the header of another one, and so with the name of another key. It is not signed again,
// so its signature is wrong.
func renamed(t *testing.T, header, token string) string {
	t.Helper()
	head, _, _ := strings.Cut(header, ".")
	_, rest, ok := strings.Cut(token, ".")
	if !ok {
		t.Fatal("no token")
	}
	return head + "." + rest
}

func TestAKeyFileHoldsAKeyALine(t *testing.T) {
	long := strings.Repeat("k", 32)
	for text, want := range map[string][]string{
		long:        {long},
		long + "\n": {long},
		" \t" + long + " x \r\n\n" + long + "2\n": {long + " x", long + "2"},
		"":                        nil,
		"\n \n":                   nil,
		long[1:]:                  nil,
		long + "\n" + long[1:]:    nil,
		long + "\n   " + long[1:]: nil,
	} {
		keys, err := httpapi.ParseKeys([]byte(text))
		var got []string
		for _, k := range keys {
			got = append(got, string(k))
		}
		if !reflect.DeepEqual(got, want) || (err == nil) != (want != nil) {
			t.Errorf("%q: %q, %v, want %q", text, got, err, want)
		}
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
		"Bearer":                     {"", []string{"Bearer " + token}, 200},
		"Bearer in another case":     {"", []string{"bEARER " + token}, 200},
		"Bearer and query":           {"svctoken=" + token, []string{"Bearer " + token}, 401},
		"Bearer beside svctoken":     {"", []string{"Bearer " + token, "svctoken " + token}, 401},
		"Basic":                      {"", []string{"Basic " + token}, 401},
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

func TestShortKeysAndMalformedPrincipalsAreRefused(t *testing.T) {
	if _, err := httpapi.NewTokens(make([]byte, httpapi.MinKey-1), nil); err == nil {
		t.Error("a short key was taken")
	}
	tokens, err := httpapi.NewTokens(make([]byte, httpapi.MinKey), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := httpapi.NewTokens(testKey,
		&httpapi.TokenOptions{Verify: [][]byte{make([]byte, httpapi.MinKey-1)}}); err == nil {
		t.Error("a short key that verifies was taken")
	}
	user := network + ":user=x"
	for _, p := range []httpapi.Principal{{}, {Caller: vitrine.Caller{URN: "a"}},
		{Caller: vitrine.Caller{URN: user + " b"}}, {Caller: vitrine.Caller{URN: user + "\nb"}},
		{Caller: vitrine.Caller{URN: user + strings.Repeat("x", 512)}}, {Caller: vitrine.Caller{URN: network}},
		{Caller: vitrine.Caller{URN: user, Moderates: []string{""}}},
		{Caller: vitrine.Caller{URN: user, Moderates: []string{"urn"}}},
		{Caller: vitrine.Caller{URN: user, Moderates: []string{network, "urn:vitrine"}}},
		{Caller: vitrine.Caller{URN: user, Moderates: []string{user}}},
		{Caller: vitrine.Caller{URN: user, Roles: []string{"\x00"}}},
		{Caller: vitrine.Caller{URN: user, Roles: []string{"\xff"}}},
		{Caller: vitrine.Caller{URN: user, Groups: []string{"\xff"}}},
		{Caller: vitrine.Caller{URN: user, NotOwner: true}}} {
		if text, err := tokens.Sign(p, time.Now().Add(time.Hour)); err == nil {
			t.Errorf("signed for %+v: %s", p, text)
		}
	}
}

// TestTheTokenStaysSecret sends a token that is easily recognised and looks for it in everything that the handler
// writes: responses of every kind, and the log.
func TestTheTokenStaysSecret(t *testing.T) {
	const canary = "canary-7f3a91"
	leak := func(r *http.Request) (httpapi.Principal, error) {
		token, err := httpapi.RequestToken(r)
		switch {
		case err != nil:
			return httpapi.Principal{}, fmt.Errorf("%w: %s", err, r.URL)
		case strings.HasSuffix(token, "-down"):
			return httpapi.Principal{}, errors.New("no answer to " + r.URL.String())
		case strings.HasSuffix(token, "-panic"):
			panic("cannot look up " + token)
		case strings.HasSuffix(token, "-bad"):
			return httpapi.Principal{}, fmt.Errorf("%w: no such token: %s", httpapi.ErrUnauthenticated, token)
		}
		return editor, nil
	}
	w := newWorld(t, func(c *httpapi.Config) { c.Authenticate = leak })
	broken := newWorld(t, func(c *httpapi.Config) {
		c.Authenticate, c.Apps = leak, panicking("GET /apps/?svctoken="+canary)
	})
	for range 3 {
		w.send("POST", "/apps/?svctoken="+canary, `{"title":"x","groups":["urn:vitrine:example.test"]}`).want(201)
	}
	var replies []reply
	for _, path := range []string{"/apps/?limit=1&svctoken=", "/apps/?limit=x&svctoken=", "/apps/none?svctoken=",
		"/nothing?svctoken=",
		"/apps/?x=%zz&svctoken=", "/apps/versions/?appId=none&svctoken=", "/components/none?svctoken=",
		"/cors.html?svctoken=",
		"/openapi.json?svctoken=", "/healthz?svctoken=", "/apps//?svctoken=", "/apps?svctoken="} {
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"} {
			for _, token := range []string{canary, canary + "-bad", canary + "-down", canary + "-panic",
				canary + "&svctoken=" + canary, canary + "%zz"} {
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
		c.Reviews = reviews.New(memory.New(), nil)
		c.Authenticate = func(r *http.Request) (httpapi.Principal, error) {
			token, err := httpapi.RequestToken(r)
			if err != nil {
				return httpapi.Principal{}, err
			}
			if token == "nobody" {
				return httpapi.Principal{}, nil
			}
			if token == "told" {
				return httpapi.Principal{},
					fmt.Errorf("session: %w", &httpapi.TokenError{Reason: "the session of told has ended"})
			}
			if token == "vendor" {
				return httpapi.Principal{Caller: vitrine.Caller{URN: network + ":user=me",
					Moderates: []string{"urn:vitrine"}}}, nil
			}
			return httpapi.Principal{Caller: vitrine.Caller{URN: token, Operator: true}}, nil
		}
	})
	// nobody is an operator over HTTP
	w.send("GET", "/x/reviews/collections?network=example.test", "",
		header("Authorization", "svctoken "+network+":user=me")).want(403)
	w.send("GET", "/apps/", "", header("Authorization", "svctoken urn:vitrine:x:user=me")).want(200)
	nobody := w.send("GET", "/apps/?svctoken=nobody", "").want(401)
	for _, malformed := range []string{"me", "vendor", network} {
		if r := w.send("GET", "/apps/?svctoken="+malformed, "").want(401); r.body != nobody.body {
			t.Errorf("%s: %s", malformed, r.body)
		}
	}
	if !strings.Contains(w.log.String(), "malformed principal") {
		t.Errorf("the log does not tell of a malformed principal: %s", w.log)
	}
	if r := w.send("GET", "/apps/?svctoken=told", "").want(401); r.body != `{"error":"the session of [token] has `+
		`ended","code":"unauthorized"}` {
		t.Errorf("the reason is told as %s", r.body)
	}
}
