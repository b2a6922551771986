// Package chunk cuts texts that are too long for a platform: a reply into several
// messages (Split), a question in its middle (Shorten).
//
// Platforms count differently, so everything is a method of a Measure, which says what
// a character counts there. Nothing is ever cut within a character, and what is no UTF-8
// becomes U+FFFD first: platforms refuse it.
package chunk
