package filemanager_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/toolbox/filemanager"
)

// only allows the addresses given, as if they alone were public.
func only(addrs ...string) func(netip.Addr) bool {
	allowed := map[netip.Addr]bool{}
	for _, addr := range addrs {
		allowed[netip.MustParseAddr(addr)] = true
	}
	return func(addr netip.Addr) bool { return allowed[addr] }
}

// serve starts a web server on an address of this machine.
func serve(t *testing.T, host string, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	listener, err := net.Listen("tcp", host+":0")
	require.NoError(t, err)
	server := &httptest.Server{Listener: listener, Config: &http.Server{Handler: handler}}
	server.Start()
	t.Cleanup(server.Close)
	return server
}

// fails makes sure that a download ends with an error and leaves nothing behind.
func (b *bench) fails(t *testing.T, url, reason string) {
	t.Helper()
	op, call := b.call(t, "download_url", values{"url": url, "disk": "local", "path": "got.bin"})
	require.NoError(t, op.Available(t.Context(), call))
	_, err := op.Run(t.Context(), call)
	require.ErrorContains(t, err, reason)
	require.NotContains(t, err.Error(), "token")
	require.Empty(t, b.do(t, "list", values{"disk": "local", "path": "/"})["entries"])
}

func TestDownload(t *testing.T) {
	t.Parallel()
	server := serve(t, "127.0.0.1", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "content of "+r.URL.Path)
	})
	onKinds := func(name, url string) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, setup{url: url, allowAddr: only("127.0.0.1")})
			for _, want := range []string{"docs/a.txt", "docs/a-1.txt"} {
				require.Equal(t, values{"url": server.URL + "/f.pdf", "disk": "local", "path": want, "size": 17.0},
					b.do(t, "download_url", values{"url": server.URL + "/f.pdf", "disk": "local", "path": "docs/a.txt"}))
				require.Equal(t, "content of /f.pdf", read(t, b.local, want))
			}
			require.Equal(t, "docs/f.pdf", b.do(t, "download_url", values{"url": server.URL + "/x/f.pdf?token=1", "disk": "local", "path": "docs"})["path"])
			require.Equal(t, "new/attachment", b.do(t, "download_url", values{"url": server.URL, "disk": "local", "path": "new/"})["path"])
		})
	}
	onKinds("file", "file://"+t.TempDir())
	onKinds("mem", "mem://")
}

func TestG09AddressesThatAreRefusedUnasked(t *testing.T) {
	t.Parallel()
	b := newBench(t, setup{})
	for _, url := range []string{
		"file:///etc/passwd", "gopher://example.test/", "ftp://example.test/x", "//example.test/x", "example.test", "http://", "http:///x", "data:,x",
		"http://a.example.test@169.254.169.254/", "https://user:token@example.test/", "http://%zz:token@example.test/", "http://exa mple.test/",
		// G10
		"http://0x7f.1/", "http://2130706433/", "http://127.1/", "http://[::ffff:169.254.169.254]/", "http://[64:ff9b::a9fe:a9fe]/",
		"http://[2002:a9fe:a9fe::]/", "http://100.100.100.200/", "http://0.0.0.0:80/", "http://[fe80::1%25eth0]/", "http://127.0.0.1./",
		"HTTP://169.254.169.254/latest/meta-data", "https://[::1]:8233/",
	} {
		reason := b.refused(t, "download_url", values{"url": url, "disk": "local", "path": "x"})
		require.NotContains(t, reason, "token")
	}
	for _, target := range []string{"inbound/x", "OUTBOUND/", "../x", "inbound"} {
		b.refused(t, "download_url", values{"url": "https://example.test/x", "disk": "local", "path": target})
	}
}

func TestG09EveryHopIsChecked(t *testing.T) {
	t.Parallel()
	var reached atomic.Int64
	inner := serve(t, "127.0.0.1", func(http.ResponseWriter, *http.Request) { reached.Add(1) })
	_, port, err := net.SplitHostPort(inner.Listener.Addr().String())
	require.NoError(t, err)
	outer := serve(t, "127.0.0.2", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.URL.Query().Get("to"), http.StatusFound)
	})
	b := newBench(t, setup{allowAddr: only("127.0.0.2")})
	for to, reason := range map[string]string{
		inner.URL + "/?token=1":                  "does not lead to the public internet",
		"http://localhost:" + port + "/?token=1": "not an address of the public internet", // a name: seen when it is dialled
		"http://169.254.169.254/":                "does not lead to the public internet",
		"file:///etc/passwd":                     "http or https",
		"gopher://127.0.0.2/":                    "http or https",
		"http://user:token@127.0.0.2/":           "user name",
		"http://2130706433:" + port + "/":        "neither a name nor",
	} {
		b.fails(t, outer.URL+"/?to="+strings.ReplaceAll(to, "?", "%3f"), reason)
	}
	// The first hop by name as well.
	b.fails(t, "http://localhost:"+port+"/?token=1", "not an address of the public internet")
	require.Zero(t, reached.Load(), "nothing was sent to an address that is not allowed")

	strict := newBench(t, setup{})
	strict.fails(t, "http://localhost:"+port+"/", "not an address of the public internet")
	require.Zero(t, reached.Load())
}

