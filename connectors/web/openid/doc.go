// Package openid asks an OpenID provider who somebody is (OpenID Connect Core
// 1.0): authorization code flow with PKCE (RFC 7636), state and nonce, and an ID
// token that is verified.
//
// Provider.Begin says where to send the browser, and Provider.Finish reads what
// it comes back with. Between the two, the caller keeps the Attempt where only
// that browser can bring it back. The provider is looked for when it is first
// needed, so that a program starts while it is away.
package openid
