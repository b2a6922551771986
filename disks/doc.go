// Package disks holds the named blob disks: a name from the configuration, a
// URL behind it (file://, mem://, s3://), and one set of path rules for all.
//
// Open makes them. An agent's tool takes a disk with Guarded: only allowed
// disks, and nothing in their protected folders, by any spelling. The program
// itself (package attachments) takes the same disk with Unguarded.
//
// Clean is the whole path rule, pure: what it returns is the only form that
// the rest of the package works with. A file disk resolves links itself, so
// that nothing is reached through a link that leads out of the disk or into a
// protected folder.
//
// Nothing is ever half there: a file is written under a hidden name and renamed
// when it is complete, an object appears when its upload is complete.
package disks
