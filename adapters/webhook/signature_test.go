package webhook

import (
	"net/http"
	"testing"
	"time"
)

// The first vector is the one that the libraries of Standard Webhooks are tested with.
func TestSign(t *testing.T) {
	parse := func(s string) Secret {
		secret, err := ParseSecret(s)
		if err != nil {
			t.Fatal(err)
		}
		return secret
	}
	one, two := parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"), parse(secretOf('D', 32))
	const id, body = "msg_p5jXN8AQM9LWM0D4loKWxJek", `{"test": 2432232314}`
	at := time.Unix(1614265330, 999e6)
	const ofOne, ofTwo = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
		"v1,9Iq9ll8IppoBCcWiSZFJjmby3VUiVHORUIeBt7ZOqj8="
	for name, c := range map[string]struct {
		secrets []Secret
		want    string
	}{
		"one secret":  {[]Secret{one}, ofOne},
		"two secrets": {[]Secret{two, one}, ofTwo + " " + ofOne},
	} {
		header := http.Header{}
		sign(header, c.secrets, id, at, []byte(body))
		if header.Get("webhook-id") != id || header.Get("webhook-timestamp") != "1614265330" ||
			header.Get("webhook-signature") != c.want {
			t.Errorf("%s: %v", name, header)
		}
	}
}
