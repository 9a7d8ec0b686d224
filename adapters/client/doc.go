// Package client speaks to a server of package httpapi. It has the services of the domains with the
// domains' own types, so that a program is written alike whether it embeds them or asks for them:
//
//	c, err := client.New(client.Config{URL: "https://apps.example.test/", Token: client.Static(token)})
//	app, err := c.Apps.Patch(ctx, id, patch)
//
// Methods are those of the embedded services without the caller, who is whoever the token stands for.
// Methods that begin with All walk through all pages.
//
// # Errors
//
// What the service refuses is an [*Error], and errors.Is finds the sentinel of the domain in it that the
// embedded service would have given: appsvc.ErrConflict, assets.ErrNotFound and so on. Any other error
// is of the way to the service. A change that may have been made, and may have not, is ErrUnknown of its
// domain, whether the service says so or its answer was lost.
//
// # Asking again
//
// A request is sent again, after a while, when the service is busy or the connection fails, but only
// where that does no harm: reads; and changes that take an Idempotency-Key, for which the client makes
// one when it is not given. A patch, a change in an asset library and an import of reviews are sent once.
//
// # What is different from an embedded service
//
// Redirects are not followed, as the token would go along. A component that was created or read has the
// manifest that the client knows: what it sent, or the members that the service shows; its ID is empty where
// the service does not tell it.
package client
