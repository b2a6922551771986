package filemanager

import (
	"net/http"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestG10Public(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.255.255.254", "169.254.169.254", "172.16.0.1",
		"172.31.255.255", "168.63.129.16", "192.0.0.1", "192.0.0.192", "192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1", "198.19.255.255",
		"198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
		"::", "::1", "::ffff:127.0.0.1", "::ffff:169.254.169.254", "::ffff:10.0.0.1", "::169.254.169.254", "64:ff9b::a9fe:a9fe", "64:ff9b::808:808",
		"64:ff9b:1::1", "100::1", "2001::1", "2001:0:53aa:64c::1", "2001:2::1", "2001:10::1", "2001:20::1", "2001:db8::1", "2002:a9fe:a9fe::",
		"2002:808:808::1", "3fff::1", "5f00::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1", "4000::1",
		"2606:4700::1111%eth0",
	} {
		require.False(t, Public(netip.MustParseAddr(text)), text)
	}
	require.False(t, Public(netip.Addr{}))
	for _, text := range []string{
		"1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.1", "100.63.255.255", "100.128.0.1", "172.15.255.255", "172.32.0.1", "192.0.1.1", "198.17.0.1",
		"198.20.0.1", "223.255.255.255", "::ffff:8.8.8.8", "2001:4860:4860::8888", "2606:4700::1111", "2a00:1450::1", "2001:200::1", "2003::1",
	} {
		require.True(t, Public(netip.MustParseAddr(text)), text)
	}
}

func TestG10NumericHosts(t *testing.T) {
	t.Parallel()
	for _, host := range []string{"0x7f.1", "2130706433", "127.1", "0x7f000001", "0177.0.0.1", "127.0.0.1.", "0x", "1.2.3.0X4", "010.8.8.8"} {
		require.True(t, numeric(host), host)
	}
	for _, host := range []string{"example.test", "1e100.net", "0x.example", "a1", "7zip.org", "x0x1"} {
		require.False(t, numeric(host), host)
	}
}

func TestNoProxyAndNoCookies(t *testing.T) {
	t.Parallel()
	client := newClient(Public)
	transport, ok := client.Transport.(*http.Transport)
	require.True(t, ok)
	require.Nil(t, transport.Proxy)
	require.Nil(t, client.Jar)
}
