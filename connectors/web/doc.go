// Package web is the page at "/" and its connector (CONTRACT §8): a
// conversation per sign-in, its questions with buttons, and, for an owner, all
// pending questions.
//
// Sender writes what goes out into a feed (Store); Page shows the feed and
// takes what the person says and decides. They may run in different processes
// that share a bucket. The page works without JavaScript; with it, it follows
// live. A decision is always a POST with the session's CSRF token. People sign in
// with a token or, by package openid, with their account at an OpenID provider.
//
// All that it says comes from the catalogs of package words, in the reader's language: theirs in
// the configuration, else what their conversation has chosen (`!language`), else what the browser
// asks for, else the installation's. Questions keep the language they were asked in. Scripts have
// no words of their own: they read them from the page.
package web
