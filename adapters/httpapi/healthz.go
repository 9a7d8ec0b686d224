package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/vitrine-go/vitrine"
)

// healthPath is at the root, wherever the app service is.
const healthPath = "/healthz"

// healthPatience is how long Config.Ready may take before /healthz says that the store does not respond.
const healthPatience = 800 * time.Millisecond

// health serves GET /healthz without a token. 200 with {"status":"ok"} if Config.Ready returns nil within 800
// milliseconds, and with "writes":"full" in it for an error that wraps vitrine.ErrFull, else 503. It reserves no memory
// and waits for no lock of the domains, so it responds whatever else the process does. One call of Ready is under way
// at a time, and all clients that wait get its result.
func (h *handler) health(c *call) (err error) {
	if h.Ready != nil {
		timer := time.NewTimer(healthPatience)
		defer timer.Stop()
		select {
		case result := <-h.asked.DoChan("", h.ready):
			err = result.Err
		case <-timer.C:
			err = fmt.Errorf("no response within %s", healthPatience)
		}
	}
	if errors.Is(err, vitrine.ErrFull) {
		c.out = append(c.out, `{"status":"ok","writes":"full"}`...)
		return nil
	}
	if err != nil {
		c.log("not ready", err)
		return errorf(http.StatusServiceUnavailable, "the store does not answer")
	}
	c.out = append(c.out, `{"status":"ok"}`...)
	return nil
}

// ready calls Config.Ready. A panic counts as an error.
func (h *handler) ready() (_ any, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), healthPatience)
	defer cancel()
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	return nil, h.Ready(ctx)
}
