// Package emailtest has what the tests of the e-mail connector need: Debian's
// Dovecot and OpenSMTPD as real servers with folders and ports of their own
// (Dovecot, OpenSMTPD), an SMTP server that misbehaves on command (Sink), a
// connection that falls silent (Mute), names in a DNS of its own (Zone), also over a wire, and mail
// signed by a domain's own key (Domain).
package emailtest
