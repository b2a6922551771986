// Package oidctest runs an OpenID provider that we did not write: the example
// server of github.com/zitadel/oidc, whose library is certified by the OpenID
// Foundation. It has a sign-in form of its own, and can be told to be away, or to
// have its answers changed on the way.
package oidctest
