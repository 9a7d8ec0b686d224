//go:build !linux

package cluster

// crash has the server stop at once.
func (c *Cluster) crash() error { return c.end("kill") }
