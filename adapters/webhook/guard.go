package webhook

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"syscall"
)

// guard decides which addresses deliveries may go to: public addresses and those in allow. Otherwise an endpoint could
// be used to send requests into the private network of the server. It checks the address of each connection after the
// name was resolved, so a name that leads to a private address is blocked too.
type guard struct {
	allow []netip.Prefix
}

// errAddress is the error of a connection that the guard blocks.
var errAddress = errors.New("the address is neither public nor in one of the networks that are allowed " +
	"(Options.Allow; vitrine serve -webhooks-allow)")

// ParseAllow reads a comma-separated list of networks, such as 10.0.0.0/8,fd00::/8. "" is an empty list.
func ParseAllow(list string) ([]netip.Prefix, error) {
	if strings.TrimSpace(list) == "" {
		return nil, nil
	}
	var out []netip.Prefix
	for s := range strings.SplitSeq(list, ",") {
		p, err := netip.ParsePrefix(strings.TrimSpace(s))
		if err != nil || p.Addr().Is4In6() {
			return nil, fmt.Errorf("%q is not a network: want an address and the length of its prefix, such as "+
				"10.0.0.0/8 or fd00::/8", s)
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

// allows reports whether deliveries may go to an address. The networks of allow come first, since they may lie in a
// range that is not public. An IPv6 address that stands for an IPv4 address (::ffff:0:0/96 and nat64) is treated as
// that IPv4 address.
func (g guard) allows(a netip.Addr) bool {
	a = a.WithZone("").Unmap()
	in := func(list []netip.Prefix) bool {
		return slices.ContainsFunc(list, func(p netip.Prefix) bool { return p.Contains(a) })
	}
	switch {
	case in(g.allow):
		return true
	case nat64.Contains(a):
		b := a.As16()
		return g.allows(netip.AddrFrom4([4]byte(b[12:])))
	case a.Is6() && !global6.Contains(a):
		return false
	}
	return a.IsValid() && !in(special)
}

// Ranges of IPv6 that have a rule of their own.
var (
	// nat64 stands for the IPv4 address in the last four bytes.
	nat64 = netip.MustParsePrefix("64:ff9b::/96")
	// global6 contains every public IPv6 address; loopback, link-local, unique local and multicast ones are outside.
	global6 = netip.MustParsePrefix("2000::/3")
)

// special are networks that are not public, after the registries of special-purpose addresses of IANA, and one
// public address at which a cloud serves the data of its virtual machines.
var special = networks(
	"10.0.0.0/8 172.16.0.0/12 192.168.0.0/16", // private
	"0.0.0.0/8 127.0.0.0/8",                   // this network, and loopback
	"169.254.0.0/16",                          // link-local, and metadata of clouds
	"100.64.0.0/10",                           // shared by carriers (CGNAT), and metadata of a cloud
	"192.0.0.0/24",                            // protocols, and metadata of a cloud
	"168.63.129.16/32",                        // metadata of a cloud
	"192.0.2.0/24 198.51.100.0/24 203.0.113.0/24 2001:db8::/32 3fff::/20", // documentation
	"198.18.0.0/15",            // benchmarks
	"192.88.99.0/24 2002::/16", // 6to4: relays, and addresses that stand for IPv4 addresses
	"2001::/23",                // protocols, Teredo among them
	"224.0.0.0/4 240.0.0.0/4",  // multicast, reserved, and broadcast
)

// networks parses networks that are separated by spaces.
func networks(lists ...string) (out []netip.Prefix) {
	for _, s := range strings.Fields(strings.Join(lists, " ")) {
		out = append(out, netip.MustParsePrefix(s))
	}
	return out
}
