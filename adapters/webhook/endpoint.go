package webhook

// Endpoint is an address that changes are posted to.
type Endpoint struct {
	// Name identifies the endpoint from one configuration to the next: its position in the feed is stored under it.
	Name string
	// URL is where deliveries are posted. It may hold a secret in its path or query, so it is in no log and no error.
	URL string
	// Secrets sign each delivery. There are two of them while receivers change from one to the other.
	Secrets []Secret
	// Types are the types of changes that the endpoint gets. nil = all. The type app.left comes to endpoints with Groups
	// only.
	Types []string
	// Groups are URNs of networks and sites. The endpoint gets the changes of the apps with a group that one of these
	// contains, app.left in place of a change that takes an app out of them, the changes of the assets of these networks,
	// and no changes of components. nil = the changes of all apps, assets and components.
	Groups []string
}
