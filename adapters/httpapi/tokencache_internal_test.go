package httpapi

import (
	"testing"
	"time"

	"github.com/vitrine-go/vitrine"
)

func TestVerifiedTokensAreForgottenBeyondTheLimit(t *testing.T) {
	v := newVerified(3)
	now := time.Now()
	for i := range 100 {
		v.put(digest{byte(i)}, Principal{Caller: vitrine.Caller{URN: "x"}}, now.Add(time.Hour))
		if _, ok := v.get(digest{byte(i)}, now); !ok {
			t.Fatalf("%d is not remembered", i)
		}
		if n := v.grants.Len(); n > 3 {
			t.Fatalf("%d remembered", n)
		}
		if _, ok := v.get(digest{0}, now); !ok {
			t.Fatalf("what is asked for again is forgotten after %d others", i)
		}
	}
	if _, ok := v.get(digest{1}, now); ok {
		t.Error("the oldest is still remembered")
	}
}
