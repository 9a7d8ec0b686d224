package main

import (
	"errors"
	"log/slog"
	"net"
)

// notify sends the state of the process to the service manager that has started it, such as systemd: "READY=1" when it
// serves, "STOPPING=1" when it ends (the protocol of sd_notify). Without a manager NOTIFY_SOCKET is not set, and
// nothing is sent.
func (p *program) notify(log *slog.Logger, state string) {
	socket := p.getenv("NOTIFY_SOCKET")
	if socket == "" {
		return
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Net: "unixgram", Name: socket})
	if err == nil {
		_, err = conn.Write([]byte(state))
		err = errors.Join(err, conn.Close())
	}
	if err != nil {
		log.Warn("the service manager could not be notified", "state", state, "cause", err.Error())
	}
}
