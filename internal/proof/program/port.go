package program

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync/atomic"
)

// The ports that FreePort chooses from. The usual settings of a system let it choose others for whoever wants any port, so
// that none of these is taken before it is used.
const firstPort, ports = 20_000, 12_000

// Each process begins at another port, and takes each once.
var begin, tried = rand.IntN(ports), new(atomic.Int64)

// FreePort returns a port of 127.0.0.1 on which nobody listens, for a program that cannot choose one itself.
func FreePort() (string, error) {
	var err error
	for range 100 {
		port := strconv.Itoa(firstPort + (begin+int(tried.Add(1)))%ports)
		var l net.Listener
		if l, err = net.Listen("tcp", "127.0.0.1:"+port); err == nil {
			return port, l.Close()
		}
	}
	return "", fmt.Errorf("no port is free: %w", err)
}
