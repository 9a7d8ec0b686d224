package postgres

import "hash/fnv"

// Updates are serializable because each locks what it reads or writes, until its commit, and reads
// it after it has the lock. What is there is locked by its own row (FOR UPDATE), what is not there by
// a gate: one of the rows of a table made for that, chosen by the key. Whoever adds something goes
// through its gate. All of that are plain row locks: PostgreSQL notices deadlocks, of which one
// update runs again, and a connection that is lost gives its locks back.

// gates is how many rows the table gate has. Two keys that share one wait for each other, which is
// slow and not wrong.
const gates = 4096

// gate locks what may not be there, together with the next statement. The parts are a name of what
// it is and its key.
func (c *conn) gate(what string, key ...string) {
	h := fnv.New32a()
	h.Write([]byte(what))
	for _, k := range key {
		h.Write([]byte{0})
		h.Write([]byte(k))
	}
	c.later("SELECT FROM gate WHERE number = $1 FOR UPDATE", int64(h.Sum32()%gates))
}
