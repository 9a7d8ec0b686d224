package httpapi

import "net/http"

// readKey reads the header Idempotency-Key. The domain decides which characters a key may have. An empty key is refused
// here, since the domain would take it for no key.
func (c *call) readKey() error {
	keys := c.r.Header["Idempotency-Key"]
	if len(keys) == 0 {
		return nil
	}
	if !c.route.idempotencyKey { // a client that sends a key relies on it, and may repeat the request
		return refuseHeader(http.StatusBadRequest, "Idempotency-Key", "this operation takes none: a repeat would be done again")
	}
	if len(keys) > 1 || keys[0] == "" {
		return refuseHeader(http.StatusBadRequest, "Idempotency-Key", "want it once, with 1 to 255 visible ASCII characters")
	}
	c.key = keys[0]
	return nil
}
