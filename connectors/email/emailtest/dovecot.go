package emailtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Dovecot is Debian's Dovecot with one user, "bot".
type Dovecot struct {
	Host     string
	Port     int // without TLS, and STARTTLS
	TLSPort  int
	Password string
	Mailbox  *Maildir
	// Trust trusts the server's certificate, which CertFile holds.
	Trust    *tls.Config
	CertFile string

	dir, binary string
	running     *program
}

// NewDovecot starts a server; it ends with the test.
func NewDovecot(t testing.TB) *Dovecot {
	t.Helper()
	dir := folder(t)
	return NewDovecotOn(t, newMaildir(t, filepath.Join(dir, "mail", "bot"), account(t)))
}

// NewDovecotOAuth is NewDovecot that asks a server about tokens (RFC 7662): GET with the
// token behind the URL.
func NewDovecotOAuth(t testing.TB, introspection string) *Dovecot {
	t.Helper()
	dir := folder(t)
	path := filepath.Join(dir, "oauth2.conf")
	require.NoError(t, os.WriteFile(path, []byte("introspection_mode = get\nintrospection_url = "+introspection+
		"\nusername_attribute = username\nactive_attribute = active\nactive_value = true\n"), 0o600))
	return newDovecot(t, newMaildir(t, filepath.Join(dir, "mail", "bot"), account(t)), `auth_mechanisms = plain xoauth2 oauthbearer
passdb {
  driver = oauth2
  mechanisms = xoauth2 oauthbearer
  args = `+path+`
}
`)
}

// NewDovecotOn is NewDovecot for a mailbox that somebody else fills.
func NewDovecotOn(t testing.TB, mailbox *Maildir) *Dovecot {
	t.Helper()
	return newDovecot(t, mailbox, "")
}

func newDovecot(t testing.TB, mailbox *Maildir, more string) *Dovecot {
	t.Helper()
	d := &Dovecot{
		Host: "127.0.0.1", Port: freePort(t), TLSPort: freePort(t), Password: "imap-Secret-0123456789",
		Mailbox: mailbox, dir: folder(t), binary: find(t, "dovecot", "dovecot-imapd"),
	}
	mailbox.own(t, filepath.Dir(mailbox.Path))
	d.Trust, d.CertFile = certificate(t, d.dir), filepath.Join(d.dir, "cert.pem")
	owner := mailbox.owner
	group, err := user.LookupGroupId(owner.Gid)
	require.NoError(t, err)
	config := fmt.Sprintf(`base_dir = %[1]s/run
state_dir = %[1]s/run
log_path = /dev/stderr
protocols = imap
listen = 127.0.0.1
ssl = yes
ssl_cert = <%[1]s/cert.pem
ssl_key = <%[1]s/key.pem
disable_plaintext_auth = no
mail_location = maildir:%[2]s
default_login_user = %[3]s
default_internal_user = %[3]s
default_internal_group = %[4]s
first_valid_uid = 1
imap_idle_notify_interval = 1 min
passdb {
  driver = static
  mechanisms = plain login
  args = password=%[5]s
}
userdb {
  driver = static
  args = uid=%[3]s gid=%[4]s home=%[1]s
}
service imap-login {
  chroot =
  inet_listener imap {
    port = %[6]d
  }
  inet_listener imaps {
    port = %[7]d
  }
}
auth_failure_delay = 0
service anvil {
  chroot =
  unix_listener anvil-auth-penalty {
    mode = 0
  }
}
service stats {
  chroot =
}
`, d.dir, mailbox.Path, owner.Username, group.Name, d.Password, d.Port, d.TLSPort) + more
	require.NoError(t, os.WriteFile(filepath.Join(d.dir, "dovecot.conf"), []byte(config), 0o600))
	d.Start(t)
	t.Cleanup(d.Stop)
	return d
}

// Start starts it again at the same port.
func (d *Dovecot) Start(t testing.TB) {
	t.Helper()
	d.running = start(t, d.Port, d.binary, "-F", "-c", filepath.Join(d.dir, "dovecot.conf"))
}

// Stop ends it.
func (d *Dovecot) Stop() {
	if d.running != nil {
		d.running.stop()
		d.running = nil
	}
}

// Renumber lets the mailbox come up with a new UIDVALIDITY, as after a restored
// backup. The server has to be stopped.
func (d *Dovecot) Renumber(t testing.TB) {
	t.Helper()
	require.Nil(t, d.running, "stop the server first")
	lists, err := filepath.Glob(filepath.Join(d.Mailbox.Path, "dovecot*"))
	require.NoError(t, err)
	require.NotEmpty(t, lists)
	for _, path := range lists {
		if strings.HasPrefix(filepath.Base(path), "dovecot-uidvalidity") {
			continue // else the clock decides, which may stand on the same second
		}
		require.NoError(t, os.RemoveAll(path))
	}
}

// Log is what the server has said so far.
func (d *Dovecot) Log() string {
	if d.running == nil {
		return ""
	}
	return d.running.output.String()
}

// certificate writes a self-signed one and returns who trusts it.
func certificate(t testing.TB, dir string) *tls.Config {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "mail.example.test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, BasicConstraintsValid: true, IsCA: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	private, err := x509.MarshalECPrivateKey(key)
	require.NoError(t, err)
	write := func(name, kind string, bytes []byte) {
		content := pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: bytes})
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), content, 0o600))
	}
	write("cert.pem", "CERTIFICATE", der)
	write("key.pem", "EC PRIVATE KEY", private)
	trusted, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	pool := x509.NewCertPool()
	pool.AddCert(trusted)
	return &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
}
