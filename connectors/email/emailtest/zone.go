package emailtest

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/emersion/go-msgauth/dkim"
	"github.com/stretchr/testify/require"
)

// Zone is a DNS without a network. The zero value knows no name.
type Zone struct {
	mu     sync.Mutex
	txt    map[string][]string
	broken map[string]bool
	asked  []string
}

// TXT adds a record.
func (z *Zone) TXT(name, value string) {
	z.mu.Lock()
	defer z.mu.Unlock()
	if z.txt == nil {
		z.txt = map[string][]string{}
	}
	name = strings.ToLower(name)
	z.txt[name] = append(z.txt[name], value)
}

// Break lets a name's server fail, or work again.
func (z *Zone) Break(name string, broken bool) {
	z.mu.Lock()
	defer z.mu.Unlock()
	if z.broken == nil {
		z.broken = map[string]bool{}
	}
	z.broken[strings.ToLower(name)] = broken
}

// Asked are the names that were looked up so far.
func (z *Zone) Asked() []string {
	z.mu.Lock()
	defer z.mu.Unlock()
	return append([]string(nil), z.asked...)
}

// LookupTXT is net.Resolver's.
func (z *Zone) LookupTXT(_ context.Context, name string) ([]string, error) {
	z.mu.Lock()
	defer z.mu.Unlock()
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	z.asked = append(z.asked, name)
	if z.broken[name] {
		return nil, &net.DNSError{Err: "server misbehaving", Name: name, IsTemporary: true}
	}
	if values, ok := z.txt[name]; ok {
		return append([]string(nil), values...), nil
	}
	return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
}

// LookupMX is net.Resolver's; there are none.
func (z *Zone) LookupMX(_ context.Context, name string) ([]*net.MX, error) {
	return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
}

// LookupIPAddr is net.Resolver's; there are none.
func (z *Zone) LookupIPAddr(_ context.Context, host string) ([]net.IPAddr, error) {
	return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
}

// LookupAddr is net.Resolver's; there are none.
func (z *Zone) LookupAddr(_ context.Context, addr string) ([]string, error) {
	return nil, &net.DNSError{Err: "no such host", Name: addr, IsNotFound: true}
}

// Domain signs mail.
type Domain struct {
	Name string
	key  ed25519.PrivateKey
}

// NewDomain makes a key and publishes it in the zone.
func NewDomain(t testing.TB, zone *Zone, name string) *Domain {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	zone.TXT("test._domainkey."+name, "v=DKIM1; k=ed25519; p="+base64.StdEncoding.EncodeToString(public))
	return &Domain{Name: name, key: private}
}

// Forger signs as the same domain with a key of its own.
func (d *Domain) Forger(t testing.TB) *Domain {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	return &Domain{Name: d.Name, key: private}
}

// Sign puts a signature over a mail. Fields are those to be covered, by default
// what most signers cover.
func (d *Domain) Sign(t testing.TB, raw string, fields ...string) string {
	t.Helper()
	if len(fields) == 0 {
		fields = []string{"From", "To", "Cc", "Subject", "Date", "Message-ID", "In-Reply-To", "References", "MIME-Version"}
	}
	var signed bytes.Buffer
	require.NoError(t, dkim.Sign(&signed, strings.NewReader(CRLF(raw)), &dkim.SignOptions{
		Domain: d.Name, Selector: "test", Signer: d.key, Hash: crypto.SHA256, HeaderKeys: fields,
		HeaderCanonicalization: dkim.CanonicalizationRelaxed, BodyCanonicalization: dkim.CanonicalizationRelaxed,
	}))
	return signed.String()
}

// CRLF writes line breaks as mail has them.
func CRLF(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\n", "\r\n")
}
