package email_test

import (
	"encoding/base64"
	"errors"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/approval"
	"github.com/countersignhq/countersign/chat"
	"github.com/countersignhq/countersign/connectors/email"
	"github.com/countersignhq/countersign/connectors/email/emailtest"
)

// with is a mail of ada's: a text and parts, each header and body.
func with(text string, parts ...string) string {
	var b strings.Builder
	b.WriteString("--=_x\n\n" + text)
	for _, p := range parts {
		b.WriteString("\n--=_x\n" + p)
	}
	return from("Content-Type: multipart/mixed; boundary=\"=_x\"", b.String()+"\n--=_x--\n")
}

func file(disposition, content string) string {
	return "Content-Type: application/octet-stream\nContent-Disposition: " + disposition + "\n\n" + content
}

func paths(files []chat.File) []string {
	var paths []string
	for _, f := range files {
		paths = append(paths, f.Path)
	}
	return paths
}

// B01, B03, B04, B13: whatever a file is called, it lies in the folder of its mail.
func TestB01NamesOnTheDisk(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for disposition, want := range map[string]string{
		`attachment; filename="../../outbound/x.txt"`:                      "x.txt",
		`attachment; filename*=UTF-8''..%2F..%2Foutbound%2Fx`:              "x",
		`attachment; filename="C:\docs\a.txt"`:                             "a.txt",
		`attachment; filename="=?UTF-8?B?4oKsLnR4dA==?="`:                  "€.txt",
		`attachment; filename*0*=UTF-8''%e2%82%ac; filename*1*=.txt`:       "€.txt",
		`attachment; filename=Quarter one.pdf`:                             "Quarter one.pdf",
		`attachment; filename="a"; filename="b"`:                           "a",
		`;filename*=UTF-8''t.pdf`:                                          "t.pdf",
		`attachment; filename*=iso-8859-1''%e9.txt`:                        "é.txt",
		"attachment; filename=\"inv\u202efdp.exe\"":                        "invfdp.exe",
		`attachment; filename="..%2f..%2foutbound%2fx.txt"`:                "x.txt",
		`attachment; filename=".."`:                                        "attachment",
		`attachment; filename="` + strings.Repeat("é", 200) + `.pdf"`:      strings.Repeat("é", 98) + ".pdf",
		`attachment; filename="=?utf-8?q?=2e=2e=2foutbound=2fx?="; size=1`: "x",
	} {
		m, reason := b.receive(t, with("see", file(disposition, "data")))
		require.Empty(t, reason)
		require.Equal(t, []string{path.Join("inbound", m.UUID, want)}, paths(m.Files), disposition)
		require.Equal(t, want, m.Files[0].Name)
		require.Equal(t, "data", b.content(t, m.Files[0]))
		require.NotEmpty(t, m.Files[0].SHA256)
	}
}

func TestB06SameNames(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	m, reason := b.receive(t, with("see", file("attachment; filename=image.jpg", "1"), file("attachment; filename=image.jpg", "2"),
		file("attachment; filename=image.jpg", "3"), file("attachment; filename=IMAGE.jpg", "4")))
	require.Empty(t, reason)
	require.Len(t, m.Files, 4)
	seen := map[string]bool{}
	for n, f := range m.Files {
		require.Equal(t, string(rune('1'+n)), b.content(t, f))
		require.False(t, seen[strings.ToLower(f.Path)], "also on disks that fold case")
		seen[strings.ToLower(f.Path)] = true
	}
}

func TestB07ToB11Files(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	m, reason := b.receive(t, with("yes",
		"Content-Type: image/png\nContent-ID: <c1>\nContent-Disposition: inline\n\n\x89PNG\n",
		"Content-Type: application/ms-tnef\nContent-Transfer-Encoding: base64\n\n"+base64.StdEncoding.EncodeToString([]byte("01234567890123456789")),
		"Content-Type: message/rfc822\n\nSubject: x\n\nno",
		"Content-Type: text/csv\nContent-Disposition: attachment; filename=empty.csv\n\n",
	))
	require.Empty(t, reason)
	require.Equal(t, approval.Yes, said(m))
	var names []string
	for _, f := range m.Files {
		require.Empty(t, f.Problem)
		names = append(names, f.Name)
	}
	require.Equal(t, []string{"attachment.png", "winmail.dat", "attachment.eml", "empty.csv"}, names)
	require.Zero(t, m.Files[3].Size)
}

func TestB12TooLarge(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(p *email.Params) { p.MaxFile, p.MaxFiles, p.MaxMail, p.MaxParts = 1000, 1500, 20_000, 10 })
	m, reason := b.receive(t, with("yes", file("attachment; filename=big", strings.Repeat("x", 5000)), file("attachment; filename=small", "x")))
	require.Empty(t, reason)
	require.Equal(t, approval.Yes, said(m), "the answer counts all the same")
	require.Equal(t, chat.File{Name: "big", Size: 5000, Problem: "larger than 1000 bytes"}, m.Files[0])
	require.Equal(t, "x", b.content(t, m.Files[1]))

	// A mail that is too large for the machine: its signature is checked to the last byte.
	raw := with("yes", file("attachment; filename=a", "a"), file("attachment; filename=huge", strings.Repeat("x", 40_000)), file("attachment; filename=z", "z"))
	m, reason = b.receive(t, raw)
	require.Empty(t, reason)
	require.Equal(t, approval.Yes, said(m))
	require.Equal(t, "a", b.content(t, m.Files[0]))
	require.NotEmpty(t, m.Files[1].Problem)
	signed := b.dkim.Sign(t, strings.Replace(raw, "unique", "other", 1))
	_, reason = b.receiveRaw(t, strings.Replace(signed, "\r\nz\r\n", "\r\nZ\r\n", 1))
	require.Contains(t, reason, "body hash")
}

// B14: a file is known to others when it is whole; and a disk that is away is waited for.
func TestB14DiskAway(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.files.breakDown(errors.New("the disk is away"))
	raw := b.dkim.Sign(t, with("yes", file("attachment; filename=a", "a")))
	_, err := b.Receive(t.Context(), raw, time.Now())
	require.Error(t, err)
	require.Empty(t, b.desk.Messages())
	b.files.breakDown(nil)
	m, reason := b.receiveRaw(t, raw)
	require.Empty(t, reason)
	require.Equal(t, "a", b.content(t, m.Files[0]))
}

// Nothing is left of a mail on this machine, and a sender who is not proven fills no disk.
func TestSpoolIsEmpty(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := newBench(t, func(p *email.Params) { p.SpoolDir = dir })
	b.receive(t, with("yes", file("attachment; filename=a", "a")))
	_, reason := b.receiveRaw(t, emailtest.CRLF(with("yes", file("attachment; filename=a", "a"))))
	require.NotEmpty(t, reason)
	require.Equal(t, 1, b.files.saves)
	entries, err := readDir(dir)
	require.NoError(t, err)
	require.Empty(t, entries)
}
