package auth

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/emersion/go-msgauth/dmarc"
	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"
)

// method of authentication, as far as alignment differs between them.
type method int

const (
	byDKIM method = iota
	bySPF
)

// alignment compares domains with the one in From (RFC 7489 §3.1): the same, or of
// the same organisation, unless the domain's own policy wants the same.
type alignment struct {
	ctx      context.Context
	resolver Resolver
	from     string

	asked  bool
	policy *dmarc.Record
	err    error
}

func (a *alignment) with(domain string, by method) (bool, error) {
	domain = ascii(strings.TrimSuffix(domain, "."))
	switch {
	case domain == "":
		return false, nil
	case domain == a.from:
		return true, nil
	case organisation(domain) == "" || organisation(domain) != organisation(a.from):
		return false, nil
	}
	policy, err := a.record()
	if err != nil {
		return false, err
	}
	if policy == nil {
		return true, nil
	}
	mode := policy.DKIMAlignment
	if by == bySPF {
		mode = policy.SPFAlignment
	}
	return mode != dmarc.AlignmentStrict, nil
}

// record is the DMARC policy that applies to From (RFC 7489 §6.6.3); nil for none.
// One that cannot be read is as strict as can be.
func (a *alignment) record() (*dmarc.Record, error) {
	if a.asked {
		return a.policy, a.err
	}
	a.asked = true
	for _, domain := range []string{a.from, organisation(a.from)} {
		record, err := dmarc.LookupWithOptions(domain, &dmarc.LookupOptions{
			LookupTXT: func(name string) ([]string, error) { return a.resolver.LookupTXT(a.ctx, name) },
		})
		switch {
		case err == nil:
			a.policy = record
			return record, nil
		case errors.Is(err, dmarc.ErrNoPolicy):
			continue
		case dmarc.IsTempFail(err) || a.ctx.Err() != nil:
			a.err = fmt.Errorf("%w (%w)", ErrLater, err)
			return nil, a.err
		default:
			a.policy = &dmarc.Record{DKIMAlignment: dmarc.AlignmentStrict, SPFAlignment: dmarc.AlignmentStrict}
			return a.policy, nil
		}
	}
	return nil, nil
}

// ascii is a domain as DNS has it: From may name it in letters of any script.
func ascii(domain string) string {
	if encoded, err := idna.Lookup.ToASCII(domain); err == nil {
		return strings.ToLower(encoded)
	}
	return strings.ToLower(domain)
}

// organisation is the domain that somebody registered, "" for a public suffix.
func organisation(domain string) string {
	registered, err := publicsuffix.EffectiveTLDPlusOne(domain)
	if err != nil {
		return ""
	}
	return registered
}
