//go:build proof

package console

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"testing"
)

// page is cors.html of one service, and what is around it.
type page struct {
	*Browser
	api      *origin // the service, with paths to try beside it
	consumer *origin // whose page frames cors.html
	evil     *origin // what nobody should ask
}

func (p *page) address() string { return p.api.url + "/v4/cors.html" }

// framed is the query of the page when the consumer frames it, on a channel.
func (p *page) framed(channel string) string {
	return "?" + url.Values{"xdm_e": {p.consumer.url}, "xdm_c": {channel}, "xdm_p": {"1"}}.Encode()
}

// fresh goes to the consumer's page and forgets what the origins were asked.
func (p *page) fresh() {
	p.T.Helper()
	p.Open(fmt.Sprintf("%s?patience=%d", p.consumer.url, patience))
	p.api.forget()
	p.evil.forget()
}

// outcome is what easyXDM tells its user of a call.
type outcome struct {
	Result *struct {
		Data    string
		Status  int
		Headers map[string]string
	}
	Error *struct {
		Code    int
		Message string
		Data    *struct {
			Status int
			Data   string
		}
	}
	text string
}

func (o *outcome) UnmarshalJSON(text []byte) error {
	type plain outcome
	o.text = string(text)
	return json.Unmarshal(text, (*plain)(o))
}

// outcomes calls a method with each config, a JSON text, through easyXDM with these options.
func (p *page) outcomes(method string, options map[string]any, configs ...string) []outcome {
	p.T.Helper()
	p.fresh()
	var all []outcome
	p.Run(&all, "outcomes", p.address(), options, method, append([]string{}, configs...))
	if len(all) != len(configs) {
		p.T.Fatalf("%d outcomes of %d calls", len(all), len(configs))
	}
	return all
}

// patience is how long the consumer waits for the page, in milliseconds.
const patience = 30_000

func TestCORSPage(t *testing.T) {
	easyXDM := fetchEasyXDM(t)
	b := newBrowser(t)
	consumer, evil := newOrigin(t, consumer(easyXDM)), newOrigin(t, http.HandlerFunc(echo))
	with := func(t *testing.T, service http.Handler) *page {
		p := &page{Browser: b.For(t), consumer: consumer, evil: evil}
		p.api = newOrigin(t, tried(service, func() { p.api.note(request{what: "gone"}) }))
		return p
	}
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			if err := c.broken(with(t, service(t))); err != nil {
				t.Error(err)
			}
		})
	}
}
