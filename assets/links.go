package assets

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/idna"
)

// mostHosts is how many hosts an asset is found by.
const mostHosts = 1000

// hosts returns the hosts of the links of an asset, each once: in its text, as links or as words, and of its
// attachments and their providers.
func (in searchedContent) hosts(text stripped) (hosts []string) {
	for _, link := range in.links(text) {
		if u, err := url.Parse(link); err == nil && (u.Scheme == "http" || u.Scheme == "https") {
			if host := canonicalHost(u.Hostname()); host != "" {
				hosts = append(hosts, host)
			}
		}
	}
	hosts = unique(hosts)
	return hosts[:min(len(hosts), mostHosts)]
}

// links returns the URLs that a text links to or has as words, and those of attachments.
func (in searchedContent) links(text stripped) (links []string) {
	for _, a := range in.Attachment {
		links = append(links, a.URL.Href, a.Link.Href)
		switch provider := a.Provider.(type) {
		case string:
			links = append(links, provider)
		case map[string]any:
			href, _ := provider["href"].(string)
			links = append(links, href)
		}
	}
	return append(links, text.addresses()...)
}

// addresses returns the URLs that a text links to or has as words.
func (s stripped) addresses() (links []string) {
	links = slices.Clip(s.links)
	if strings.Contains(s.text, "://") {
		for word := range strings.FieldsSeq(s.text) {
			if i := strings.Index(word, "http"); i >= 0 {
				links = append(links, strings.TrimRight(word[i:], `.,;:!?)]}>"'»”’`))
			}
		}
	}
	return links
}

// canonicalHost returns the one form of a host: in lower case, and in ASCII if it is an international name. It returns
// "" for what is no host.
func canonicalHost(host string) string {
	host = strings.TrimSuffix(host, ".")
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.String()
	}
	if ascii, err := idna.Lookup.ToASCII(host); err == nil {
		host = ascii
	}
	const longest = 253 // characters of a name
	if host == "" || len(host) > longest || strings.ContainsFunc(host, func(r rune) bool {
		return r <= ' ' || strings.ContainsRune(`/\?#@:%"<>[]`, r)
	}) {
		return ""
	}
	return strings.ToLower(host)
}

// hostTerm returns the term of a host. That of a host above it is its beginning, up to a dot.
func hostTerm(host string) string {
	if _, err := netip.ParseAddr(host); err == nil {
		return term(kindHost, host)
	}
	labels := strings.Split(host, ".")
	slices.Reverse(labels)
	return term(kindHost, strings.Join(labels, "."))
}
