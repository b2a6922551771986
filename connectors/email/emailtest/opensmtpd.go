package emailtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Border is how OpenSMTPD names itself in the Received fields that it adds.
const Border = "mx.example.test"

// OpenSMTPD is Debian's OpenSMTPD as the mail server of example.test. It delivers
// to bot and ada, with anything behind a plus, passes mail to away.test on to a Sink
// (and reports it if that refuses), and refuses everybody else.
type OpenSMTPD struct {
	Host string
	Port int
	Bot  *Maildir
	Ada  *Maildir
	Away *Sink
}

// NewOpenSMTPD starts a server; it ends with the test. It has its spool and control
// socket at fixed places and wants to be root: it gets a mount namespace of its own.
func NewOpenSMTPD(t testing.TB) *OpenSMTPD {
	t.Helper()
	binary, owner, dir := find(t, "smtpd", "opensmtpd"), account(t), folder(t)
	s := &OpenSMTPD{Host: "127.0.0.1", Port: freePort(t), Away: NewSink(t)}
	s.Bot = newMaildir(t, filepath.Join(dir, "mail", "bot"), owner)
	s.Ada = newMaildir(t, filepath.Join(dir, "mail", "ada"), owner)
	s.Bot.own(t, filepath.Join(dir, "mail"))
	config := fmt.Sprintf(`listen on 127.0.0.1 port %[1]d hostname %[2]s
table people { "bot" = "%[3]s", "ada" = "%[3]s" }
action "in" maildir "%[4]s/mail/%%{rcpt.user:strip}" virtual <people> user %[3]s
action "out" relay host "smtp://127.0.0.1:%[5]d" helo "%[2]s"
match from any for domain "example.test" action "in"
match from any for domain "away.test" action "out"
`, s.Port, Border, owner.Username, dir, s.Away.Port)
	path := filepath.Join(dir, "smtpd.conf")
	require.NoError(t, os.WriteFile(path, []byte(config), 0o600))

	command := []string{
		"unshare", "--mount", "--propagation", "private", "sh", "-c",
		`mount -t tmpfs none /var/spool && mount -t tmpfs none /run && exec "$0" -d -f "$1"`, binary, path,
	}
	if os.Getuid() != 0 {
		require.NoError(t, exec.Command("sudo", "-n", "true").Run(),
			"OpenSMTPD runs as root only: run this test as root, or where sudo asks for no password")
		command = append([]string{"sudo", "-n"}, command...)
	}
	running := start(t, s.Port, command[0], command[1:]...)
	t.Cleanup(running.stop)
	return s
}
