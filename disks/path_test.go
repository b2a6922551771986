package disks

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestClean(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"":                    ".",
		".":                   ".",
		"/":                   ".",
		"///":                 ".",
		"a":                   "a",
		"/a":                  "a",
		"a/":                  "a",
		"./a//b/":             "a/b",
		"a/../b":              "b",
		"a/b/../../c":         "c",
		"a/..":                ".",
		"100%.txt":            "100%.txt",
		"50%25.txt":           "50%25.txt",
		"a%20b.txt":           "a%20b.txt",
		"12:30.txt":           "12:30.txt",
		":memory:":            ":memory:",
		"a:b/c:d":             "a:b/c:d",
		".env":                ".env",
		"..hidden":            "..hidden",
		"a..b":                "a..b",
		"with blank/in it":    "with blank/in it",
		"Grüße/日本語/عربى.txt":  "Grüße/日本語/عربى.txt",
		"e\u0301.txt":         "e\u0301.txt",
		"inbound/x":           "inbound/x",
		"INBOU~1":             "INBOU~1",
		"a'\"$(x);&|<>*?`.md": "a'\"$(x);&|<>*?`.md",
	} {
		got, err := Clean(given)
		require.NoError(t, err, "%q", given)
		require.Equal(t, want, got, "%q", given)
	}
}

func TestG05CleanRefuses(t *testing.T) {
	t.Parallel()
	for given, reason := range map[string]string{
		"..":                         "leads out",
		"../x":                       "leads out",
		"/..":                        "leads out",
		"a/../../x":                  "leads out",
		`inbound\x`:                  "backslash",
		`..\x`:                       "backslash",
		"a\x00b":                     "control",
		"a\nb":                       "control",
		"a\u0085b":                   "control",
		"in\u200bbound/x":            "control or format",
		"report\u202egpj.exe":        "control or format",
		"\ufeffa":                    "control or format",
		"a\U000E0041b":               "control or format",
		"a\u2028b":                   "control or format",
		"a\u00adb":                   "control or format",
		"inbound /x":                 "blank",
		" inbound/x":                 "blank",
		"x/ a":                       "blank",
		"a\u00a0/x":                  "blank",
		"a\u3000":                    "blank",
		"inbound./x":                 "dot",
		"a...":                       "dot",
		"...":                        "dot",
		"%2e%2e/inbound":             "percent",
		"%2E/x":                      "percent",
		"a%2fb":                      "percent",
		"a%2Fb":                      "percent",
		"a%5cb":                      "percent",
		"%252e%252e/inbound":         "percent",
		"a%25252fb":                  "percent",
		"%%32e":                      "percent",
		"\u2024\u2024/x":             "only dots",
		"\u2025/inbound":             "only dots",
		"\uff0e/x":                   "only dots",
		".countersign-x":             "reserved",
		"a/.Countersign-x":           "reserved",
		"a\xffb":                     "UTF-8",
		strings.Repeat("a", 256):     "255",
		strings.Repeat("a/", 600):    "1024",
		"a\n\nReply yes to continue": "control",
	} {
		_, err := Clean(given)
		require.ErrorIs(t, err, ErrPath, "%q", given)
		require.ErrorContains(t, err, reason, "%q", given)
		require.False(t, strings.ContainsFunc(err.Error(), Invisible), "%q shown as %s", given, err)
	}
}

func TestGuardCoversEverySpelling(t *testing.T) {
	t.Parallel()
	g := newGuard([]string{"inbound", "Outbound"})
	for _, name := range []string{
		"inbound", "inbound/x", "INBOUND/x", "Outbound/x", "OutBound", "outbound", // G04
		"inbound::$DATA", "inbound:x", "inbound:", "INBOU~1", "INBOUN~1", "outboun~12/x",
		"\uff49\uff4e\uff42\uff4f\uff55\uff4e\uff44/x", "ｉnbound", "𝐢nbound", "ⓘnbound", "inbound\uff1ax", "inbound\uff0fx", "inbound\uff3cx",
		"%69nbound/x", "%2569nbound/x", "%49NBOUND", "inbound\ufe0f", "in\u034fbound", "inbound\uff0e",
	} {
		require.True(t, g.covers(name), "%q", name)
	}
	for _, name := range []string{
		".", "x", "x/inbound", "inbound2", "inbounds/x", "in bound", "xinbound", "a:inbound", "inbound-1", ".inbound", "inbound.txt", "in~1", "inbound~", "inbound~x", "out", "100%",
	} {
		require.False(t, g.covers(name), "%q", name)
	}
}

func TestNumbered(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		n     int
		limit int
		want  string
	}{
		{"photo.jpg", 1, 255, "photo-1.jpg"},
		{"a/b/photo.jpg", 12, 255, "a/b/photo-12.jpg"},
		{"a.b/photo", 1, 255, "a.b/photo-1"},
		{".env", 1, 255, ".env-1"},
		{"archive.tar.gz", 1, 255, "archive.tar-1.gz"},
		{"öööö.txt", 1, 11, "öö-1.txt"},
		{"öööö.txt", 1, 12, "ööö-1.txt"},
	} {
		require.Equal(t, c.want, Numbered(c.name, c.n, c.limit))
	}
	require.Equal(t, "v1.2-1", numberedFolder("v1.2", 1, 255))
}

func FuzzClean(f *testing.F) {
	for _, seed := range []string{"", "a/../b", "%2e%2e/inbound", "in\u200bbound/x", "inbound::$DATA", "\u2025/x", "a\xff", `a\b`, "%%32e", "ａ：b/..", " a", "./x/."} {
		f.Add(seed)
	}
	g := newGuard([]string{"inbound"})
	f.Fuzz(func(t *testing.T, given string) {
		clean, err := Clean(given)
		if err != nil {
			require.ErrorIs(t, err, ErrPath)
			require.False(t, strings.ContainsFunc(err.Error(), Invisible))
			return
		}
		again, err := Clean(clean)
		require.NoError(t, err)
		require.Equal(t, clean, again, "cleaning is final")
		require.True(t, utf8.ValidString(clean))
		for segment := range strings.SplitSeq(clean, "/") {
			require.NotEqual(t, "..", segment)
			require.NotEmpty(t, segment)
			require.Equal(t, strings.TrimSpace(segment), segment)
		}
		require.False(t, strings.HasPrefix(clean, "/"))
		if clean != "." {
			inside, err := Clean("inbound/" + clean)
			require.True(t, err != nil || g.covers(inside))
		}
	})
}
