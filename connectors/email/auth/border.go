package auth

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"blitiri.com.ar/go/spf"
	"github.com/emersion/go-msgauth/authres"

	"github.com/countersignhq/countersign/connectors/email/letter"
)

var errNoBorder = errors.New("no trusted border is configured")

// byBorder believes the topmost Authentication-Results field of the border.
func (c Checker) byBorder(a *alignment, header letter.Header) (Proof, error) {
	if c.Border == "" {
		return Proof{}, errNoBorder
	}
	for _, value := range header.All("Authentication-Results") {
		identity, results, err := authres.Parse(simplified(value))
		identity, _, _ = strings.Cut(strings.TrimSpace(identity), " ") // a version may follow
		if !strings.EqualFold(identity, c.Border) {
			continue
		}
		if err != nil {
			return Proof{}, fmt.Errorf("authentication-results: %w", err)
		}
		return a.by(results)
	}
	return Proof{}, fmt.Errorf("no authentication-results of %q", c.Border)
}

// by looks for a result that passes and is aligned.
func (a *alignment) by(results []authres.Result) (Proof, error) {
	var later error
	for _, result := range results {
		domain, aligned := "", false
		var err error
		switch r := result.(type) {
		case *authres.DMARCResult:
			// DMARC itself is about From; header.from says about which.
			domain = ascii(r.From)
			aligned = r.Value == authres.ResultPass && domain == a.from
		case *authres.DKIMResult:
			if domain = r.Domain; domain == "" {
				domain, _ = domainOf(r.Identifier)
			}
			if r.Value == authres.ResultPass {
				aligned, err = a.with(domain, byDKIM)
			}
		case *authres.SPFResult:
			domain, _ = domainOf(r.From) // or a domain alone
			if r.Value == authres.ResultPass {
				aligned, err = a.with(domain, bySPF)
			}
		}
		if err != nil {
			later = err
		}
		if aligned {
			return Proof{Method: "authentication-results", Domain: domain}, nil
		}
	}
	if later != nil {
		return Proof{}, later
	}
	return Proof{}, errors.New("authentication-results: nothing passed that is aligned with From")
}

// simplified takes comments out of a structured field and everything out of quoted
// strings that could be taken for its syntax: both may hold what a sender chose.
func simplified(value string) string {
	var out strings.Builder
	depth, quoted := 0, false
	for i := 0; i < len(value); i++ {
		b := value[i]
		switch {
		case b == '\\' && (quoted || depth > 0):
			i++
		case quoted && b == '"':
			quoted = false
		case quoted:
			if strings.IndexByte("@.-_+", b) >= 0 || '0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' {
				out.WriteByte(b)
			} else {
				out.WriteByte('?')
			}
		case b == '(':
			depth++
		case b == ')' && depth > 0:
			depth--
		case depth > 0:
		case b == '"':
			quoted = true
		default:
			out.WriteByte(b)
		}
	}
	if depth > 0 || quoted {
		return "" // cut off: it says nothing for certain
	}
	return out.String()
}

// bySPF asks whether the address that the border took the mail from may send for
// the domain of the envelope sender, and whether that is aligned (RFC 7208).
func (c Checker) bySPF(ctx context.Context, a *alignment, header letter.Header) (Proof, error) {
	if c.Border == "" {
		return Proof{}, errNoBorder
	}
	hop, ok := c.received(header)
	if !ok {
		return Proof{}, fmt.Errorf("spf: no usable received field of %q", c.Border)
	}
	result, err := spf.CheckHostWithSender(hop.ip, hop.helo, hop.sender, spf.WithContext(ctx), spf.WithResolver(c.resolver()))
	switch result {
	case spf.Pass:
	case spf.TempError:
		return Proof{}, fmt.Errorf("%w (spf: %w)", ErrLater, err)
	default:
		return Proof{}, fmt.Errorf("spf: %s", result)
	}
	domain, _ := domainOf(hop.sender)
	aligned, err := a.with(domain, bySPF)
	switch {
	case err != nil:
		return Proof{}, err
	case !aligned:
		return Proof{}, fmt.Errorf("spf: %q is not aligned with %q", domain, a.from)
	}
	return Proof{Method: "spf", Domain: domain}, nil
}

// hop is how the border took a mail in.
type hop struct {
	ip     net.IP
	helo   string
	sender string
}

// received reads the border's topmost Received field. Return-Path is believed only
// above it: what stands below came with the mail.
func (c Checker) received(header letter.Header) (hop, bool) {
	var h hop
	for _, f := range header {
		switch {
		case strings.EqualFold(f.Name, "Return-Path"):
			if h.sender == "" {
				h.sender = strings.ToLower(strings.Trim(f.Value, " \t<>"))
			}
		case strings.EqualFold(f.Name, "Received"):
			from, by := parseReceived(f.Value)
			if !strings.EqualFold(by, c.Border) {
				continue
			}
			h.helo, h.ip = from.helo, from.ip
			return h, h.ip != nil && strings.Contains(h.sender, "@")
		}
	}
	return hop{}, false
}

// parseReceived reads "from HELO (name [address]) by HOST …". Exactly one address
// in brackets in the comment behind HELO counts: HELO is the client's word, and
// so is all that some servers put beside the address.
func parseReceived(value string) (from hop, by string) {
	rest, found := cutWord(value, "from")
	if !found {
		return hop{}, ""
	}
	rest = strings.TrimLeft(rest, " \t")
	end := strings.IndexAny(rest, " \t(")
	if end < 0 {
		return hop{}, ""
	}
	from.helo, rest = rest[:end], strings.TrimLeft(rest[end:], " \t")
	if strings.HasPrefix(rest, "(") {
		comment, behind, closed := strings.Cut(rest[1:], ")")
		if !closed || strings.Contains(comment, "(") {
			return hop{}, ""
		}
		from.ip = onlyAddress(comment)
		rest = strings.TrimLeft(behind, " \t")
	}
	if rest, found = cutWord(rest, "by"); !found {
		return hop{}, ""
	}
	words := strings.Fields(rest)
	if len(words) == 0 {
		return hop{}, ""
	}
	return from, strings.TrimRight(words[0], ";")
}

func cutWord(s, word string) (string, bool) {
	s = strings.TrimLeft(s, " \t")
	if len(s) <= len(word) || !strings.EqualFold(s[:len(word)], word) || (s[len(word)] != ' ' && s[len(word)] != '\t') {
		return "", false
	}
	return s[len(word):], true
}

func onlyAddress(comment string) net.IP {
	if strings.Count(comment, "[") != 1 || strings.Count(comment, "]") != 1 {
		return nil
	}
	_, rest, _ := strings.Cut(comment, "[")
	literal, _, found := strings.Cut(rest, "]")
	if !found {
		return nil
	}
	if len(literal) > 5 && strings.EqualFold(literal[:5], "IPv6:") {
		literal = literal[5:]
	}
	return net.ParseIP(literal)
}
