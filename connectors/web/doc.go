// Package web is the page at "/" and its connector (CONTRACT §8): a
// conversation per sign-in, its questions with buttons, and, for an owner, all
// pending questions.
//
// Sender writes what goes out into a feed (Store); Page shows the feed and
// takes what the person says and decides. They may run in different processes
// that share a bucket. The page works without JavaScript; with it, it follows
// live. A decision is always a POST with the session's CSRF token. People sign in
// with a token or, by package openid, with their account at an OpenID provider.
package web
