package filemanager

import (
	"net/netip"
	"slices"
)

// notPublic are the ranges of global unicast addresses that do not lead to the
// public internet, or lead somewhere else by translation: the IANA registries
// of special-purpose addresses, less what netip tells by itself.
var notPublic = func() []netip.Prefix {
	var all []netip.Prefix
	for _, text := range []string{
		"0.0.0.0/8",        // this network (RFC 791)
		"100.64.0.0/10",    // carrier-grade NAT (RFC 6598), some clouds' metadata
		"168.63.129.16/32", // Azure's platform service, on every machine there
		"192.0.0.0/24",     // IETF protocol assignments (RFC 6890)
		"192.0.2.0/24",     // documentation (RFC 5737)
		"192.88.99.0/24",   // 6to4 relays (RFC 7526)
		"198.18.0.0/15",    // benchmarking (RFC 2544)
		"198.51.100.0/24",  // documentation (RFC 5737)
		"203.0.113.0/24",   // documentation (RFC 5737)
		"240.0.0.0/4",      // reserved (RFC 1112), and the broadcast address
		"2001::/23",        // IETF protocol assignments (RFC 2928): Teredo, benchmarking, ORCHID
		"2001:db8::/32",    // documentation (RFC 3849)
		"2002::/16",        // 6to4 (RFC 3056): an IPv4 address inside
		"3fff::/20",        // documentation (RFC 9637)
	} {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}()

// allocated is all that is handed out as global unicast IPv6 (RFC 4291, IANA).
// Everything else stays out: NAT64 (64:ff9b::/96), unique local, segment routing, and what is to come.
var allocated = netip.MustParsePrefix("2000::/3")

// Public tells whether an address is one of the public internet: no loopback,
// private, link-local or multicast one, nor any other special range, also when
// it is an IPv4 address in the form of an IPv6 one.
func Public(addr netip.Addr) bool {
	addr = addr.Unmap()
	if !addr.IsValid() || addr.Zone() != "" || !addr.IsGlobalUnicast() || addr.IsPrivate() {
		return false
	}
	if addr.Is6() && !allocated.Contains(addr) {
		return false
	}
	return !slices.ContainsFunc(notPublic, func(p netip.Prefix) bool { return p.Contains(addr) })
}
