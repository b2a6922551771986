// Package auth tells whether a mail comes from whom its From field names: by a
// DKIM signature (RFC 6376) or SPF (RFC 7208) that passes and is aligned with From
// as DMARC has it (RFC 7489 §3.1), or by the word of a border host that the
// operator trusts (Authentication-Results, RFC 8601).
//
// Nothing that the sender wrote is believed: an Authentication-Results or Received
// field counts only if it names the trusted border, and only the topmost one.
// Without a border there is no SPF either, since nothing says which address the
// mail came from.
package auth
