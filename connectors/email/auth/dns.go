package auth

import (
	"context"
	"net"
	"strings"
)

// DNS asks the server at an address, "192.0.2.53" or "192.0.2.53:5353"; the system's
// servers where it is empty.
func DNS(server string) Resolver {
	if server == "" {
		return rooted{net.DefaultResolver}
	}
	if _, _, err := net.SplitHostPort(server); err != nil {
		server = net.JoinHostPort(strings.Trim(server, "[]"), "53")
	}
	var dialer net.Dialer
	return rooted{&net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return dialer.DialContext(ctx, network, server)
	}}}
}

// rooted names end in a dot: the search list of this machine is not for names that stand in
// a mail, and somebody else may answer for them there.
type rooted struct{ r *net.Resolver }

func root(name string) string { return strings.TrimSuffix(name, ".") + "." }

func (d rooted) LookupTXT(ctx context.Context, name string) ([]string, error) {
	return d.r.LookupTXT(ctx, root(name))
}

func (d rooted) LookupMX(ctx context.Context, name string) ([]*net.MX, error) {
	return d.r.LookupMX(ctx, root(name))
}

func (d rooted) LookupIPAddr(ctx context.Context, host string) ([]net.IPAddr, error) {
	return d.r.LookupIPAddr(ctx, root(host))
}

func (d rooted) LookupAddr(ctx context.Context, addr string) ([]string, error) {
	return d.r.LookupAddr(ctx, addr)
}
