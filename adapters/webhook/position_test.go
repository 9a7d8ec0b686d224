package webhook

import (
	"encoding/json"
	"testing"
)

// earlierPosition is a position as v0.2.0 stored it, after an attempt failed.
const earlierPosition = `{"key":"/ypsj4YDecAs+EOABFpQ4C+tecaIYxvv","receiver":"aPVJ3tacM3q7K1vLjNqSHg",` +
	`"scope":"true true true true []","marks":{` +
	`"apps":{"after":"SM_r27L4D-VNz8ks1j8IZsypSBaAtepfDtoFhRfKCHE","at":1795951817341},` +
	`"assets/example.test/second library":{"after":"3sm03_g03tXuj9pQp0D9fcqAdDX9Kr78W2AaiJo54Y4","at":1795951817342},` +
	`"reviews/other.test":{"after":"iL7bCk8XbfcjMVDeaWlLGjpj8hl5-_YCvAz-ZrOC0Ck","at":1795951817342}},` +
	`"failed":1,"until":1795951823086}`

// Deliveries go on where v0.2.0 was, with the same ids.
func TestAPositionOfAnEarlierRelease(t *testing.T) {
	if key := positionKey("a b"); key != "webhooks position/a!`b" {
		t.Errorf("the key of a position is %q", key)
	}
	var p position
	if err := json.Unmarshal([]byte(earlierPosition), &p); err != nil {
		t.Fatal(err)
	}
	if p.text() != earlierPosition {
		t.Errorf("the position is stored as %s", p.text())
	}
	if scope := to("cdn").scope(); p.Scope != scope {
		t.Errorf("the scope of an endpoint that gets everything is %q, want %q", scope, p.Scope)
	}
	id := p.id("apps", change{Cursor: "bzHi9IINEdYdeBnX5mcX4sCSXzyI-Rnq26BuSPQQo18"})
	if want := "msg_0IY6Gay-RNq3zpUsmVIUXmcG"; id != want {
		t.Errorf("the attempt of v0.2.0 had the id %s, the next one has %s", want, id)
	}
}
