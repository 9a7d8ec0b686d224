package program

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync/atomic"
)

// The range of ports from which FreePort chooses. Systems usually give ports above 32767 to programs that ask for any
// port, so these are rarely in use.
const firstPort, ports = 20_000, 12_000

// begin is random, so that processes rarely try the same ports. tried counts the ports that this process has tried.
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
