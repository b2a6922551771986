// Package letter reads a mail (RFC 5322, MIME): what its sender wrote, as one text
// that the rule of CONTRACT §3 can be applied to, and every file in it.
//
// Open reads the header, Read the rest. A mail is read as a stream: files go to a
// Sink as they come, and no more than a bounded text is ever held in memory.
//
// The package is lenient where programs write what no standard allows (names,
// boundaries, encodings, character sets), for no file and no mail may be lost to
// that, and strict where a text could be taken for an answer: what cannot be
// decoded, or says different things in its two versions, never reads as a yes.
//
//	header.go     fields; the mailboxes in them
//	params.go     Content-Type and Content-Disposition (RFC 2045, 2183, 2231)
//	words.go      encoded words (RFC 2047)
//	charset.go    character sets, by the tables of WHATWG and IANA
//	transfer.go   quoted-printable and base64, as streams
//	flowed.go     format=flowed (RFC 3676)
//	html.go       HTML to text, without what a reader does not see
//	parts.go      the parts of a multipart body, as streams
//	read.go       which part is text, which a file
//	text.go       the two versions of a text, and whether they agree
//	name.go       what a file is called
//	report.go     reports on what became of a mail (RFC 3464)
package letter
