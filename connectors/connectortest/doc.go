// Package connectortest is the exam that every connector sits: the same questions
// about what it tells of a platform's failures and about whom it listens to,
// asked against a platform double that misbehaves on command.
//
// A connector's test describes itself as a Subject and calls Run. Parts that a
// connector does not have are named in Subject.Lacks with the reason; a part that
// is neither there nor excused fails the exam, as does one that is both.
//
// Faults is an HTTP middleware for such doubles: it loses answers, cuts them,
// answers with a page of HTML, stalls, or refuses. Desk is the recording other
// side of a connector.
package connectortest
