// Package words holds what Countersign says to people, in the languages it says it in: one catalog
// each, embedded, read by go-i18n. A text before it has a language is a chat.Line; Say renders it.
//
// The language is the person's, else the conversation's, else the installation's, else English
// (Choice). The English catalog is the reference: every other one has the same entries with the
// same arguments, which the tests see to.
//
// Not translated, since programs and rules read them: codes, statuses and reasons of results, and
// the words that answer – yes, always, done, cancel (CONTRACT §3). Every catalog tells the person
// to write 'Yes'.
//
// It is a leaf: workflows never import it, for a catalog may change between two replays.
package words
