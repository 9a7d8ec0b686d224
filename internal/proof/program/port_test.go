//go:build proof

package program_test

import (
	"net"
	"testing"

	"github.com/vitrine-go/vitrine/internal/proof/program"
)

func TestFreePortsDiffer(t *testing.T) {
	seen := map[string]bool{}
	for range 20 {
		port, err := program.FreePort()
		if err != nil {
			t.Fatal(err)
		}
		if seen[port] || len(port) != 5 || port < "20000" || port >= "32000" {
			t.Errorf("port %s after %v", port, seen)
		}
		seen[port] = true
		l, err := net.Listen("tcp", "127.0.0.1:"+port)
		if err != nil {
			t.Fatal(err)
		}
		_ = l.Close()
	}
}
