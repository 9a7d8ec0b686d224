package webhook

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"syscall"
)

// guard decides which addresses deliveries may go to: public addresses and those in allow. Otherwise whoever configures an
// endpoint could send requests into the private network of the server. It judges the address of each connection after the
// name was resolved, so a name that leads to a private address is refused as that address is.
type guard struct {
	allow []netip.Prefix
}

// errAddress is the error of a connection that the guard refuses.
var errAddress = errors.New("the address is neither public nor in one of the networks that are allowed")

// ParseAllow reads a comma-separated list of networks, such as 10.0.0.0/8,fd00::/8. "" is an empty list.
func ParseAllow(list string) ([]netip.Prefix, error) {
	var out []netip.Prefix
	for s := range strings.SplitSeq(list, ",") {
		if s = strings.TrimSpace(s); s == "" {
			if strings.TrimSpace(list) == "" {
				break
			}
			return nil, errors.New("an item of the list of networks is empty")
		}
		p, err := netip.ParsePrefix(s)
		if err != nil || p.Addr().Is4In6() {
			return nil, fmt.Errorf("%q is not a network: want an address and the length of its prefix, such as 10.0.0.0/8 or fd00::/8", s)
		}
		out = append(out, p.Masked())
	}
	return out, nil
}

// control is the Control function of a net.Dialer: it is called with the address before each connection is made.
func (g guard) control(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil || !g.allows(at.Addr()) {
		return errAddress
	}
	return nil
}

// allows reports whether deliveries may go to an address. The networks of allow come first, since they may lie in a range
// that is not public. An IPv6 address that stands for an IPv4 address (::ffff:0:0/96 and nat64) is judged as that IPv4 address.
func (g guard) allows(a netip.Addr) bool {
	a = a.WithZone("").Unmap()
	for _, p := range g.allow {
		if p.Contains(a) {
			return true
		}
	}
	if nat64.Contains(a) {
		b := a.As16()
		return g.allows(netip.AddrFrom4([4]byte(b[12:])))
	}
	if a.Is6() && !global6.Contains(a) {
		return false
	}
	for _, p := range special {
		if p.Contains(a) {
			return false
		}
	}
	return a.IsValid()
}

// Ranges of IPv6 that have a rule of their own.
var (
	// nat64 stands for the IPv4 address in the last four bytes.
	nat64 = netip.MustParsePrefix("64:ff9b::/96")
	// global6 holds every public IPv6 address; loopback, link-local, unique local and multicast ones are outside.
	global6 = netip.MustParsePrefix("2000::/3")
)

// special are networks that are not public, after the registries of special-purpose addresses of IANA, and one
// public address at which a cloud serves the data of its virtual machines.
var special = func() (out []netip.Prefix) {
	for _, s := range []string{
		"0.0.0.0/8",        // this network
		"10.0.0.0/8",       // private
		"100.64.0.0/10",    // shared by carriers (CGNAT), and metadata of a cloud
		"127.0.0.0/8",      // loopback
		"168.63.129.16/32", // metadata of a cloud
		"169.254.0.0/16",   // link-local, and metadata of clouds
		"172.16.0.0/12",    // private
		"192.0.0.0/24",     // protocols, and metadata of a cloud
		"192.0.2.0/24",     // documentation
		"192.88.99.0/24",   // relays of 6to4
		"192.168.0.0/16",   // private
		"198.18.0.0/15",    // benchmarks
		"198.51.100.0/24",  // documentation
		"203.0.113.0/24",   // documentation
		"224.0.0.0/4",      // multicast
		"240.0.0.0/4",      // reserved, and broadcast
		"2001::/23",        // protocols, Teredo among them
		"2001:db8::/32",    // documentation
		"2002::/16",        // 6to4, which stands for an IPv4 address
		"3fff::/20",        // documentation
	} {
		out = append(out, netip.MustParsePrefix(s))
	}
	return out
}()
