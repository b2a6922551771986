package openid

import (
	"errors"
	"fmt"
	"net/url"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// Why a sign-in fails, for errors.Is. What is joined to them is for the operator's log: no code,
// token or secret is in it.
var (
	// ErrAway: the provider does not answer as one.
	ErrAway = errors.New("the OpenID provider cannot be asked")
	// ErrStale: the answer belongs to no attempt of this browser, or was used before.
	ErrStale = errors.New("this answer of the OpenID provider is not for this browser, or was used before")
	// ErrDeclined: the provider, or the person there, said no.
	ErrDeclined = errors.New("the OpenID provider did not sign in")
	// ErrUnproven: what the provider says cannot be believed.
	ErrUnproven = errors.New("what the OpenID provider said is not proven")
)

func away(doing string, err error) error { return fmt.Errorf("%w: %s: %w", ErrAway, doing, err) }

func unproven(format string, values ...any) error {
	return fmt.Errorf("%w: %s", ErrUnproven, fmt.Sprintf(format, values...))
}

// discoveryError leaves out what the server answered: it may be anything.
func discoveryError(err error) error {
	if mismatch, ok := errors.AsType[*oidc.IssuerMismatchError](err); ok {
		return fmt.Errorf("%w: oidc.issuer is %q, but the provider calls itself %q: write it as the provider does", ErrAway, mismatch.Provided, mismatch.Discovered)
	}
	if unreachable, ok := errors.AsType[*url.Error](err); ok {
		return away("read its metadata", unreachable)
	}
	return fmt.Errorf("%w: its metadata is not there (is oidc.issuer right?)", ErrAway)
}

// exchangeError classifies what the token endpoint said (RFC 6749 §5.2).
func exchangeError(err error) error {
	refused, ok := errors.AsType[*oauth2.RetrieveError](err)
	switch {
	case ok && refused.ErrorCode == "invalid_grant":
		return fmt.Errorf("%w: the code is not taken", ErrStale)
	case ok && refused.ErrorCode != "":
		return fmt.Errorf("%w: its token endpoint says %q (are oidc.client_id and oidc.client_secret right?)", ErrAway, refused.ErrorCode)
	case ok:
		return fmt.Errorf("%w: its token endpoint answers %s", ErrAway, refused.Response.Status)
	}
	if unreachable, ok := errors.AsType[*url.Error](err); ok {
		return away("exchange the code", unreachable)
	}
	return fmt.Errorf("%w: its token endpoint's answer cannot be read", ErrAway)
}
