package openid

import (
	"context"
	"crypto/subtle"
	"fmt"
	"net/url"
	"slices"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// Account is who signed in at the provider.
type Account struct {
	// Subject is the provider's own id of the account, never used again for another.
	Subject string
	// Mail is the claim that people are known by; empty where the provider does not tell.
	Mail string
	// Verified tells that Mail is the account's own: where it is the email claim, that the
	// provider says email_verified; another claim is one that the operator trusts.
	Verified bool
}

// Finish reads what the browser brings back from the provider: the query of the redirect. The
// error is one of ErrAway, ErrStale, ErrDeclined and ErrUnproven.
func (p *Provider) Finish(ctx context.Context, attempt Attempt, answer url.Values) (Account, error) {
	if attempt.State == "" || subtle.ConstantTimeCompare([]byte(attempt.State), []byte(answer.Get("state"))) != 1 {
		return Account{}, fmt.Errorf("%w: the state is not the one that was sent", ErrStale)
	}
	if from := answer.Get("iss"); from != "" && from != p.Issuer { // RFC 9207
		return Account{}, unproven("the answer comes from another issuer")
	}
	if problem := answer.Get("error"); problem != "" {
		return Account{}, fmt.Errorf("%w: it says %.100q", ErrDeclined, problem)
	}
	ctx, cancel := context.WithTimeout(oidc.ClientContext(ctx, p.Client), patience)
	defer cancel()
	found, err := p.discover(ctx)
	if err != nil {
		return Account{}, err
	}
	token, err := p.config(found).Exchange(ctx, answer.Get("code"), oauth2.VerifierOption(attempt.Verifier))
	if err != nil {
		return Account{}, exchangeError(err)
	}
	proof, err := p.verify(ctx, found, token, attempt.Nonce)
	if err != nil {
		return Account{}, err
	}
	return p.account(ctx, found, token, proof)
}

// verify checks the ID token as OpenID Connect Core §3.1.3.7 wants it.
func (p *Provider) verify(ctx context.Context, found *oidc.Provider, token *oauth2.Token, nonce string) (*oidc.IDToken, error) {
	raw, _ := token.Extra("id_token").(string)
	if raw == "" {
		return nil, unproven("there is no ID token; is the client one for OpenID Connect?")
	}
	proof, err := found.Verifier(&oidc.Config{ClientID: p.ClientID, Now: p.Now}).Verify(ctx, raw)
	if err != nil {
		return nil, unproven("%v", err)
	}
	var more struct {
		AuthorizedParty string `json:"azp"`
	}
	if err := proof.Claims(&more); err != nil {
		return nil, unproven("the ID token's claims cannot be read")
	}
	switch {
	case subtle.ConstantTimeCompare([]byte(proof.Nonce), []byte(nonce)) != 1:
		return nil, unproven("the ID token has another nonce")
	case more.AuthorizedParty != "" && more.AuthorizedParty != p.ClientID, more.AuthorizedParty == "" && len(proof.Audience) > 1:
		return nil, unproven("the ID token was made for another client")
	case proof.Subject == "":
		return nil, unproven("the ID token has no subject")
	case proof.AccessTokenHash != "" && proof.VerifyAccessToken(token.AccessToken) != nil:
		return nil, unproven("the access token is not the one that the ID token speaks of")
	}
	return proof, nil
}

// account reads the claims: those of the ID token, and where the address is not among them, those
// of the UserInfo endpoint, which is where the specification has them (§5.4).
func (p *Provider) account(ctx context.Context, found *oidc.Provider, token *oauth2.Token, proof *oidc.IDToken) (Account, error) {
	account := Account{Subject: proof.Subject}
	if p.Claim == claimSubject {
		return account, nil
	}
	claims := map[string]any{}
	if err := proof.Claims(&claims); err != nil {
		return Account{}, unproven("the ID token's claims cannot be read")
	}
	if _, told := claims[p.Claim]; !told && found.UserInfoEndpoint() != "" {
		info, err := found.UserInfo(ctx, oauth2.StaticTokenSource(token))
		switch {
		case err != nil:
			return Account{}, fmt.Errorf("%w: its UserInfo endpoint does not answer", ErrAway)
		case info.Subject != proof.Subject: // §5.3.2
			return Account{}, unproven("the UserInfo endpoint speaks of somebody else")
		}
		claims = map[string]any{}
		if err := info.Claims(&claims); err != nil {
			return Account{}, unproven("the claims of the UserInfo endpoint cannot be read")
		}
	}
	account.Mail, _ = claims[p.Claim].(string)
	// Some providers write the flag as a text.
	account.Verified = account.Mail != "" && (p.Claim != claimEmail || slices.Contains([]any{true, "true"}, claims["email_verified"]))
	return account, nil
}
