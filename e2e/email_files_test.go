package e2e_test

import (
	"bytes"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/emersion/go-smtp"
	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/connectors/email/emailtest"
	"github.com/countersignhq/countersign/e2e/harness"
)

// mixed is a mail with a text and further parts, each with its header.
func mixed(text string, parts ...string) (header, body string) {
	all := append([]string{"Content-Type: text/plain; charset=utf-8\n\n" + text}, parts...)
	return "Content-Type: multipart/mixed; boundary=\"=_b\"\n", "--=_b\n" + strings.Join(all, "\n--=_b\n") + "\n--=_b--\n"
}

// inbound is what lies in the one folder of a message that holds a file of this name.
func inbound(t *testing.T, w *harness.World, name string) map[string]string {
	t.Helper()
	folder := harness.Until(t, name+" is stored", func() (string, bool) {
		found, err := filepath.Glob(w.File("inbound/*/" + name))
		require.NoError(t, err)
		return strings.Join(found, " "), len(found) == 1
	})
	entries, err := os.ReadDir(filepath.Dir(folder))
	require.NoError(t, err)
	files := map[string]string{}
	for _, e := range entries {
		content, err := os.ReadFile(filepath.Join(filepath.Dir(folder), e.Name()))
		require.NoError(t, err)
		files[e.Name()] = string(content)
	}
	return files
}

func TestEmailFiles(t *testing.T) {
	t.Parallel()
	m := newMail(t)
	w := m.world(t, harness.Setup{})

	t.Run("every attachment comes in, whatever it is called", func(t *testing.T) {
		t.Parallel()
		p := m.somebody(t)
		png := "\x89PNG\r\n\x1a\n" + strings.Repeat("x", 100)
		head, body := mixed(
			"",
			"Content-Type: image/png\nContent-Disposition: inline\nContent-ID: <c1>\nContent-Transfer-Encoding: base64\n\n"+base64.StdEncoding.EncodeToString([]byte(png)),               // B07
			"Content-Type: text/csv; name=report.csv\nContent-Disposition: attachment\n\none", "Content-Type: text/csv\nContent-Disposition: attachment; filename=\"report.csv\"\n\ntwo", // B06
			"Content-Disposition: attachment; filename*=UTF-8''%E2%82%AC%20rates.txt\n\neuro",                                                                      // B03
			"Content-Disposition: attachment; filename=\"=?utf-8?q?=C3=A4_2047.txt?=\"\n\numlaut",                                                                  // B03
			"Content-Disposition: attachment; filename*=iso-8859-1''%e9.txt\n\nold",                                                                                // B04
			"Content-Disposition: attachment; filename=Quarter one.pdf\n\nlenient",                                                                                 // B04
			"Content-Disposition: attachment; filename=\"../../outbound/x.txt\"\n\nup",                                                                             // B01
			"Content-Disposition: attachment; filename=\"inv\u202efdp.exe\"\n\nmz",                                                                                 // B13
			"Content-Type: message/rfc822\n\nSubject: yes\n\nyes",                                                                                                  // B09
			"Content-Type: application/ms-tnef\nContent-Transfer-Encoding: base64\n\n"+base64.StdEncoding.EncodeToString([]byte("\x78\x9f\x3e\x22 no such thing")), // B08
			"Content-Disposition: attachment; filename=empty.csv\n\n",                                                                                              // B11
		)
		p.send(t, p.letter(head+"Subject: files\n", body))
		listed := p.await(t, "I have received:")
		require.Equal(t, map[string]string{
			"attachment.png": png, "report.csv": "one", "report-1.csv": "two", "€ rates.txt": "euro", "ä 2047.txt": "umlaut", "é.txt": "old",
			"Quarter one.pdf": "lenient", "x.txt": "up", "invfdp.exe": "mz", "attachment.eml": "Subject: yes\r\n\r\nyes",
			"winmail.dat": "\x78\x9f\x3e\x22 no such thing", "empty.csv": "",
		}, inbound(t, w, "winmail.dat"))
		for _, name := range []string{"attachment.png", "report-1.csv", "empty.csv", "attachment.eml"} {
			require.Contains(t, listed.Text, name)
		}
		// One of them goes on: saved, and back by mail.
		p.writes(t, "keep it", "/file_manager save_attachment source=report-1.csv disk=local path=kept/two.csv")
		p.await(t, "✅ Done: file_manager save_attachment")
		require.Equal(t, "two", w.Read(t, "kept/two.csv"))
	})

	t.Run("a mail that says what to do with its file", func(t *testing.T) {
		t.Parallel()
		p := m.somebody(t)
		content := bytes.Repeat([]byte("0123456789abcdef\r\n"), 20_000)
		head, body := mixed("/file_manager save_attachment source=big.bin disk=local path=saved/"+p.name+".bin\n",
			"Content-Type: application/octet-stream\nContent-Disposition: attachment; filename=big.bin\nContent-Transfer-Encoding: base64\n\n"+wrapped(content))
		p.send(t, p.letter(head+"Subject: save this\n", body))
		p.await(t, "✅ Done: file_manager save_attachment")
		require.Equal(t, string(content), w.Read(t, "saved/"+p.name+".bin"))
	})

	t.Run("a reply takes its files along, and is sent again after a failure", func(t *testing.T) {
		t.Parallel()
		p := m.somebody(t)
		content := bytes.Repeat([]byte{0, 255, 'a', '\n'}, 50_000)
		w.Write(t, "out/réport, \"1\".bin", string(content))
		m.out.Break(emailtest.Fault{To: p.address, At: "data", Reply: &smtp.SMTPError{
			Code: 451, EnhancedCode: smtp.EnhancedCode{4, 3, 0}, Message: "try again later",
		}})
		m.out.Break(emailtest.Fault{To: p.address, Lose: true})
		p.send(t, p.letter("Message-ID: <want@example.test>\nSubject: the file\n", "/file_manager attach_to_reply disk=local path='out/réport, \"1\".bin'\n"))
		harness.Eventually(t, "the server has put it off", func() bool { return m.out.Faults() < 2 })
		staged, err := filepath.Glob(w.File("outbound/*/*.bin"))
		require.NoError(t, err)
		require.Len(t, staged, 1, "what was not sent is still there")
		reply := p.await(t, "✅ Done: file_manager attach_to_reply")
		require.Equal(t, "<want@example.test>", reply.Get("In-Reply-To"))
		require.Equal(t, "Re: the file", reply.Title)
		require.Len(t, reply.Files, 1)
		require.Equal(t, filepath.Base("out/réport, \"1\".bin"), reply.Files[0].Name)
		require.Equal(t, content, reply.Files[0].Content)
		harness.Eventually(t, "the answer to the second copy is not lost", func() bool {
			left, err := os.ReadDir(w.File("outbound"))
			return err == nil && len(left) == 0
		})
		require.Len(t, p.texts(t), 1, "a copy has the same Message-ID: programs show one")
		copies := 0
		for _, c := range m.out.Copies() {
			if c.To[0] == p.address {
				copies++
			}
		}
		require.Equal(t, 2, copies, "one whose answer was lost, and one")
	})
}

// wrapped is base64 in lines.
func wrapped(content []byte) string {
	encoded := base64.StdEncoding.EncodeToString(content)
	var lines []string
	for len(encoded) > 76 {
		lines, encoded = append(lines, encoded[:76]), encoded[76:]
	}
	return strings.Join(append(lines, encoded), "\n")
}