func TestRedirectsBringNothingAlong(t *testing.T) {
	t.Parallel()
	var hops atomic.Int64
	var server *httptest.Server
	server = serve(t, "127.0.0.1", func(w http.ResponseWriter, r *http.Request) {
		for _, name := range []string{"Authorization", "Cookie", "Referer", "Proxy-Authorization"} {
			if r.Header.Get(name) != "" {
				http.Error(w, name+" was sent", http.StatusBadRequest)
				return
			}
		}
		if left := hops.Add(-1); left >= 0 {
			http.SetCookie(w, &http.Cookie{Name: "session", Value: "1"})
			http.Redirect(w, r, fmt.Sprintf("%s/hop/%d?token=1", server.URL, left), http.StatusTemporaryRedirect)
			return
		}
		_, _ = io.WriteString(w, "arrived")
	})
	b := newBench(t, setup{allowAddr: only("127.0.0.1")})
	hops.Store(5)
	require.EqualValues(t, 7, b.do(t, "download_url", values{"url": server.URL, "disk": "local", "path": "x"})["size"])
	b.do(t, "delete", values{"disk": "local", "path": "x"})
	hops.Store(6)
	b.fails(t, server.URL, "more than 5 redirects")
}

func TestG11Size(t *testing.T) {
	t.Parallel()
	const limit = 1 << 20
	server := serve(t, "127.0.0.1", func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/exact":
			_, _ = w.Write(make([]byte, limit))
		case "/over":
			_, _ = w.Write(make([]byte, limit+1))
		case "/bomb":
			w.Header().Set("Content-Encoding", "gzip")
			packed := gzip.NewWriter(w)
			_, _ = packed.Write(make([]byte, 64*limit))
			_ = packed.Close()
		case "/packed":
			w.Header().Set("Content-Encoding", "gzip")
			packed := gzip.NewWriter(w)
			_, _ = io.WriteString(packed, "unpacked")
			_ = packed.Close()
		case "/endless":
			for {
				if _, err := w.Write(make([]byte, 1<<16)); err != nil {
					return
				}
			}
		case "/short":
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "only this")
		case "/brotli":
			w.Header().Set("Content-Encoding", "br")
			_, _ = io.WriteString(w, "x")
		case "/hang":
			_, _ = io.WriteString(w, "x")
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		default:
			http.NotFound(w, r)
		}
	})
	for name, address := range map[string]string{"file": "file://" + t.TempDir(), "mem": "mem://"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, setup{url: address, maxDownload: limit, allowAddr: only("127.0.0.1")})
			for path, reason := range map[string]string{
				"/over": "larger than 1 MB", "/bomb": "larger than 1 MB", "/endless": "larger than 1 MB",
				"/short": "unexpected EOF", "/brotli": `encoding "br"`, "/none?token=1": "404",
			} {
				b.fails(t, server.URL+path, reason)
			}
			hasty := newBench(t, setup{url: address, allowAddr: only("127.0.0.1"), timeout: 200 * time.Millisecond})
			hasty.fails(t, server.URL+"/hang", "longer than 200ms")

			require.EqualValues(t, limit, b.do(t, "download_url", values{"url": server.URL + "/exact", "disk": "local", "path": "x"})["size"])
			b.do(t, "download_url", values{"url": server.URL + "/packed", "disk": "local", "path": "y"})
			require.Equal(t, "unpacked", read(t, b.local, "y"))
		})
	}
}

// TestG13ArchivesStayClosed: an archive is a file like any other.
func TestG13ArchivesStayClosed(t *testing.T) {
	t.Parallel()
	const zip = "PK\x03\x04 ../outbound/x.txt"
	server := serve(t, "127.0.0.1", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, zip) })
	b := newBench(t, setup{allowAddr: only("127.0.0.1")})
	b.do(t, "download_url", values{"url": server.URL + "/a.zip", "disk": "local", "path": "a.zip"})
	require.Equal(t, zip, read(t, b.local, "a.zip"))
	require.Len(t, b.do(t, "list", values{"disk": "local", "path": "/"})["entries"], 1)
}

func ExamplePublic() {
	for _, text := range []string{"8.8.8.8", "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe"} {
		fmt.Println(text, filemanager.Public(netip.MustParseAddr(text)))
	}
	// Output:
	// 8.8.8.8 true
	// ::ffff:169.254.169.254 false
	// 64:ff9b::a9fe:a9fe false
}
