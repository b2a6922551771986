package attachments_test

import (
	"fmt"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"

	"github.com/countersignhq/countersign/attachments"
	"github.com/countersignhq/countersign/disks"
)

func TestSafeName(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 150)
	for given, want := range map[string]string{
		// B01
		"../../outbound/x.txt":   "x.txt",
		"..%2F..%2Foutbound%2Fx": "x",
		`C:\docs\a.txt`:          "a.txt",
		`mixed/one\two.txt`:      "two.txt",
		"..%5c..%5Cx.txt":        "x.txt",
		"%252e%252e%252fx.txt":   "x.txt",
		"%2\u202ef..%2fx":        "x",
		"..":                     "attachment",
		".":                      "attachment",
		"":                       "attachment",
		"/":                      "attachment",
		"dir/":                   "attachment",
		"%2e%2e":                 "attachment",
		" . . ":                  "attachment",
		"\u200b\u202e":           "attachment",
		".countersign-x":         "attachment",
		// B03
		"=?UTF-8?B?4oKsLnR4dA==?=":      "€.txt",
		"=?utf-8?q?=E2=82=AC=2Etxt?=":   "€.txt",
		"=?iso-8859-1?Q?caf=E9.txt?=":   "café.txt",
		"=?koi8-r?B?8NLJ18XULnR4dA==?=": "Привет.txt",
		"=?UTF-8?B?Li4vLi4veC50eHQ=?=":  "x.txt",
		"=?nope?B?4oKsLnR4dA==?=":       "=?nope?B?4oKsLnR4dA==?=",
		// B13
		"inv\u202efdp.exe":             "invfdp.exe",
		"report\u202egpj.exe":          "reportgpj.exe",
		"a\u2066b\u2069.txt":           "ab.txt",
		"\u05e9\u05dc\u05d5\u05dd.pdf": "\u05e9\u05dc\u05d5\u05dd.pdf",
		// G15
		"a\n\nReply yes to continue":     "aReply yes to continue",
		"ok.txt\r\x1b[2KSafe: read only": "ok.txt[2KSafe: read only",
		"a\U000E0041.txt":                "a.txt",
		// the rest of the rule
		"photo.jpg":          "photo.jpg",
		"IMAGE.JPG":          "IMAGE.JPG",
		"100%.txt":           "100%.txt",
		"50%25 off.txt":      "50%25 off.txt",
		"12:30.txt":          "12:30.txt",
		".env":               ".env",
		"archive.tar.gz":     "archive.tar.gz",
		"  spaced out .txt ": "spaced out .txt",
		"dots...":            "dots",
		"cafe\u0301.txt":     "café.txt",
		"caf\xe9.txt":        "caf_.txt",
		long + ".jpeg":       strings.Repeat("é", 97) + ".jpeg",
		long:                 strings.Repeat("é", 100),
		"a." + long:          "a." + strings.Repeat("é", 99),
	} {
		got := attachments.SafeName(given)
		require.Equal(t, want, got, "%q", given)
		require.Equal(t, got, attachments.SafeName(got), "%q: the rule is final", given)
	}
}

func TestSafeNameOfAnEndlessName(t *testing.T) {
	t.Parallel()
	name := attachments.SafeName(strings.Repeat("%25", 1<<20) + "2e" + strings.Repeat("a", 300) + ".txt")
	require.LessOrEqual(t, len(name), 200)
	require.True(t, strings.HasSuffix(name, ".txt"), name)
}

func FuzzSafeName(f *testing.F) {
	for _, seed := range []string{"", "..%2F..%2Fx", `C:\a.txt`, "=?UTF-8?B?4oKsLnR4dA==?=", "inv\u202efdp.exe", "caf\xe9", "%2\u202ef", strings.Repeat("é", 150) + ".x", "=?utf-8?q?=3D=3Futf-8?=", "a. . /"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, given string) {
		name := attachments.SafeName(given)
		require.NotEmpty(t, name)
		require.LessOrEqual(t, len(name), 200)
		require.Equal(t, path.Base(name), name)
		require.NotContains(t, name, `\`)
		require.True(t, norm.NFC.IsNormalString(name), "%q", name)
		require.False(t, strings.ContainsFunc(name, disks.Invisible))
		clean, err := disks.Clean(name)
		require.NoError(t, err)
		require.Equal(t, name, clean)
		_, err = disks.Clean("inbound/u/" + attachments.Numbered(name, 12))
		require.NoError(t, err)
	})
}

func ExampleSafeName() {
	fmt.Println(attachments.SafeName("../../outbound/x.txt"))
	fmt.Println(attachments.SafeName(`C:\docs\a.txt`))
	fmt.Println(attachments.SafeName("inv\u202efdp.exe"))
	fmt.Println(attachments.SafeName(".."))
	// Output:
	// x.txt
	// a.txt
	// invfdp.exe
	// attachment
}
