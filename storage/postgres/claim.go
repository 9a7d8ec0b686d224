package postgres

import "slices"

// Updates are serializable because each update locks what it reads or writes before it reads it, and keeps the
// lock until its commit:
//
//   - an existing row of an app or a library with SELECT FOR UPDATE;
//   - a key that may have no row with a claim: it inserts a row with this key into the table claim, and deletes it in
//     the same transaction. A transaction that inserts a key waits for any open transaction that has inserted the
//     same key. After a claim the update must look for the row again, since another update may have added it meanwhile.
//     Collections of reviews and the results of idempotency keys are always locked by claims, whether or not they have a
//     row;
//   - a list of apps or of idempotency keys, and any component, with LOCK TABLE; the collections of a network with the row of
//     the network.
//
// The key of a claim is a digest of 128 bits, so two keys do not share a claim, and updates of different
// things do not wait for each other. Claims are rows, so they take no entry in the server's lock table, which
// thousands of advisory locks would exhaust (max_locks_per_transaction). PostgreSQL detects a deadlock between
// claims and rows; one of the updates then runs again. When a connection is lost, the server rolls its claims back.

// claim locks a key that may have no row. It is sent together with the next statement. what is the kind of thing,
// and key names it. An update must not claim a key twice: the second INSERT would fail.
func (c *conn) claim(what string, key ...string) {
	name := digest(append([]string{what}, key...)...)
	c.claims = append(c.claims, name)
	c.later("INSERT INTO claim (key) VALUES ($1)", name)
}

// claimAll claims several keys in one statement; each may be given once, and must not be claimed already. It sorts them by
// their digests, so two updates that claim the same keys by claimAll do not deadlock.
func (c *conn) claimAll(what string, keys []string) {
	names := make([]string, len(keys))
	for i, key := range keys {
		names[i] = digest(what, key)
	}
	slices.Sort(names)
	c.claims = append(c.claims, names...)
	if len(names) > 0 {
		c.later("INSERT INTO claim (key) SELECT unnest($1::bytea[])", names)
	}
}

// dropClaims deletes the rows of the claims, together with the COMMIT. Other updates that claim the same keys wait until the
// transaction has ended.
func (c *conn) dropClaims() {
	if len(c.claims) > 0 {
		c.later("DELETE FROM claim WHERE key = ANY($1)", c.claims)
		c.claims = nil
	}
}
