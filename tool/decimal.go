package tool

import (
	"errors"
	"strconv"
	"strings"
)

// maxNumberLength bounds a number as written; the longest integer in the range
// of a float64 has 309 digits. It also keeps exact arithmetic on it cheap.
const maxNumberLength = 400

var errNumberRange = errors.New("a number is too long, too large or too small; use one that a float64 can hold")

// decimal is a number exactly as it was written: digits × 10^exponent, without
// zeros at either end of digits, so that equal numbers are equal values.
type decimal struct {
	negative bool
	digits   string
	exponent int
}

// parseDecimal reads a valid JSON number, or one made by strconv.
func parseDecimal(literal string) (decimal, error) {
	if len(literal) > maxNumberLength {
		return decimal{}, errNumberRange
	}
	mantissa, exponent := literal, ""
	if i := strings.IndexAny(literal, "eE"); i >= 0 {
		mantissa, exponent = literal[:i], literal[i+1:]
	}
	mantissa, negative := strings.CutPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	all := whole + fraction
	digits := strings.TrimRight(all, "0")
	shift := len(all) - len(digits) - len(fraction)
	digits = strings.TrimLeft(digits, "0")
	if digits == "" { // zero, whatever its exponent and sign (RFC 8785: -0 is 0)
		return decimal{}, nil
	}
	if exponent != "" {
		e, err := strconv.Atoi(exponent)
		if err != nil || e < -maxNumberLength || e > maxNumberLength {
			return decimal{}, errNumberRange
		}
		shift += e
	}
	if shift < -2*maxNumberLength || shift > maxNumberLength {
		return decimal{}, errNumberRange
	}
	return decimal{negative: negative, digits: digits, exponent: shift}, nil
}

// plainFraction is how many digits after the point are written out.
const plainFraction = 60

// String writes the number in full, a very small one as digits and exponent.
func (d decimal) String() string {
	sign := ""
	if d.negative {
		sign = "-"
	}
	switch {
	case d.digits == "":
		return "0"
	case d.exponent >= 0:
		return sign + d.digits + strings.Repeat("0", d.exponent)
	case d.exponent < -plainFraction:
		return sign + d.digits + "e" + strconv.Itoa(d.exponent)
	default:
		digits := d.digits
		if missing := 1 - d.exponent - len(digits); missing > 0 {
			digits = strings.Repeat("0", missing) + digits
		}
		point := len(digits) + d.exponent
		return sign + digits[:point] + "." + digits[point:]
	}
}
