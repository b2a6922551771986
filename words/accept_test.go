package words_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersignhq/countersign/words"
)

func TestAccepted(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]string{
		"":                              "",
		"de":                            "de",
		"de-AT, en;q=0.5":               "de",
		"en;q=0.5, es-MX":               "es",
		"fr-CH, fr;q=0.9, de;q=0.7, *":  "de",
		"zh-TW, zh-CN;q=0.8, en;q=0.1":  "zh-CN",
		"zh-TW":                         "",
		"fr":                            "",
		"*":                             "",
		"de;q=0":                        "",
		"fr, de;q=0, en;q=0.1":          "en",
		"de;q=x":                        "",
		"\x00, de":                      "",
		"en-US,en;q=0.9,de;q=0.8":       "en",
		strings.Repeat("a-", 1_000_000): "",
	} {
		require.Equal(t, want, words.Accepted(header), "%.60q", header)
	}
}

func FuzzAccepted(f *testing.F) {
	for _, seed := range []string{"", "de", "de;q=0.5, en", "*;q=0", "zh-Hant, zh;q=0.1", "\xff;q="} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		if got := words.Accepted(header); got != "" {
			require.Contains(t, words.Languages(), got)
		}
	})
}
