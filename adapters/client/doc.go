// Package client calls a server of package httpapi. It has the services of the domains, with the types of the domains,
// so a program is the same whether it embeds the services or calls a server:
//
//	c, err := client.New(client.Config{URL: "https://apps.example.test/", Token: client.Static(token)})
//	app, err := c.Apps.Patch(ctx, id, patch)
//
// The methods are those of a Session, and the token names the caller.
// A method AllX yields the items of all pages.
//
// # Errors
//
// An error of the service is an [*Error]. errors.Is finds in it the kind that the embedded service returns, such as
// vitrine.ErrConflict. Any other error comes from the connection. If it is not known whether a change was made, the
// error is ErrUnknown of the domain: because the service says so, because its response was lost or is longer than
// [Config].AnswerBytes, or because the response is a 2xx, or a status from 500 on, and comes from something else, such
// as a proxy or a login page.
//
// A 2xx without the members that the service returns, such as a JSON object of a proxy, is an error that quotes the
// response.
//
// The outcome of a repeated change is known if its error is one that the service returns only after it has looked for
// the earlier attempt. An earlier attempt that is still under way then, behind a proxy for instance, may yet be carried
// out.
//
// # Retries
//
// If the service is busy or the connection fails, the client waits and sends the request again, but only if that does
// no harm: reads, and changes that take an Idempotency-Key. The client makes a key if none is given. A patch, a change
// of an asset library and an import of reviews are sent once. [Config].Attempts and MaxWait limit the attempts and the
// waits.
//
// # Differences from an embedded service
//
// Redirects are not followed, since the token would be sent to the new address. The Manifest of a component that was
// created is the one that was sent, and that of one that was read has the members that the service returns. Its ID is
// empty if the service does not return it.
package client
