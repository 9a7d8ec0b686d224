package httpapi

import "net/http"

// healthPath is at the root, wherever the app service is.
const healthPath = "/healthz"

func (h *handler) healthTable() []route {
	return []route{
		{method: "GET", path: healthPath, status: 200, open: true, call: h.health},
	}
}

func (h *handler) health(c *call) error {
	if h.Ready != nil {
		if err := h.Ready(c.ctx()); err != nil {
			c.log("not ready", err)
			c.refuse(http.StatusServiceUnavailable, "the store does not answer")
			return nil
		}
	}
	c.out = append(c.out, `{"status":"ok"}`...)
	return nil
}
