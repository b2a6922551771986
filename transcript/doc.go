// Package transcript remembers what was said in a conversation, on a disk that
// all engines share: workflows hold nothing large (DESIGN, "The three workflows").
//
// A conversation is a folder of exchanges, one object each; "!new" points the
// conversation to a fresh folder and leaves the old one for the record.
package transcript
