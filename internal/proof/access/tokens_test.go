//go:build proof

package access

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
)

// The keys of the worlds: the first signs, both verify.
var (
	signingKey  = []byte("a key for tests, 32 bytes long..")
	replacedKey = []byte("a key of before, 32 bytes long..")
)

// part is something that a token may be made of, and whether it is as it must be.
type part struct {
	text string // members of the payload; the name of a key; a secret
	good bool
}

// hourOn and hourAgo are times of a claim.
func hourOn() string  { return fmt.Sprint(time.Now().Unix() + 3600) }
func hourAgo() string { return fmt.Sprint(time.Now().Unix() - 3600) }

// payloadParts are the choices for each claim: of every list one is taken.
func payloadParts() [][]part {
	sub := `"sub":"` + network + `:user=a"`
	return [][]part{
		{{sub, true}, {"", false}, {`"sub":null`, false}, {`"sub":7`, false}, {`"sub":"` + network + `"`, false}, {`"sub":"a"`, false},
			{sub[:len(sub)-1] + `:b"`, false}, {`"Sub":"` + network + `:user=a"`, false}},
		{{`"exp":` + hourOn(), true}, {`"exp":` + hourOn() + `.5`, true}, {"", false}, {`"exp":null`, false}, {`"exp":"` + hourOn() + `"`, false}, {`"exp":` + hourAgo(), false}},
		{{"", true}, {`"moderates":[]`, true}, {`"moderates":["` + network + `"]`, true}, {`"moderates":["` + network + `:site=1","` + elsewhere + `"]`, true},
			{`"moderates":["urn"]`, false}, {`"moderates":["` + network + `","urn:vitrine"]`, false}, {`"moderates":[""]`, false}, {`"moderates":null`, false},
			{`"moderates":["` + network + `:user=a"]`, false}, {`"moderates":"` + network + `"`, false}, {`"moderates":[null]`, false}},
		{{"", true}, {`"components":true`, true}, {`"components":null`, false}, {`"components":"true"`, false}, {`"components":1`, false}},
		{{"", true}, {`"roles":["desk"]`, true}, {`"roles":null`, false}, {`"roles":"desk"`, false}},
		{{"", true}, {`"groups":["` + network + `:group=team"]`, true}, {`"groups":null`, false}, {`"groups":[7]`, false}},
		{{"", true}, {`"iss":"x","aud":["y"],"jti":"z","iat":1,"nbf":1`, true}, {`"aud":"y"`, true}, {`"nbf":` + hourOn(), false}, {`"nbf":null`, false},
			{`"aud":null`, false}, {`"iss":7`, false}, {`"jti":null`, false}, {`"iat":"1"`, false}},
		{{"", true}, {`"tag":["production"]`, false}, {`"tags":null`, false}, {`"tags":[1]`, false}, {`"reads":[]`, true}, {`"reads":["urn:vitrine:example.test"]`, true}, {`"reads":["urn"]`, false}, {`"moderate":[]`, false}, {`"admin":false`, false}},
	}
}

// tokenOf is a JSON Web Token with a header and a payload as they stand.
func tokenOf(header, payload string, key []byte) string {
	text := base64.RawURLEncoding.EncodeToString([]byte(header)) + "." + base64.RawURLEncoding.EncodeToString([]byte(payload))
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return text + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// kidOf is the name that tokens of a key have for it.
func kidOf(t *testing.T, key []byte) string {
	t.Helper()
	tokens, err := httpapi.NewTokens(key, nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := tokens.Sign(callers[len(callers)-1].Principal, time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(text, ".")
	header, err := base64.RawURLEncoding.DecodeString(first)
	var out struct{ Kid string }
	if err != nil || json.Unmarshal(header, &out) != nil || out.Kid == "" {
		t.Fatalf("%s: %v", header, err)
	}
	return out.Kid
}

// TestRandomTokensAreGoodOrRefused makes tokens of random parts. One whose parts are all as they must be
// is taken; any other is 401, and says what is wrong with it only if its signature is good.
func TestRandomTokensAreGoodOrRefused(t *testing.T) {
	w, random := newWorld(t), rand.New(rand.NewPCG(13, 5))
	choose := func(list []part, mostlyGood int) part {
		for {
			if p := list[random.IntN(len(list))]; p.good || random.IntN(mostlyGood) == 0 {
				return p
			}
		}
	}
	other := []byte("a key of nobody, 32 bytes long..")
	kids := map[string][]byte{kidOf(t, signingKey): signingKey, kidOf(t, replacedKey): replacedKey, kidOf(t, other): nil, "x": nil, "": nil}
	names := []string{kidOf(t, signingKey), kidOf(t, replacedKey), kidOf(t, other), "x", "", "none", "none", "none"}
	generic := w.send(callers[0], get("/apps/")).body
	count := map[string]int{}
	for range 3000 {
		var members, wrong []string
		for _, list := range payloadParts() {
			p := choose(list, 20)
			if p.text != "" {
				members = append(members, p.text)
			}
			if !p.good {
				wrong = append(wrong, p.text)
			}
		}
		random.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
		key := [][]byte{signingKey, signingKey, replacedKey, other}[random.IntN(4)]
		signed, header := string(key) != string(other), `{"alg":"HS256"}`
		if name := names[random.IntN(len(names))]; name != "none" {
			header = fmt.Sprintf(`{"alg":"HS256","kid":%q}`, name)
			signed = string(kids[name]) == string(key)
		}
		payload := "{" + strings.Join(members, ",") + "}"
		r := w.send(caller{name: "random", token: tokenOf(header, payload, key)}, get("/apps/"))
		verdict := "signed by nobody"
		switch {
		case signed && len(wrong) == 0:
			verdict = "good"
		case signed:
			verdict = "signed, but wrong"
		}
		count[verdict]++
		if (r.status == 200) != (verdict == "good") || r.status != 200 && r.status != 401 {
			t.Errorf("%s %s, which is %s %q: status %d: %s", header, payload, verdict, wrong, r.status, r.body)
		}
		if r.status == 401 && (r.body == generic) != (verdict == "signed by nobody") {
			t.Errorf("%s %s, which is %s %q, is told %s", header, payload, verdict, wrong, r.body)
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("tokens: %v", count)
	if len(count) != 3 {
		t.Errorf("there were no other tokens: %v", count)
	}
}
