// Package jobs has proofs that a job queue of the program and a change of Vitrine are one transaction. The queue is
// River, on the same PostgreSQL database.
package jobs
