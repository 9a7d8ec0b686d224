package httpapi

import "strings"

const (
	tokenScheme    = "svctoken" // of the Authorization header
	tokenParameter = "svctoken" // of the query
)

// authenticate finds out who asks. Whatever is wrong is answered alike (contract, section 5).
func (h *handler) authenticate(c *call) error {
	token, ok := soleToken(c.r.Header["Authorization"], c.query.all(tokenParameter))
	c.token = token
	if !ok || len(token) > h.Limits.Token {
		return errNoToken
	}
	by, err := h.Authenticate(c.ctx(), token)
	if err != nil || by.URN == "" {
		return errNoToken
	}
	c.by = by
	return nil
}

// soleToken returns the token of a request that carries exactly one. A header of another scheme
// counts: what it says and what a token beside it says could differ.
func soleToken(headers, parameters []string) (string, bool) {
	switch {
	case len(headers) == 1 && len(parameters) == 0:
		scheme, token, ok := strings.Cut(headers[0], " ")
		token = strings.Trim(token, " ")
		return token, ok && strings.EqualFold(scheme, tokenScheme) && token != ""
	case len(headers) == 0 && len(parameters) == 1:
		return parameters[0], parameters[0] != ""
	}
	return "", false
}
