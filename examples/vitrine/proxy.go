package main

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/vitrine-go/vitrine/adapters/httpapi"
)

// proxies are the networks of -trust-proxy. A request from them gets the address, the scheme and the host of its
// X-Forwarded headers; in other requests these headers are ignored.
type proxies []netip.Prefix

// parseProxies reads a list of addresses and networks (CIDR) with commas.
func parseProxies(list string) (proxies, error) {
	var all proxies
	for _, text := range items(list) {
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			addr, single := netip.ParseAddr(text)
			if single != nil {
				return nil, usageError{fmt.Errorf("-trust-proxy: %q is neither an address nor a network such as "+
					"10.0.0.0/8", text)}
			}
			addr = addr.Unmap()
			prefix = netip.PrefixFrom(addr, addr.BitLen())
		}
		all = append(all, prefix.Masked())
	}
	return all, nil
}

// trusts reports whether an address is in one of the networks.
func (p proxies) trusts(addr netip.Addr) bool {
	return slices.ContainsFunc(p, func(prefix netip.Prefix) bool { return prefix.Contains(addr) })
}

// behind returns a handler that calls next. It first turns a request of a trusted proxy into the one that the client
// has sent to the proxy.
func (p proxies) behind(next http.Handler) http.Handler {
	if len(p) == 0 {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if peer, ok := addressIn(r.RemoteAddr); ok && p.trusts(peer) {
			r = p.forwarded(r, peer)
		}
		next.ServeHTTP(w, r)
	})
}

// forwarded returns the request that a proxy has forwarded. It takes the last X-Forwarded-Proto and X-Forwarded-Host,
// which the proxy itself has written: a client may have sent those before. It ignores invalid values.
func (p proxies) forwarded(r *http.Request, peer netip.Addr) *http.Request {
	ctx := r.Context()
	switch strings.ToLower(last(r.Header["X-Forwarded-Proto"])) {
	case "https":
		ctx = httpapi.Scheme(ctx, "https")
	case "http":
		ctx = httpapi.Scheme(ctx, "http")
	}
	r = r.WithContext(ctx)
	if host := last(r.Header["X-Forwarded-Host"]); isHost(host) {
		r.Host = host
	}
	r.RemoteAddr = net.JoinHostPort(p.client(r.Header["X-Forwarded-For"], peer).String(), "0")
	return r
}

// client returns the last address in X-Forwarded-For that is not of a trusted proxy, or the first one if all of them
// are. Each proxy appends the address of its client, so everything before an untrusted address, or before text that is
// no address, may be forged and is ignored. Without any address client returns peer.
func (p proxies) client(forwardedFor []string, peer netip.Addr) netip.Addr {
	for _, text := range slices.Backward(strings.Split(strings.Join(forwardedFor, ","), ",")) {
		addr, ok := addressIn(strings.TrimSpace(text))
		if !ok {
			break
		}
		peer = addr
		if !p.trusts(addr) {
			break
		}
	}
	return peer
}

// addressIn reads an address with or without a port.
func addressIn(text string) (netip.Addr, bool) {
	if addr, err := netip.ParseAddrPort(text); err == nil {
		return addr.Addr().Unmap().WithZone(""), true
	}
	addr, err := netip.ParseAddr(strings.Trim(text, "[]"))
	return addr.Unmap().WithZone(""), err == nil
}

// last returns the last of the values of a header that is a list.
func last(values []string) string {
	all := strings.Join(values, ",")
	return strings.TrimSpace(all[strings.LastIndexByte(all, ',')+1:])
}

// isHost reports whether text can be the host of a URL, with or without a port. A host in a URL is ASCII, and every
// byte of it may stand in a header and in JSON.
func isHost(text string) bool {
	u, err := url.Parse("http://" + text)
	foreign := func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("\"'<>", r) }
	if err != nil || u.Hostname() == "" || u.Host != text || strings.ContainsFunc(text, foreign) {
		return false
	}
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	return u.Port() == "" || err == nil && port > 0
}
