// Package tool says what a tool is: its operations, how dangerous each one is,
// when a person has to agree or do the step, and how one call of it looks.
//
// Start with Operation: everything that decides whether a person is asked is
// declared there. Registry checks declarations when the program starts, so that
// a prompt that names no parameter never reaches a person.
//
// The package is pure: it knows neither Temporal nor any chat platform.
package tool
