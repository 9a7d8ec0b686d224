package webhook

import (
	"errors"
	"net"
	"net/netip"
	"testing"
)

func TestGuard(t *testing.T) {
	for address, want := range map[string]bool{
		"93.184.216.34": true, "8.8.8.8": true, "1.1.1.1": true, "100.63.255.255": true, "100.128.0.0": true,
		"172.15.255.255": true,
		"172.32.0.0":     true, "192.0.1.0": true, "198.20.0.0": true, "223.255.255.255": true, "168.63.129.15": true,
		"2606:4700:4700::1111": true, "2a00:1450:4001::200e": true, "2001:200::1": true, "2003::1": true,

		"0.0.0.0": false, "0.1.2.3": false, "127.0.0.1": false, "127.255.255.254": false, "10.0.0.1": false,
		"10.255.255.255": false,
		"172.16.0.1":     false, "172.31.255.255": false, "192.168.1.1": false, "169.254.169.254": false,
		"169.254.0.1": false,
		"100.64.0.0":  false, "100.100.100.200": false, "100.127.255.255": false, "168.63.129.16": false,
		"192.0.0.192": false,
		"192.0.2.1":   false, "192.88.99.1": false, "198.18.0.1": false, "198.19.255.255": false, "198.51.100.1": false,
		"203.0.113.1": false, "224.0.0.1": false, "239.255.255.250": false, "240.0.0.1": false,
		"255.255.255.255": false,
		"::":              false, "::1": false, "fe80::1": false, "fe80::1%eth0": false, "fec0::1": false,
		"fc00::1": false, "fd00:ec2::254": false,
		"ff02::1": false, "ff0e::1": false, "2001::1": false, "2001:db8::1": false, "3fff::1": false, "100::1": false,
		"5f00::1": false,

		// IPv4 addresses within IPv6 addresses are judged as what they stand for, or refused.
		"::ffff:8.8.8.8": true, "::ffff:127.0.0.1": false, "::ffff:169.254.169.254": false, "::ffff:10.0.0.1": false,
		"64:ff9b::8.8.8.8": true, "64:ff9b::127.0.0.1": false, "64:ff9b::169.254.169.254": false,
		"64:ff9b:1::8.8.8.8": false,
		"::127.0.0.1":        false, "::8.8.8.8": false, "2002:7f00:1::": false, "2002:808:808::1": false,
		"2001:0:4136:e378::1": false,
		"::ffff:0:127.0.0.1":  false,
	} {
		a := netip.MustParseAddr(address)
		if got := (guard{}).allows(a); got != want {
			t.Errorf("%s: allowed %t", address, got)
		}
		err := guard{}.control("tcp", netip.AddrPortFrom(a, 443).String(), nil)
		if (err == nil) != want || err != nil && !errors.Is(err, errAddress) {
			t.Errorf("a connection to %s: %v", address, err)
		}
	}
	if (guard{}).allows(netip.Addr{}) {
		t.Error("no address is allowed")
	}
	for _, address := range []string{"", "8.8.8.8", "receiver.example:443", "@"} {
		if (guard{}).control("tcp", address, nil) == nil {
			t.Errorf("a connection to %q is allowed", address)
		}
	}
}

func TestGuardAllows(t *testing.T) {
	allow, err := ParseAllow(" 10.1.2.3/8, fd00::/8,127.0.0.1/32,fe80::/10")
	if err != nil || len(allow) != 4 {
		t.Fatal(allow, err)
	}
	for address, want := range map[string]bool{
		"10.0.0.1": true, "::ffff:10.0.0.1": true, "64:ff9b::10.0.0.1": true, "fd00:ec2::254": true, "127.0.0.1": true,
		"fe80::1%eth0": true,
		"8.8.8.8":      true, "127.0.0.2": false, "11.0.0.1": true, "192.168.0.1": false, "fc00::1": false,
		"::1": false,
	} {
		if got := (guard{allow}).allows(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s: allowed %t", address, got)
		}
	}
	for _, list := range []string{"10.0.0.1", "10.0.0.0/33", "private", "10.0.0.0/8,", ",", "10.0.0.0/8 fd00::/8",
		"::ffff:10.0.0.0/104", "fe80::%eth0/10"} {
		if allow, err := ParseAllow(list); err == nil {
			t.Errorf("%q: %v", list, allow)
		}
	}
	for _, list := range []string{"", " "} {
		if allow, err := ParseAllow(list); err != nil || len(allow) != 0 {
			t.Errorf("%q: %v, %v", list, allow, err)
		}
	}
}

// A name is resolved before its address is judged.
func TestGuardJudgesTheAddressOfAName(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	d := net.Dialer{Control: guard{}.control}
	if c, err := d.Dial("tcp", "localhost:"+port); !errors.Is(err, errAddress) {
		t.Errorf("%v, %v", c, err)
	}
	d.Control = guard{[]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}.control
	c, err := d.Dial("tcp4", "localhost:"+port)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
}
