// Package signin lets people sign in to a Vitrine server, and gives keys to programs and pages. People have passkeys,
// or come from an OpenID Connect provider; there are no passwords. README.md describes its endpoints.
//
// A [Service] is made over the store that the domains use. Its Authenticate is for [httpapi.Config], and its endpoints
// are Extras there:
//
//	people := signin.New(db, signin.Options{BaseURL: "https://host.example", Otherwise: tokens.Authenticate})
//	handler, err := httpapi.New(httpapi.Config{…, Authenticate: people.Authenticate, Extras: people.Endpoints()})
//
// # Rights
//
// An administrator may do everything with people and keys of all networks, moderates the network of their own URN, and
// may create and delete components. A moderator of a network manages the people of that network, gives only rights that
// they have, and changes only people without other rights. Roles and groups count as rights. The last administrator
// cannot be disabled. A key has the rights that it was given, as far as its maker has them at the moment.
//
// # Secrets
//
// Sessions, secret keys and invitations are 32 random bytes; the store has their SHA-256. Passkeys are verified by
// github.com/go-webauthn/webauthn, and ID tokens by github.com/coreos/go-oidc.
//
// # Times
//
// The rights of a session or a key are cached for a second at most, and read again as soon as people change in any
// process. A session ends after 30 days, or 7 without use; one through a provider after 12 hours.
package signin
