package httpapi

import (
	"errors"
	"net/http"
	"strings"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/appsvc"
)

// A preview shows an app to people without an account. Its page, x/show of package page, has the secret in its
// fragment, and sends it in the header Authorization.

const (
	showPath         = "/x/show"         // the page
	previewPath      = showPath + "/app" // what it shows
	usualPreviewDays = 7
)

// errNoPreview is the same for a secret that is missing, malformed or unknown, and for a preview that has ended.
var errNoPreview = errorf(http.StatusUnauthorized,
	"want the secret of a link to show, in the header Authorization: Bearer <secret>; there is no such link, or it "+
		"has ended")

// previews serves GET /apps/{id}/previews: the links of an app that have not expired, newest first. 200 with
// {"previews":[Preview]}. 403 for keys, and for who may only read the app; 404.
func (a appRoutes) previews(c *call) error {
	list, err := ask(c, a.as(c).ListPreviews, c.params[0])
	return c.member("previews", list, err)
}

// createPreview serves POST /apps/{id}/previews with {"version", "release", "days", "note"}: 201 with the Preview,
// whose url has the secret. 400; 403 as for the list; 404 for an app, a version or a release; 409 for a release that
// was run or cancelled; 422 for one without the app, and for too many links.
func (a appRoutes) createPreview(c *call) error {
	var body struct {
		appsvc.CreatePreviewRequest
		Version *string `json:"version"` // null is none, as in the Preview
		Release *string `json:"release"`
	}
	body.Days = usualPreviewDays
	if err := c.decode(&body); err != nil {
		return err
	}
	in := body.CreatePreviewRequest
	in.AppID = c.params[0]
	for to, value := range map[*string]*string{&in.Version: body.Version, &in.Release: body.Release} {
		if value != nil {
			*to = *value
		}
	}
	p, err := ask(c, a.as(c).CreatePreview, in)
	p.URL = c.url(showPath + "#" + p.Secret)
	c.cacheAs(noStore)
	return c.json(p, err)
}

// deletePreview serves DELETE /apps/{id}/previews/{preview}: 204. 403 as for the list; 404.
func (a appRoutes) deletePreview(c *call) error {
	return a.as(c).DeletePreview(c.r.Context(), c.params[0], c.params[1])
}

// authorizePreview returns an error unless the request has a secret, in the one place where it may be.
func authorizePreview(c *call) error {
	c.w.Header()["X-Robots-Tag"] = []string{"noindex"}
	if c.query.Has(tokenParameter) || previewSecretOf(c.r) == "" {
		return errNoPreview
	}
	return nil
}

// previewSecretOf returns the secret in the header Authorization, "" if there is none.
func previewSecretOf(r *http.Request) string {
	header := r.Header["Authorization"]
	if len(header) != 1 {
		return ""
	}
	scheme, secret, _ := strings.Cut(header[0], " ")
	if !strings.EqualFold(scheme, "bearer") {
		return ""
	}
	return strings.Trim(secret, " ")
}

// shown serves GET /x/show/app with the secret of a preview: 200 with {"app": Delivery, "shows", "expires"}, never to
// be stored. lang is the language of texts. 400; 401 if there is no such preview or it has ended, always the same; 413
// for an app that is too large; 422.
func (a appRoutes) shown(c *call) error {
	c.cacheAs(noStore)
	lang := c.lang()
	if c.query.err != nil {
		return c.query.err
	}
	out, err := a.svc.Shown(c.r.Context(), previewSecretOf(c.r), lang)
	if errors.Is(err, vitrine.ErrNotFound) {
		err = errNoPreview
	}
	if err != nil {
		return err
	}
	if c.out = out.AppendJSON(c.out[:0], c.root(), c.h.filesBelow); len(c.out) > mostDeliveryBytes {
		return errNoPlace
	}
	return nil
}
