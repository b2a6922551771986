package auth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/emersion/go-msgauth/dkim"

	"github.com/countersignhq/countersign/connectors/email/letter"
)

// Resolver is DNS; *net.Resolver is one.
type Resolver interface {
	LookupTXT(ctx context.Context, name string) ([]string, error)
	LookupMX(ctx context.Context, name string) ([]*net.MX, error)
	LookupIPAddr(ctx context.Context, host string) ([]net.IPAddr, error)
	LookupAddr(ctx context.Context, addr string) ([]string, error)
}

// maxSignatures of one mail are looked at; a forwarder or two add theirs.
const maxSignatures = 8

var (
	// ErrUnproven means that nothing proves the sender. It is final.
	ErrUnproven = errors.New("neither DKIM nor SPF proves the sender")
	// ErrLater means that DNS did not answer: try again.
	ErrLater = errors.New("the sender cannot be checked now")
)

// Checker checks senders. The zero value uses the system's resolver and trusts no border.
type Checker struct {
	Resolver Resolver
	// Border is the name of the host that takes mail in for us: its authserv-id in
	// Authentication-Results, and its name behind "by" in Received. It has to
	// remove fields of others that carry its own name (RFC 8601 §5).
	Border string
	// Timeout of all look-ups for one mail; optional, 20 s.
	Timeout time.Duration
}

// Proof is what proves a sender.
type Proof struct {
	// Method is "dkim", "spf" or "authentication-results".
	Method string
	// Domain that stands in for the mail.
	Domain string
	// Signed are the names of the fields that a signature covers, lower case; nil
	// where the proof says nothing about fields.
	Signed []string
}

// Covers tells whether a field could not have been changed on the way, as far as is known.
func (p Proof) Covers(field string) bool {
	if p.Signed == nil {
		return true
	}
	for _, name := range p.Signed {
		if strings.EqualFold(name, field) {
			return true
		}
	}
	return false
}

// Check tells what proves that a mail is from the address in its From field.
// message is the whole mail, header included; it is read as far as it is needed.
func (c Checker) Check(ctx context.Context, header letter.Header, message io.Reader, from string) (Proof, error) {
	timeout := c.Timeout
	if timeout <= 0 {
		timeout = 20 * time.Second
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	domain, found := domainOf(from)
	if !found || domain == "" {
		return Proof{}, fmt.Errorf("%w: %q is no address", ErrUnproven, from)
	}
	a := alignment{ctx: ctx, resolver: c.resolver(), from: ascii(domain)}
	var reasons []error
	for _, method := range []func() (Proof, error){
		func() (Proof, error) { return c.byBorder(&a, header) },
		func() (Proof, error) { return c.byDKIM(ctx, &a, header, message) },
		func() (Proof, error) { return c.bySPF(ctx, &a, header) },
	} {
		proof, err := method()
		if err == nil {
			return proof, nil
		}
		reasons = append(reasons, err)
	}
	all := errors.Join(reasons...)
	if errors.Is(all, ErrLater) {
		return Proof{}, oneLine(ErrLater, reasons)
	}
	return Proof{}, oneLine(ErrUnproven, reasons)
}

func (c Checker) resolver() Resolver {
	if c.Resolver == nil {
		return DNS("")
	}
	return c.Resolver
}

func oneLine(err error, reasons []error) error {
	var words []string
	for _, r := range reasons {
		if !slices.Contains(words, r.Error()) {
			words = append(words, r.Error())
		}
	}
	return fmt.Errorf("%w: %s", err, strings.Join(words, "; "))
}

// byDKIM: RFC 6376. The library refuses a signature over a part of the body (l=),
// one that does not cover From, SHA-1 and short keys.
func (c Checker) byDKIM(ctx context.Context, a *alignment, header letter.Header, message io.Reader) (Proof, error) {
	if !header.Has("DKIM-Signature") {
		return Proof{}, errors.New("no dkim signature")
	}
	found, err := dkim.VerifyWithOptions(message, &dkim.VerifyOptions{
		LookupTXT:        func(name string) ([]string, error) { return c.resolver().LookupTXT(ctx, name) },
		MaxVerifications: maxSignatures,
	})
	if err != nil && !errors.Is(err, dkim.ErrTooManySignatures) {
		return Proof{}, fmt.Errorf("dkim: %w", err)
	}
	var reasons []error
	for _, v := range found {
		if v.Err == nil {
			aligned, err := a.with(v.Domain, byDKIM)
			switch {
			case err != nil:
				reasons = append(reasons, err)
			case aligned:
				return Proof{Method: "dkim", Domain: v.Domain, Signed: append([]string{}, v.HeaderKeys...)}, nil
			default:
				reasons = append(reasons, fmt.Errorf("dkim: %q signs, but is not aligned with %q", v.Domain, a.from))
			}
			continue
		}
		if dkim.IsTempFail(v.Err) {
			reasons = append(reasons, fmt.Errorf("%w (%w)", ErrLater, v.Err))
			continue
		}
		reasons = append(reasons, v.Err)
	}
	return Proof{}, errors.Join(reasons...)
}

// domainOf is what stands behind an address's last @.
func domainOf(address string) (domain string, found bool) {
	i := strings.LastIndexByte(address, '@')
	return address[i+1:], i >= 0
}
