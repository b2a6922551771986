package words

import "golang.org/x/text/language"

// Accepted returns the language with a catalog that a browser asks for first, by the value of its
// Accept-Language header (RFC 9110 §12.5.4); empty where it asks for none of them.
func Accepted(header string) string {
	tags, weights, err := language.ParseAcceptLanguage(header)
	if err != nil {
		return ""
	}
	for n, tag := range tags { // the best first
		if weights[n] == 0 {
			break // not these
		}
		if matched, ok := Match(tag.String()); ok {
			return matched
		}
	}
	return ""
}
