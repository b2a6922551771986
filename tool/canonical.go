package tool

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/gowebpki/jcs"
)

// Canonical returns the one form of a JSON value that all its spellings share
// (RFC 8785): names sorted, no white space, one way to write each number and
// string. It refuses what has no single meaning: duplicate names at any depth,
// invalid UTF-8, lone surrogates, anything after the value, more than 100
// levels, numbers outside the range of a float64.
//
// RFC 8785 rounds numbers to a float64, so that 9007199254740993 and
// 9007199254740992 would be the same; here a number that a float64 does not
// hold exactly as written keeps all its digits instead.
func Canonical(raw json.RawMessage) (json.RawMessage, error) {
	v, err := decode(raw)
	if err != nil {
		return nil, err
	}
	return appendValue(nil, v), nil
}

func appendValue(dst []byte, v any) []byte {
	switch v := v.(type) {
	case object:
		return appendObject(dst, v)
	case []any:
		dst = append(dst, '[')
		for i, item := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendValue(dst, item)
		}
		return append(dst, ']')
	case string:
		return appendString(dst, v)
	case json.Number: // canonical since decode
		return append(dst, v...)
	case bool:
		return strconv.AppendBool(dst, v)
	default:
		return append(dst, "null"...)
	}
}

func appendObject(dst []byte, o object) []byte {
	sorted := slices.Clone(o)
	slices.SortFunc(sorted, func(a, b member) int { return compareUTF16(a.name, b.name) })
	dst = append(dst, '{')
	for i, m := range sorted {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendString(dst, m.name)
		dst = append(dst, ':')
		dst = appendValue(dst, m.value)
	}
	return append(dst, '}')
}

// compareUTF16 is the order of RFC 8785 section 3.2.3: by UTF-16 code units,
// which differs from the order of the bytes above U+FFFF.
func compareUTF16(a, b string) int {
	return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
}

// appendString writes a string as RFC 8785 section 3.2.2.2 wants it.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r >= ' ':
			dst = utf8.AppendRune(dst, r)
		case r == '\b':
			dst = append(dst, `\b`...)
		case r == '\t':
			dst = append(dst, `\t`...)
		case r == '\n':
			dst = append(dst, `\n`...)
		case r == '\f':
			dst = append(dst, `\f`...)
		case r == '\r':
			dst = append(dst, `\r`...)
		default:
			dst = fmt.Appendf(dst, `\u%04x`, r)
		}
	}
	return append(dst, '"')
}

// canonicalNumber returns the RFC 8785 form of a JSON number if a float64 holds
// it exactly as written, and else an exact form of its own. The two never meet,
// since they denote different numbers.
func canonicalNumber(literal string) (string, error) {
	d, err := parseDecimal(literal)
	if err != nil {
		return "", err
	}
	f, err := strconv.ParseFloat(literal, 64)
	if err != nil {
		return "", errNumberRange
	}
	shortest, err := parseDecimal(strconv.FormatFloat(f, 'e', -1, 64))
	if err != nil {
		return "", err
	}
	if shortest == d {
		text, err := jcs.NumberToJSON(f)
		if err != nil {
			return "", errNumberRange
		}
		return text, nil
	}
	return d.String(), nil
}
